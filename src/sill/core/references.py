"""Where a message comes from: the documents that were named, given, read, found or recalled."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, assert_never

from .links import Link, parse_links
from .messages import FileDelta, FileState, Fingerprint, Message, Recall, fingerprint
from .outline import Outline
from .resolve import Files, Resolved, Unresolved, key, resolve

Origin = Literal["link", "file", "read", "search", "recall", "quote"]
_MOST_EXCERPT = 400  # characters that are kept to show

# When one passage came in twice, the origin that says more about the user's wish stays.
_WEIGHT: Mapping[Origin, int] = {
    "link": 0, "file": 1, "read": 2, "search": 3, "recall": 4, "quote": 5,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reference:
    """One source of a message.

    ``path`` is None for a link that leads nowhere, for recalled turns, and for a ``quote`` of the answer
    that is in none of its sources. ``fingerprint`` is of the document's text when it was quoted, ``excerpt``
    the beginning of the quoted lines, verbatim. ``link`` is what was typed, ``note`` what people should
    know about it.
    """

    origin: Origin
    path: str | None
    lines: tuple[int, int] | None = None
    fingerprint: Fingerprint | None = None
    excerpt: str = ""
    link: str = ""
    note: str = ""
    turn: str | None = None

    @property
    def found(self) -> bool:
        return self.path is not None or self.turn is not None


@dataclass(frozen=True, slots=True)
class Freshness:
    """``stale``: the document is not the one that was quoted. ``lines``: where the quoted text is now."""

    stale: bool
    lines: tuple[int, int] | None = None
    gone: bool = False


def quote_lines(
    origin: Origin, path: str, text: str, lines: tuple[int, int] | None = None
) -> Reference:
    """A reference to some lines of a document, or to all of it, in its present state."""
    rows = text.split("\n")
    first, last = lines or (1, max(1, len(rows) - (rows[-1] == "" and len(rows) > 1)))
    quoted = "\n".join(rows[first - 1 : last])
    return Reference(origin, path, (first, last), fingerprint(text), _excerpt(quoted))


def typed_links(
    message: str,
    files: Files,
    outlines: Mapping[str, Outline],
    aliases: Mapping[str, str],
) -> list[tuple[Link, Resolved | Unresolved]]:
    """The wikilinks of a question with what they mean; an alias resolves here."""
    return [
        (link, resolve(link, "", files, outlines, aliases))
        for link in parse_links(message)
        if link.target and not link.markdown
    ]


def link_reference(
    link: Link, meaning: Resolved | Unresolved, texts: Mapping[str, str]
) -> Reference:
    """The reference for a typed link; ``texts`` holds the documents that could be read."""
    match meaning:
        case Resolved(path=path, lines=lines, alias=alias):
            if path not in texts:
                return Reference("link", None, link=link.written, note="the file cannot be read")
            note = f"found by its alias “{alias}”" if alias else ""
            found = quote_lines("link", path, texts[path], lines)
            return replace(found, link=link.written, note=note)
        case Unresolved(reason=reason, path=path):
            if path is None or path not in texts:
                return Reference("link", None, link=link.written, note=reason)
            # The note is there, the place in it is not: the whole note is meant rather than nothing.
            found = quote_lines("link", path, texts[path])
            return replace(found, link=link.written, note=reason)
        case never:
            assert_never(never)


def deduplicated(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """Each passage once, in order of first appearance, with the origin that says most."""
    kept: dict[tuple[object, ...], Reference] = {}
    for reference in references:
        if reference.turn is not None:
            identity: tuple[object, ...] = ("turn", reference.turn)
        elif reference.path is None:
            identity = ("missing", key(reference.link), reference.excerpt)
        else:
            identity = (reference.path, reference.lines, reference.fingerprint)
        known = kept.get(identity)
        if known is None or _WEIGHT[reference.origin] < _WEIGHT[known.origin]:
            kept[identity] = reference
    # A file that was shown needs no line of its own where its lines are named.
    named = {(one.path, one.fingerprint) for one in kept.values() if one.lines and one.path}
    return tuple(
        one for one in kept.values() if one.lines or (one.path, one.fingerprint) not in named
    )


def carried(messages: Iterable[Message]) -> tuple[Reference, ...]:
    """The documents and turns that were put before the model with these messages."""
    found: list[Reference] = []
    for message in messages:
        match message.carries:
            case FileState(stamp=stamp) | FileDelta(stamp=stamp):
                found.append(Reference("file", stamp.path, fingerprint=stamp.fingerprint))
            case Recall(turns=turns, quotes=quotes):
                found += [
                    Reference("recall", None, excerpt=_excerpt(quoted), turn=turn)
                    for turn, quoted in zip_longest(turns, quotes[: len(turns)], fillvalue="")
                ]
            case _:
                continue
    return deduplicated(found)


def rows_of(references: Iterable[Reference]) -> list[dict[str, object]]:
    """As they are stored and printed: which document, why, in which state, and what else is known."""
    return [
        {
            "path": one.path,
            "origin": one.origin,
            "fingerprint": one.fingerprint,
            **({"lines": list(one.lines)} if one.lines else {}),
            **{name: value for name in _WORDS if (value := getattr(one, name))},
        }
        for one in references
    ]


_WORDS = ("excerpt", "link", "note", "turn")


def read_rows(stored: str) -> tuple[Reference, ...]:
    """A turn's stored references; older ones know less."""
    rows = json.loads(stored) if stored else []
    return tuple(
        Reference(
            row["origin"],
            row["path"],
            tuple(row["lines"]) if row.get("lines") else None,
            row.get("fingerprint"),
            **{name: row[name] for name in _WORDS if name in row},
        )
        for row in rows
        if isinstance(row, dict) and row.get("origin") in _WEIGHT
    )


def paths_in(stored: str) -> list[str]:
    """The documents in a turn's stored references."""
    rows = json.loads(stored) if stored else []
    return [row["path"] for row in rows if isinstance(row, dict) and row.get("path")]


def freshness(reference: Reference, text: str | None) -> Freshness:
    """How a reference stands to the document as it is now (None: it is no more)."""
    if reference.path is None:
        return Freshness(stale=False)
    if text is None:
        return Freshness(stale=True, gone=True)
    if reference.fingerprint == fingerprint(text):
        return Freshness(stale=False, lines=reference.lines)
    return Freshness(stale=True, lines=_where_now(reference, text))


def most_used(uses: Sequence[tuple[str, Reference]]) -> list[tuple[str, int, tuple[str, ...]]]:
    """Documents by how many references name them: path, references, the chats they are in."""
    counts: dict[str, int] = {}
    chats: dict[str, dict[str, None]] = {}
    for chat, reference in uses:
        if reference.path is not None:
            counts[reference.path] = counts.get(reference.path, 0) + 1
            chats.setdefault(reference.path, {})[chat] = None
    order = sorted(counts, key=lambda path: (-counts[path], path))
    return [(path, counts[path], tuple(chats[path])) for path in order]


def _where_now(reference: Reference, text: str) -> tuple[int, int] | None:
    excerpt = reference.excerpt.strip()
    at = text.find(excerpt) if excerpt else -1
    if at < 0 or reference.lines is None:
        return None
    first = text.count("\n", 0, at) + 1
    return first, first + reference.lines[1] - reference.lines[0]


def _excerpt(text: str) -> str:
    """The beginning, in whole words."""
    if len(text) <= _MOST_EXCERPT:
        return text
    cut = text.rfind(" ", 0, _MOST_EXCERPT)
    return text[: cut if cut > 0 else _MOST_EXCERPT]
