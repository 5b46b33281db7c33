"""Where a Markdown note is not prose: its front matter and its code.

Every pattern here is possessive or bounded, so that no text makes it slow.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

Span = tuple[int, int]

_FRONT_MATTER = re.compile(r"---[ \t]*+\r?\n")
_FRONT_MATTER_END = re.compile(r"^(?:---|\.\.\.)[ \t]*+(?:\r?\n|\Z)", re.MULTILINE)
_LIST_MARK = r"(?:(?:[-*+]|\d{1,9}+[.)])[ \t]++)"
_FENCE_OPENS = re.compile(
    rf"^([ \t>]*+{_LIST_MARK}?+)(`{{3,}}+|~{{3,}}+)([^\n]*+)(?:\n|\Z)", re.MULTILINE
)
_FENCE_CLOSES = re.compile(r"^[ \t>]*+(`{3,}+|~{3,}+)[ \t\r]*+(?:\n|\Z)", re.MULTILINE)
_QUOTE_ENDS = re.compile(r"^(?![ \t]*+>)", re.MULTILINE)
_BLOCK_EDGE = re.compile(
    rf"\n(?=[ \t\r]*+(?:\n|#{{1,6}}[ \t]|{_LIST_MARK}|>|\|))"  # code spans do not cross these
)
_TICKS = re.compile(r"\\`|`++")
_INDENTED = re.compile(r"(?:\A|(?<=\n)[ \t]*+\n)((?:(?: {4}|\t)[^\n]*+(?:\n|\Z)|[ \t]++\n)+)")
_LIST_LINE = re.compile(rf"[ \t>]*+{_LIST_MARK}|[ \t]")

MOST_FENCES = 50_000  # of one note; past that it is not a note


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block: all of it, and the word after its opening marks."""

    start: int
    end: int
    language: str


def front_matter_span(text: str) -> Span | None:
    """The characters of a leading ``---`` block, both fences included."""
    opening = _FRONT_MATTER.match(text)
    if opening is None:
        return None
    closing = _FRONT_MATTER_END.search(text, opening.end())
    return (0, closing.end()) if closing else None


def body_start(text: str) -> int:
    span = front_matter_span(text)
    return span[1] if span else 0


def fences(text: str, start: int = 0) -> Iterator[Fence]:
    """Fenced code blocks from ``start`` on; one that is never closed runs to the end, and so does the last."""
    quote_end = -1
    found = 0
    while (opening := _FENCE_OPENS.search(text, start)) is not None:
        before, marks, info = opening.groups()
        if marks[0] == "`" and "`" in info:
            start = opening.end()
            continue
        end = len(text)
        if ">" in before:
            if quote_end < opening.end():
                outside = _QUOTE_ENDS.search(text, opening.end())
                quote_end = outside.start() if outside else len(text)
            end = quote_end
        for closing in _FENCE_CLOSES.finditer(text, opening.end(), end):
            if closing[1][0] == marks[0] and len(closing[1]) >= len(marks):
                end = closing.end()
                break
        found += 1
        if found == MOST_FENCES:
            end = len(text)
        yield Fence(opening.start(), end, (info.split() or [""])[0].lower())
        start = max(end, opening.end())


def code_spans(text: str, start: int = 0) -> list[Span]:
    """Everything Markdown shows as code, in order: fences, indented blocks, spans between backticks."""
    blocks = [(fence.start, fence.end) for fence in fences(text, start)] if _has_fence(text) else []
    if "\n    " in text or "\n\t" in text or text.startswith(("    ", "\t")):
        blocks = sorted([*blocks, *_indented_blocks(text, start, blocks)])
    if "`" not in text:
        return blocks
    spans: list[Span] = []
    at = start
    for block in [*blocks, (len(text), len(text))]:
        spans += _inline_code(text, at, block[0])
        spans.append(block)
        at = max(at, block[1])
    return [span for span in spans if span[0] < span[1]]


class Regions:
    """Sorted spans that can be asked whether a position lies in one of them."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, spans: list[Span]) -> None:
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def __contains__(self, position: int) -> bool:
        if not self._starts:  # most notes have no code
            return False
        at = bisect_right(self._starts, position) - 1
        return at >= 0 and position < self._ends[at]


def _has_fence(text: str) -> bool:
    return "```" in text or "~~~" in text


def _inline_code(text: str, start: int, end: int) -> Iterator[Span]:
    if text.find("`", start, end) < 0:
        return
    at = start
    for edge in _BLOCK_EDGE.finditer(text, start, end):
        yield from _paired_ticks(text, at, edge.start())
        at = edge.end()
    yield from _paired_ticks(text, at, end)


def _paired_ticks(text: str, start: int, end: int) -> Iterator[Span]:
    """A run of backticks opens a span that the next run of the same length closes."""
    if text.find("`", start, end) < 0:
        return
    runs: list[Span] = []
    for run in _TICKS.finditer(text, start, end):
        if not run[0].startswith("\\"):
            runs.append(run.span())
        elif runs:
            # Inside a span a backslash is only a backslash, so its backtick can close one.
            runs.append((run.start() + 1, run.end()))
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for number, (first, last) in enumerate(runs):
        by_length[last - first].append(number)
    number = 0
    while number < len(runs):
        first, last = runs[number]
        same = by_length[last - first]
        following = bisect_right(same, number)
        if following < len(same):
            closer = same[following]
            yield first, runs[closer][1]
            number = closer + 1
        else:
            number += 1


def _indented_blocks(text: str, start: int, blocks: list[Span]) -> Iterator[Span]:
    inside = Regions(blocks)
    last_end, last_was_code = -1, False
    for found in _INDENTED.finditer(text, start):
        first, end = found.span(1)
        if first in inside or not text[first:end].strip():
            continue
        line_start, line_end = _line_before(text, found.start(), start)
        previous = text[line_start:line_end]
        # Under a list item the same indentation is the item's own text.
        follows_another = line_end <= last_end
        is_code = last_was_code if follows_another else _LIST_LINE.match(previous) is None
        last_end, last_was_code = end, is_code
        if is_code:
            yield first, end


def _line_before(text: str, position: int, floor: int) -> Span:
    """The last line with something on it before ``position``."""
    end = position
    while end > floor:
        window = text[max(floor, end - 4096) : end]
        end -= len(window) - len(window.rstrip())
        if window.strip():
            break
    return max(floor, text.rfind("\n", floor, end) + 1), end
