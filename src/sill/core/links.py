"""Links of a note, as Obsidian means them.

``[[note]]``, ``[[note|display]]``, ``[[note#Heading#Deeper]]``, ``[[note#^block]]``, ``[[#Heading]]``,
``![[embed]]`` and Markdown links to files. What stands in code is no link.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import unquote

from .markdown import Regions, body_start, code_spans

MOST_LINKS = 120_000  # of one note; past that it is not a note
_MOST_LOOKED_AT = 2 * MOST_LINKS  # of what may be a link; most of what is not one stands in code
_MOST_DISPLAY = 1_000  # characters of a Markdown link's text that are looked at
_MOST_NESTING = 8

# The innermost opener wins, and a single bracket does not end the target.
_WIKI = re.compile(r"\[\[(?!\[)([^\[\]\n]*+(?:(?:\](?!\])|\[(?!\[))[^\[\]\n]*+)*+)\]\]")
_MARKDOWN_TARGET = re.compile(
    r"\]\([ \t]*+"
    r"(?:<([^<>\n]*+)>|((?:[^\s()\\<]|\\.|\([^\s()]*+\))++))"
    r"(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\)))?+[ \t]*+\)"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:|//")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINE_END = re.compile("\n")
_SIZE = re.compile(r"(\d{1,5})(?:x(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Link:
    """One link as it is written; ``target`` is empty for a place in the same note.

    ``line`` counts from 1; ``start`` and ``end`` are characters of the note, an embed's ``!`` included.
    """

    target: str
    line: int
    start: int
    end: int
    headings: tuple[str, ...] = ()
    block: str | None = None
    display: str | None = None
    embed: bool = False
    markdown: bool = False

    @property
    def size(self) -> tuple[int, int | None] | None:
        """Width and height of an embedded picture, written where the display text would stand."""
        found = _SIZE.fullmatch(self.display or "") if self.embed else None
        return (int(found[1]), int(found[2]) if found[2] else None) if found else None

    @property
    def written(self) -> str:
        """The link again, in one spelling."""
        place = "".join(f"#{heading}" for heading in self.headings)
        place += f"#^{self.block}" if self.block else ""
        shown = f"|{self.display}" if self.display is not None and not self.markdown else ""
        return f"{'!' if self.embed else ''}[[{self.target}{place}{shown}]]"


@dataclass(frozen=True, slots=True)
class Target:
    """What stands before the ``|``: a file and a place in it."""

    path: str
    headings: tuple[str, ...] = ()
    block: str | None = None


def parse_target(text: str) -> Target | None:
    """``note#Heading#^block`` taken apart; None where nothing is named."""
    path, *place = text.split("#")
    return _target(path, place)


def _whole_note(text: str) -> Target | None:
    """What nearly every link names."""
    path = text.strip()
    return Target(path) if path else None


def _target(path: str, place: list[str]) -> Target | None:
    path, parts = path.strip(), [part.strip() for part in place]
    block = None
    if parts and parts[-1].startswith("^"):
        block = parts.pop()[1:].strip() or None
    headings = tuple(part for part in parts if part)
    return Target(path, headings, block) if path or headings or block else None


def parse_links(text: str) -> tuple[Link, ...]:
    """Every link outside code, in order of appearance."""
    if "[[" not in text and "](" not in text:
        return ()
    body = body_start(text)
    code = Regions(code_spans(text, body))
    wiki = list(_wiki_links(text, body, code))
    if "](" not in text:
        return tuple(wiki)
    taken = Regions([(link.start, link.end) for link in wiki])
    found = sorted([*wiki, *_markdown_links(text, body, code, taken)], key=_position)
    return tuple(found[:MOST_LINKS])


def _position(link: Link) -> int:
    return link.start


def _wiki_links(text: str, body: int, code: Regions) -> Iterator[Link]:
    count, line, at = 0, 1, 0
    for match in islice(_WIKI.finditer(text), _MOST_LOOKED_AT):
        start, end = match.span()
        embed = start > 0 and text[start - 1] == "!"
        first = start - 1 if embed else start
        if start in code or end - 1 in code or _is_escaped(text, first):
            continue
        if start < body and not _is_quoted(text, first, end):
            continue
        inside, bar, display = match[1].partition("|")
        if bar and inside.endswith("\\"):  # a table's separator
            inside = inside[:-1]
        if inside.startswith(("##", "^^")):  # a search of the editor's
            continue
        target = parse_target(inside) if "#" in inside else _whole_note(inside)
        if target is None:
            continue
        line, at = line + text.count("\n", at, first), first
        yield Link(
            target.path, line, first, end, target.headings, target.block,
            display.strip() if bar else None, embed,
        )  # fmt: skip
        count += 1
        if count >= MOST_LINKS:
            return


def _markdown_links(text: str, body: int, code: Regions, taken: Regions) -> Iterator[Link]:
    count = 0
    ends = [end.start() for end in _LINE_END.finditer(text)]
    for match in islice(_MARKDOWN_TARGET.finditer(text, body), _MOST_LOOKED_AT):
        close, end = match.span()
        if close in code or end - 1 in code or close in taken or _is_escaped(text, close):
            continue
        written = match[1] if match[1] is not None else match[2]
        if _SCHEME.match(written):
            continue
        target = _decoded(written)
        opener = _opener(text, close, body)
        if target is None or opener is None or opener in code or _is_escaped(text, opener):
            continue
        embed = opener > body and text[opener - 1] == "!"
        yield Link(
            target.path, bisect_left(ends, opener) + 1, opener - 1 if embed else opener, end,
            target.headings, target.block,
            text[opener + 1 : close], embed, markdown=True,
        )  # fmt: skip
        count += 1
        if count >= MOST_LINKS:
            return


def _opener(text: str, close: int, floor: int) -> int | None:
    """The ``[`` that belongs to the ``]`` at ``close``, on the same line."""
    floor = max(floor, close - _MOST_DISPLAY)
    floor = max(floor, text.rfind("\n", floor, close) + 1)
    at, open_brackets = close, 1
    for _ in range(_MOST_NESTING):
        opener = text.rfind("[", floor, at)
        if opener < 0:
            return None
        open_brackets += text.count("]", opener, at) - 1
        if open_brackets == 0:
            return opener
        at = opener
    return None


def _decoded(written: str) -> Target | None:
    """Percent signs are decoded part by part, so that ``%23`` is a character and ``#`` a place."""
    if "%" not in written and "\\" not in written:
        return parse_target(written)
    path, *place = (
        unquote(part, errors="replace") for part in _ESCAPED.sub(r"\1", written).split("#")
    )
    return _target(path, place)


def _is_escaped(text: str, position: int) -> bool:
    backslashes = 0
    while position > backslashes and text[position - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1


def _is_quoted(text: str, start: int, end: int) -> bool:
    """A property's link is a quoted string; unquoted brackets are a YAML list."""
    return start > 0 and text[start - 1] in "\"'" and text[end : end + 1] == text[start - 1]
