"""Headings and blocks of a note, and the lines they cover.

Lines count from 1; a span is its first and its last line.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from .markdown import Regions, body_start, code_spans

Lines = tuple[int, int]

MOST_HEADINGS = 20_000  # of one note

_ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]++([^\n]*+)$", re.MULTILINE)
_ATX_CLOSED = re.compile(r"[ \t]#+[ \t]*$")
_SETEXT = re.compile(
    r"^(?![ \t]*+(?:\n|[#>|]|[-*+][ \t]|\d{1,9}+[.)][ \t]))([^\n]++)\n {0,3}(=++|-{2,}+)[ \t]*+$",
    re.MULTILINE,
)
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]++)[ \t\r]*+$", re.MULTILINE)
_LIST_ITEM = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}+[.)])[ \t]")
# What Obsidian ignores when it compares a link's heading with a note's.
_IGNORED = str.maketrans(dict.fromkeys('!"#$%&()*+,.:;<=>?@^`{|}~/[]\\\r\n', " "))


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    lines: Lines  # to the line before the next heading of its rank


@dataclass(frozen=True, slots=True)
class Outline:
    headings: tuple[Heading, ...] = ()
    blocks: dict[str, Lines] = field(default_factory=dict)

    def section(self, names: Sequence[str]) -> Lines | None:
        """The first heading of the last name that stands below the others, in their order."""
        wanted = [heading_key(name) for name in names]
        above: list[tuple[int, str]] = []
        for heading in self.headings:
            own = heading_key(heading.text)
            above = [*(up for up in above if up[0] < heading.level), (heading.level, own)]
            if own == wanted[-1] and _in_order(wanted, [name for _, name in above]):
                return heading.lines
        return None

    def block(self, id: str) -> Lines | None:
        return self.blocks.get(id.lower())


def heading_key(text: str) -> str:
    """Headings that a link cannot tell apart have the same key."""
    plain = unicodedata.normalize("NFC", text).translate(_IGNORED)
    return " ".join(plain.split()).lower()


def outline(text: str) -> Outline:
    body = body_start(text)
    has_ids = "^" in text
    found = [
        (m.start(), len(m[1]), _ATX_CLOSED.sub("", " " + m[2]).strip())
        for m in islice(_ATX.finditer(text, body), MOST_HEADINGS)
    ]
    if "\n==" in text or "\n--" in text or "\n =" in text:
        found += [
            (m.start(), 1 if m[2][0] == "=" else 2, m[1].strip())
            for m in islice(_SETEXT.finditer(text, body), MOST_HEADINGS)
        ]
        found.sort()
    if not found and not has_ids:
        return Outline()
    code = Regions(code_spans(text, body))
    last_line = text.count("\n") + (0 if text.endswith("\n") else 1)
    starts = _LineNumbers(text)
    headings = [
        (level, title, starts.line(position))
        for position, level, title in found
        if position not in code
    ]
    return Outline(
        tuple(_with_ends(headings, max(last_line, 1))),
        _blocks(text, code, body) if has_ids else {},
    )


def _with_ends(headings: Sequence[tuple[int, str, int]], last_line: int) -> list[Heading]:
    done: list[Heading] = []
    ends: dict[int, int] = {}  # by level, the line where the next heading of that level stands
    for level, title, line in reversed(headings):
        end = min((at for rank, at in ends.items() if rank <= level), default=last_line + 1) - 1
        ends = {rank: at for rank, at in ends.items() if rank < level} | {level: line}
        done.append(Heading(level, title, (line, end)))
    return done[::-1]


def _in_order(wanted: Sequence[str], above: Sequence[str]) -> bool:
    names = iter(above)
    return all(name in names for name in wanted)


def _blocks(text: str, code: Regions, body: int) -> dict[str, Lines]:
    blocks: dict[str, Lines] = {}
    rows: _Rows | None = None
    starts = _LineNumbers(text)
    for match in _BLOCK_ID.finditer(text, body):
        if match.start(1) in code or (id := match[1].lower()) in blocks:
            continue
        if rows is None:
            rows = _rows(text.split("\n"))
        blocks[id] = _block_lines(rows, starts.line(match.start(1)))
    return blocks


@dataclass(frozen=True, slots=True)
class _Rows:
    """The lines of a note, and for each where its paragraph and its list item begin; all from 0."""

    lines: Sequence[str]
    paragraphs: Sequence[int]
    items: Sequence[int]


def _rows(lines: Sequence[str]) -> _Rows:
    """In one pass, so that a note of nothing but ids costs no more than any other."""
    paragraphs: list[int] = []
    items: list[int] = []
    begins = True
    for number, line in enumerate(lines):
        paragraphs.append(number if begins else paragraphs[-1])
        items.append(number if begins or _LIST_ITEM.match(line) else items[-1])
        bare = line.strip()
        begins = not bare or bare.startswith("#")
    return _Rows(lines, paragraphs, items)


def _block_lines(rows: _Rows, number: int) -> Lines:
    """The block that an id on this line names: the paragraph or item it ends, or the block before it."""
    lines, last = rows.lines, number
    if not lines[number - 1].strip().startswith("^"):
        return rows.items[last - 1] + 1, last
    last -= 1
    while last > 1 and not lines[last - 1].strip():
        last -= 1
    if last < 1 or not lines[last - 1].strip():
        return number, number
    return rows.paragraphs[last - 1] + 1, last


class _LineNumbers:
    """Line numbers of rising positions, in one pass over the text."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def line(self, position: int) -> int:
        self._line += self._text.count("\n", self._at, position)
        self._at = position
        return self._line
