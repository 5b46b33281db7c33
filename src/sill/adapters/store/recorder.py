"""The flight recorder: a request's exact bytes as a list of texts that are stored anyway.

A body is cut where its JSON strings begin and end. A long string becomes a reference to its text;
what is left between them stays as it is. Requests mostly grow, so the pieces of the last request are
kept as far as the new one begins with the same bytes, and only the rest is cut.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Literal, NamedTuple, assert_never

from .codec import as_bytes, as_text
from .splice import common, number, read_number

if TYPE_CHECKING:
    from hashlib import _Hash

# Shorter texts cost less inside the recipe than as a row of their own.
LONG = 48

_STRING = re.compile(rb'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_ESCAPED = re.compile(rb"\\.", re.DOTALL)

# A "string" is shown as a JSON string, a "text" as a part of one, "bytes" as they are; these are looked
# up by content. "inline" stands in the recipe itself.
Form = Literal["inline", "text", "bytes", "string"]
_FORMS: tuple[Form, ...] = ("inline", "text", "bytes", "string")
_CODES = {form: code for code, form in enumerate(_FORMS)}


class Piece(NamedTuple):
    form: Form
    content: bytes

    def rendered(self, known: Mapping[bytes, bytes] | None = None) -> bytes:
        """``known`` are contents whose escaped form is at hand."""
        match self.form:
            case "inline" | "bytes":
                return self.content
            case "text":
                return (known and known.get(self.content)) or escape(as_text(self.content))
            case "string":
                return b'"' + Piece("text", self.content).rendered(known) + b'"'
            case never:
                assert_never(never)


@dataclass(frozen=True, slots=True)
class Hashed:
    """SHA-256 of a body that has come as far as ``at``, to go on from; and of the whole body."""

    at: int
    part: "_Hash"
    whole: bytes


def _hashed(body: bytes, at: int, last: Hashed | None = None) -> Hashed:
    """``last``: of a body that begins with the same bytes, as far as it has come."""
    part, start = (hashlib.sha256(), 0) if last is None else (last.part.copy(), last.at)
    part.update(body[start:at])
    whole = part.copy()
    whole.update(body[at:])
    return Hashed(at, part, whole.digest())


@dataclass(frozen=True, slots=True)
class Recording:
    """A request and how it was cut.

    ``ends`` says where each piece ends in the body, and whether that place is outside any string.
    The first ``kept`` pieces are those of the recording before it.
    """

    pieces: tuple[Piece, ...]
    body: bytes
    ends: tuple[tuple[int, bool], ...]
    hashed: Hashed = field(compare=False, repr=False)
    kept: int = field(default=0, compare=False)

    @property
    def new(self) -> tuple[Piece, ...]:
        return self.pieces[self.kept :]

    @property
    def hash(self) -> bytes:
        return self.hashed.whole


NOTHING = Recording((), b"", (), _hashed(b"", 0))


def escape(text: str) -> bytes:
    """The text as it stands between the quotes of a JSON string."""
    return as_bytes(encode_basestring(text)[1:-1])


def record(body: bytes, texts: Sequence[str] = (), last: Recording | None = None) -> Recording:
    """The body cut at the given texts and at its own strings; always renders to the same bytes."""
    before = last or NOTHING
    kept = _shared(body, before)
    offset = before.ends[kept - 1][0] if kept else 0
    found = dict.fromkeys(as_bytes(text) for text in texts if len(text) >= LONG)
    found |= dict.fromkeys(p.content for p in before.pieces[kept:] if p.form in ("text", "string"))
    fragments = {escape(as_text(text)): text for text in found}
    rest = body[offset:]
    cut = tuple(_joined(_cut(rest, fragments)))
    shown = {text: fragment for fragment, text in fragments.items()}
    rendered = [piece.rendered(shown) for piece in cut]
    if b"".join(rendered) != rest:
        # Bytes that are not UTF-8, or escaped in a way of their own, are never recorded as something else.
        cut, rendered = (Piece("bytes", rest),), [rest]
    ends = before.ends[:kept] + _ends(cut, rendered, offset)
    # The next request begins with all of this one but its last piece.
    at = ends[-2][0] if len(ends) > 1 else 0
    known = before.hashed if before.hashed.at <= min(offset, at) else None
    return Recording(before.pieces[:kept] + cut, body, ends, _hashed(body, at, known), kept)


def _ends(
    pieces: Sequence[Piece], rendered: Sequence[bytes], offset: int = 0
) -> tuple[tuple[int, bool], ...]:
    """``offset`` is outside any string."""
    ends = []
    outside = True
    for piece, shown in zip(pieces, rendered, strict=True):
        offset += len(shown)
        if piece.form in ("inline", "bytes"):
            outside ^= _ESCAPED.sub(b"", piece.content).count(b'"') % 2 == 1
        ends.append((offset, outside))
    return tuple(ends)


def _shared(body: bytes, last: Recording) -> int:
    """How many pieces of the last recording this body begins with too, up to a place outside strings."""
    kept = bisect_right(last.ends, (common(body, last.body, last.hashed.at), True))
    while kept and not last.ends[kept - 1][1]:
        kept -= 1
    return kept


def _cut(body: bytes, fragments: dict[bytes, bytes]) -> Iterator[Piece]:
    """Where whole strings are known texts there is nothing to look for in them."""
    done = 0
    quoted = {b'"' + fragment + b'"': text for fragment, text in fragments.items()}
    for start, string in _occurrences(body, quoted):
        if start >= done:
            yield from _cut_at_strings(body[done:start], fragments)
            yield Piece("string", quoted[string])
            done = start + len(string)
    yield from _cut_at_strings(body[done:], fragments)


def _cut_at_strings(body: bytes, fragments: dict[bytes, bytes]) -> Iterator[Piece]:
    done = 0
    if len(body) < LONG + 2:
        yield Piece("inline", body)
        return
    for found in _STRING.finditer(body):
        start, end = found.span(1)
        if end - start < LONG:
            continue
        parts = list(_parts(body[start:end], fragments))
        if [part.form for part in parts] == ["text"]:
            yield Piece("inline", body[done : start - 1])
            yield Piece("string", parts[0].content)
            done = end + 1
        elif any(part.form == "text" for part in parts):
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


# What stands between texts is mostly what stood between the last ones. An inline piece without any bytes
# does not exist: where its length would be 0, the number that follows says how many inline pieces back it was.
_AGAIN = number(0)
_FAR = 8


def recipe_parts(
    pieces: Sequence[Piece], key_of: Callable[[bytes], int], before: Sequence[Piece] = ()
) -> list[bytes]:
    """Each piece as it stands in a recipe behind the pieces ``before``."""
    seen = [content for form, content in before[-2 * _FAR :] if form == "inline"]
    parts = []
    for form, content in pieces:
        if form == "inline":
            parts.append(_inline(content, seen[: -_FAR - 1 : -1]))
            seen.append(content)
        else:
            parts.append(number(key_of(content) << 2 | _CODES[form]))
    return parts


def _inline(content: bytes, seen: Sequence[bytes]) -> bytes:
    """``seen`` are the inline pieces before it, the last one first."""
    if content in seen:
        return _AGAIN + number(seen.index(content) + 1)
    return number(len(content) << 2) + content


def read_recipe(recipe: bytes) -> "tuple[list[tuple[Form, int | bytes]], tuple[int, ...]]":
    """Each piece with the key of its content, or with its own bytes if it stands inline; and where each ends."""
    pieces: list[tuple[Form, int | bytes]] = []
    ends: list[int] = []
    seen: list[bytes] = []
    at = 0
    while at < len(recipe):
        value, at = read_number(recipe, at)
        form, value = _FORMS[value & 3], value >> 2
        if form == "inline":
            if value:
                seen.append(recipe[at : at + value])
                at += value
            else:
                back, at = read_number(recipe, at)
                seen.append(seen[-back])
            pieces.append((form, seen[-1]))
        else:
            pieces.append((form, value))
        ends.append(at)
    return pieces, tuple(ends)


def recalled(
    pieces: Iterable[tuple[Form, int | bytes]], contents: Mapping[int, bytes]
) -> Recording:
    """A recipe's request, its contents given by key."""
    whole = tuple(
        Piece(form, contents[what] if isinstance(what, int) else what) for form, what in pieces
    )
    rendered = [piece.rendered() for piece in whole]
    body, ends = b"".join(rendered), _ends(whole, rendered)
    return Recording(whole, body, ends, _hashed(body, ends[-2][0] if len(ends) > 1 else 0))
