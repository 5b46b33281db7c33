"""A text as lines that remember where they stand and how they end.

Only CR LF, LF and CR end a line: ``str.splitlines`` also breaks at form feeds and Unicode separators,
which editors show inside a line. A byte order mark at the start belongs to no line.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

BYTE_ORDER_MARK = "\ufeff"
_ENDING = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


@dataclass(frozen=True)
class Lines:
    """``starts[i]`` and ``ends[i]`` bound the content of line ``i`` in ``text``, its ending excluded."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @cached_property
    def contents(self) -> tuple[str, ...]:
        return tuple(self.text[a:b] for a, b in zip(self.starts, self.ends, strict=True))

    @property
    def body(self) -> int:
        """Where the text begins, after a byte order mark."""
        return 1 if self.text.startswith(BYTE_ORDER_MARK) else 0

    @cached_property
    def newline(self) -> str:
        """The ending most lines have; the first one seen wins a tie; LF where there is none."""
        endings = Counter(_ENDING.findall(self.text))
        return endings.most_common(1)[0][0] if endings else "\n"

    @property
    def ends_open(self) -> bool:
        """The last line has no ending (an empty text has no last line)."""
        return bool(self.ends) and self.ends[-1] == len(self.text)

    def __len__(self) -> int:
        return len(self.starts)

    def start(self, line: int) -> int:
        """Where line ``line`` begins; past the last one, the end of the text."""
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def is_start(self, position: int) -> bool:
        """Whether a line begins here, the line after the last ending included."""
        return (
            position == self.body
            or (position == len(self.text) and not self.ends_open)
            or self.starts[bisect_right(self.starts, position) - 1] == position
        )


def whole_lines(text: str) -> list[str]:
    """Each line with its ending; joined, they are the text. A byte order mark is part of the first."""
    return _LINE.findall(text)


def split_lines(text: str) -> Lines:
    body = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    lines: list[str] = _LINE.findall(text, body)
    bounds = tuple(accumulate(map(len, lines), initial=body))
    starts = bounds[:-1]
    ends = (start + len(line.rstrip("\r\n")) for start, line in zip(starts, lines, strict=True))
    return Lines(text, starts, tuple(ends))


def with_newlines(content: str, newline: str) -> str:
    """The content with every line ending written as ``newline``."""
    return _ENDING.sub(newline, content) if _ENDING.search(content) else content


def without_last_newline(content: str) -> str:
    """The content less one line ending at its end, if it has one."""
    return re.sub(r"(\r\n|\n|\r)\Z", "", content)


def ends_with_newline(content: str) -> bool:
    return content.endswith(("\n", "\r"))


Final = Literal["keep", "open", "closed"]


def line_splice(
    lines: Lines, first: int, last: int, new: Sequence[str], final: Final = "keep"
) -> tuple[int, int, str]:
    """Where and what to write so that ``new`` stands in place of lines ``first`` to ``last``.

    New lines end as most lines do, and a text whose last line was open (or closed) keeps it so
    unless ``final`` says otherwise.
    """
    end, newline = len(lines.text), lines.newline
    if last < len(lines):
        return lines.start(first), lines.start(last), "".join(line + newline for line in new)

    open_end = lines.ends_open if final == "keep" else final == "open"
    if new:
        body = newline.join(new) + ("" if open_end else newline)
        if first >= len(lines) and lines.ends_open:
            body = newline + body
        return lines.start(first), end, body
    if first >= len(lines):
        if final == "keep" or not len(lines):
            return end, end, ""
        return lines.ends[-1], end, "" if open_end else newline
    if first == 0:
        return lines.body, end, ""
    # The line before stays as it is, ending included, unless its ending is said to go.
    return (lines.ends[first - 1] if final == "open" else lines.start(first)), end, ""


def find_snippet(text: str, snippet: str, limit: int = 2) -> list[tuple[int, int]]:
    """The first ``limit`` places of ``snippet``, whichever way either of them ends its lines."""
    if "\r" not in text:
        wanted = with_newlines(snippet, "\n")
        starts = _occurrences(text, wanted, limit)
        return [(start, start + len(wanted)) for start in starts]
    wanted = with_newlines(snippet, "\n")
    plain, shifts = _flattened(text)
    return [
        (_original(start, shifts), _original(start + len(wanted), shifts))
        for start in _occurrences(plain, wanted, limit)
    ]


def _occurrences(text: str, wanted: str, limit: int) -> list[int]:
    found: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(found) < limit:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def _flattened(text: str) -> tuple[str, list[int]]:
    """The text with LF endings, and the flat positions just after an ending that lost a character."""
    pieces: list[str] = []
    shifts: list[int] = []
    at = length = 0
    for ending in _ENDING.finditer(text):
        piece = text[at : ending.start()] + "\n"
        pieces.append(piece)
        length += len(piece)
        at = ending.end()
        if ending.end() - ending.start() == 2:
            shifts.append(length)
    pieces.append(text[at:])
    return "".join(pieces), shifts


def _original(position: int, shifts: list[int]) -> int:
    return position + bisect_right(shifts, position)
