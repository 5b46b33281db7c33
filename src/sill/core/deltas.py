r"""The difference between two texts, exact for every text.

The form is a unified diff without file names. Lines end at ``\n`` and nowhere else, so ``\r``, form feeds
and Unicode separators are ordinary characters; a last line without its newline is followed by the usual
remark. ``apply`` checks every line it passes and gives None rather than a guess.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

CONTEXT = 1
# Past so many differing lines a delta never beats the file; the search for a short one would only take time.
EDITS_AT_MOST = 300

_NO_NEWLINE = "\\ No newline at end of file"
_HEADER = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


@dataclass(frozen=True, slots=True)
class _Change:
    """``old[start:end]`` becomes ``new[new_start:new_end]``."""

    start: int
    end: int
    new_start: int
    new_end: int


def make(base: str, new: str) -> str:
    """A diff that ``apply`` turns into ``new``; empty when the texts are equal."""
    old_lines, new_lines = _lines(base), _lines(new)
    return "\n".join(
        line
        for group in _groups(_changes(old_lines, new_lines))
        for line in _hunk(group, old_lines, new_lines)
    )


def apply(base: str, diff: str) -> str | None:
    """The new text, or None if the diff was not made from ``base``."""
    old_lines = _lines(base)
    result: list[str] = []
    at = 0
    for header, body in _hunks(diff):
        found = _HEADER.fullmatch(header)
        if found is None:
            return None
        start, length, new_start, new_length = (int(number) for number in found.groups())
        start, new_start = start - (length > 0), new_start - (new_length > 0)
        before = [line for mark, line in body if mark in " -"]
        after = [line for mark, line in body if mark in " +"]
        unchanged = old_lines[at:start]
        if (
            start < at
            or old_lines[start : start + length] != before
            or (len(before), len(after)) != (length, new_length)
            or new_start != len(result) + len(unchanged)
        ):
            return None
        result += unchanged + after
        at = start + length
    return "".join(result + old_lines[at:])


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _hunk(group: Sequence[_Change], old: list[str], new: list[str]) -> Iterator[str]:
    first, last = group[0], group[-1]
    lead = min(CONTEXT, first.start)
    trail = min(CONTEXT, len(old) - last.end)
    start, end = first.start - lead, last.end + trail
    new_start, new_end = first.new_start - lead, last.new_end + trail
    yield f"@@ -{_span(start, end)} +{_span(new_start, new_end)} @@"
    at = start
    for change in group:
        yield from _marked(" ", old[at : change.start])
        yield from _marked("-", old[change.start : change.end])
        yield from _marked("+", new[change.new_start : change.new_end])
        at = change.end
    yield from _marked(" ", old[at:end])


def _span(start: int, end: int) -> str:
    """As unified diffs count: from 1, and an empty span stands after the line it names."""
    return f"{start + (end > start)},{end - start}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield mark + line[:-1]
        else:
            yield mark + line
            yield _NO_NEWLINE


def _hunks(diff: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    header, body = "", list[tuple[str, str]]()
    for line in diff.split("\n") if diff else ():
        if line == _NO_NEWLINE and body:
            mark, last = body[-1]
            body[-1] = (mark, last[:-1])
        elif line[:1] in (" ", "-", "+") and line:
            body.append((line[0], line[1:] + "\n"))
        else:
            if header:
                yield header, body
            header, body = line, []
    if header or body:
        yield header, body


def _groups(changes: Sequence[_Change]) -> Iterator[list[_Change]]:
    """Changes whose surroundings touch share a hunk."""
    group = list(changes[:1])
    for left, right in pairwise(changes):
        if right.start - left.end > 2 * CONTEXT:
            yield group
            group = []
        group.append(right)
    if group:
        yield group


def _changes(old: list[str], new: list[str]) -> list[_Change]:
    lead = 0
    shorter = min(len(old), len(new))
    while lead < shorter and old[lead] == new[lead]:
        lead += 1
    trail = 0
    while trail < shorter - lead and old[-1 - trail] == new[-1 - trail]:
        trail += 1
    middle_old = old[lead : len(old) - trail]
    middle_new = new[lead : len(new) - trail]
    if not middle_old and not middle_new:
        return []
    matches = _common(middle_old, middle_new)
    if matches is None:
        return [_Change(lead, len(old) - trail, lead, len(new) - trail)]
    ends = [(-1, -1), *matches, (len(middle_old), len(middle_new))]
    return [
        _Change(lead + x + 1, lead + next_x, lead + y + 1, lead + next_y)
        for (x, y), (next_x, next_y) in pairwise(ends)
        if (next_x, next_y) != (x + 1, y + 1)
    ]


def _common(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]] | None:
    """Positions of lines both keep, in order, by the shortest edit (Myers); None past ``EDITS_AT_MOST``."""
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), EDITS_AT_MOST) + 1):
        trail.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _walk_back(trail, len(old), len(new))
    return None


def _walk_back(trail: Sequence[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for edits in range(len(trail) - 1, -1, -1):
        furthest, diagonal = trail[edits], x - y
        down = diagonal == -edits or (
            diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
        )
        from_diagonal = diagonal + 1 if down else diagonal - 1
        from_x = furthest[from_diagonal] if edits else 0
        from_y = from_x - from_diagonal if edits else 0
        start_x = from_x if down or not edits else from_x + 1
        while x > start_x and y > 0 and x > 0:
            x, y = x - 1, y - 1
            kept.append((x, y))
        x, y = from_x, from_y
    return kept[::-1]
