"""The flight recorder: a request's exact bytes as a list of texts that are stored anyway.

A body is cut where its JSON strings begin and end. A long string becomes a reference to its text;
what is left between them stays as it is. Requests mostly grow, so the pieces of the last request are
kept as far as the new one begins with the same bytes, and only the rest is cut.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .codec import as_bytes, as_text

# Shorter texts cost less inside the recipe than as a row of their own.
LONG = 48

_STRING = re.compile(rb'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_ESCAPED = re.compile(rb"\\.", re.DOTALL)

# "text" is shown escaped as inside a JSON string, "bytes" as it is; both are looked up by content.
# "inline" stands in the recipe itself.
Form = Literal["inline", "text", "bytes"]
_FORMS: tuple[Form, ...] = ("inline", "text", "bytes")


class Piece(NamedTuple):
    form: Form
    content: bytes

    def rendered(self) -> bytes:
        return escape(as_text(self.content)) if self.form == "text" else self.content


@dataclass(frozen=True, slots=True)
class Recording:
    """A request and how it was cut."""

    pieces: tuple[Piece, ...]
    body: bytes


def escape(text: str) -> bytes:
    """The text as it stands between the quotes of a JSON string."""
    return as_bytes(json.dumps(text, ensure_ascii=False)[1:-1])


def render(pieces: Iterable[Piece]) -> bytes:
    return b"".join(piece.rendered() for piece in pieces)


def record(body: bytes, texts: Sequence[str] = (), last: Recording | None = None) -> Recording:
    """The body cut at the given texts and at its own strings; always renders to the same bytes."""
    kept, offset = _shared(body, last)
    known = dict.fromkeys(as_bytes(text) for text in texts if len(text) >= LONG)
    if last is not None:
        known |= dict.fromkeys(
            piece.content for piece in last.pieces[len(kept) :] if piece.form == "text"
        )
    fragments = {escape(as_text(text)): text for text in known}
    cut = tuple(_joined(_cut(body[offset:], fragments)))
    pieces = (*kept, *cut)
    # A body that is not UTF-8 or escapes in its own way is never recorded as something else.
    return Recording(pieces if render(cut) == body[offset:] else _whole(body), body)


def _whole(body: bytes) -> tuple[Piece, ...]:
    return (Piece("bytes", body),)


def _shared(body: bytes, last: Recording | None) -> tuple[tuple[Piece, ...], int]:
    """The pieces of the last recording with which this body begins too, ending outside any string."""
    if last is None:
        return (), 0
    here, there = memoryview(body), memoryview(last.body)
    kept = offset = end = 0
    inside = False
    for number, piece in enumerate(last.pieces, 1):
        start, end = end, end + len(piece.rendered())
        if here[start:end] != there[start:end]:
            break
        if piece.form != "text":
            inside ^= _ESCAPED.sub(b"", piece.content).count(b'"') % 2 == 1
        if not inside:
            kept, offset = number, end
    return last.pieces[:kept], offset


def _cut(body: bytes, fragments: dict[bytes, bytes]) -> Iterator[Piece]:
    done = 0
    for found in _STRING.finditer(body):
        start, end = found.span(1)
        if end - start < LONG:
            continue
        parts = list(_parts(body[start:end], fragments))
        if any(part.form == "text" for part in parts):
            yield Piece("inline", body[done:start])
            yield from parts
            done = end
    yield Piece("inline", body[done:])


def _parts(string: bytes, fragments: dict[bytes, bytes]) -> Iterator[Piece]:
    """A string as the known texts in it and what stands between them."""
    if string in fragments:
        yield Piece("text", fragments[string])
        return
    done = 0
    for start, fragment in _occurrences(string, fragments):
        if start >= done:
            if start > done:
                yield _text(string[done:start])
            yield Piece("text", fragments[fragment])
            done = start + len(fragment)
    if done < len(string):
        yield _text(string[done:])


def _occurrences(string: bytes, fragments: Iterable[bytes]) -> list[tuple[int, bytes]]:
    """Where each fragment first stands, in order; of two that begin together the longer one."""
    found = [(string.find(fragment), fragment) for fragment in fragments]
    return sorted(
        (pair for pair in found if pair[0] >= 0), key=lambda pair: (pair[0], -len(pair[1]))
    )


def _text(string: bytes) -> Piece:
    """Part of a JSON string as a text, if that text is escaped exactly so."""
    if len(string) >= LONG:
        try:
            text: str = json.loads(b'"' + string + b'"')
            if escape(text) == string:
                return Piece("text", as_bytes(text))
        except ValueError:
            pass  # a fragment that starts or ends inside an escape, or bytes that are no text
    return Piece("inline", string)


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Neighbouring inline pieces as one; a long one is worth a row of its own."""
    inline = b""
    for form, content in pieces:
        if form == "inline":
            inline += content
            continue
        if inline:
            yield _placed(inline)
            inline = b""
        yield Piece(form, content)
    if inline:
        yield _placed(inline)


def _placed(inline: bytes) -> Piece:
    return Piece("bytes" if len(inline) >= 4 * LONG else "inline", inline)


# --- Recipes: pieces as bytes, contents named by their keys ---------------------------------------


def write_recipe(pieces: Sequence[Piece], key_of: Callable[[bytes], int]) -> bytes:
    recipe = bytearray()
    for form, content in pieces:
        number = len(content) if form == "inline" else key_of(content)
        _write_number(recipe, number << 2 | _FORMS.index(form))
        if form == "inline":
            recipe += content
    return bytes(recipe)


def read_recipe(recipe: bytes) -> list[tuple[Form, int | bytes]]:
    """Each piece with the key of its content, or with its own bytes if it stands inline."""
    pieces: list[tuple[Form, int | bytes]] = []
    at = 0
    while at < len(recipe):
        number, at = _read_number(recipe, at)
        form, number = _FORMS[number & 3], number >> 2
        if form == "inline":
            pieces.append((form, recipe[at : at + number]))
            at += number
        else:
            pieces.append((form, number))
    return pieces


def recalled(
    pieces: Iterable[tuple[Form, int | bytes]], contents: Mapping[int, bytes]
) -> Recording:
    """A recipe's request, its contents given by key."""
    whole = tuple(
        Piece(form, contents[what] if isinstance(what, int) else what) for form, what in pieces
    )
    return Recording(whole, render(whole))


def _write_number(recipe: bytearray, number: int) -> None:
    while number > 127:
        recipe.append(number & 127 | 128)
        number >>= 7
    recipe.append(number)


def _read_number(recipe: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = recipe[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at
