"""What differs between two states of a document, as hunks people can take or leave one by one."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from .lines import whole_lines

CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Region:
    """Lines ``old_start`` to ``old_end`` of one text became ``new_start`` to ``new_end`` of the other."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class DiffLine:
    tag: Literal[" ", "-", "+"]
    text: str
    ending: str  # empty on a last line without a newline

    def __str__(self) -> str:
        """As a line of a unified diff: a carriage return stays, the newline is the reader's."""
        shown = self.tag + self.text + self.ending.removesuffix("\n")
        return shown if self.ending else shown + "\n\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class Cut:
    """Characters ``start`` to ``end`` of the old text become ``new``."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changes that stand close together; line numbers count from 1 as in any diff."""

    number: int
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[DiffLine, ...]
    cuts: tuple[Cut, ...]

    @property
    def header(self) -> str:
        return f"@@ -{self.old_start},{self.old_count} +{self.new_start},{self.new_count} @@"

    @property
    def added(self) -> int:
        return sum(line.tag == "+" for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.tag == "-" for line in self.lines)


def regions(old: Sequence[str], new: Sequence[str]) -> list[Region]:
    """The changed stretches, in order, with at least one equal line between them."""
    shorter = min(len(old), len(new))
    front = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    back = next((n for n in range(shorter - front) if old[-1 - n] != new[-1 - n]), shorter - front)
    middle = SequenceMatcher(
        None, old[front : len(old) - back], new[front : len(new) - back], autojunk=True
    )
    return [
        Region(front + i1, front + i2, front + j1, front + j2)
        for tag, i1, i2, j1, j2 in middle.get_opcodes()
        if tag != "equal"
    ]


def hunks(before: str, after: str, context: int = CONTEXT) -> tuple[Hunk, ...]:
    """Everything that differs; applying the cuts of all hunks to ``before`` gives ``after``."""
    old_lines, new_lines = whole_lines(before), whole_lines(after)
    groups: list[list[Region]] = []
    for region in regions(old_lines, new_lines):
        if groups and region.old_start - groups[-1][-1].old_end <= 2 * context:
            groups[-1].append(region)
        else:
            groups.append([region])
    positions = _positions(old_lines)
    return tuple(
        _hunk(number, group, context, (old_lines, new_lines), positions)
        for number, group in enumerate(groups)
    )


def _positions(lines: Sequence[str]) -> list[int]:
    positions = [0]
    for line in lines:
        positions.append(positions[-1] + len(line))
    return positions


def _hunk(
    number: int,
    group: Sequence[Region],
    context: int,
    texts: tuple[Sequence[str], Sequence[str]],
    positions: Sequence[int],
) -> Hunk:
    old, new = texts
    first, last = group[0], group[-1]
    lead = min(context, first.old_start)
    tail = min(context, len(old) - last.old_end)
    shown: list[DiffLine] = []
    at = first.old_start - lead
    for region in group:
        shown += [_shown(" ", line) for line in old[at : region.old_start]]
        shown += [_shown("-", line) for line in old[region.old_start : region.old_end]]
        shown += [_shown("+", line) for line in new[region.new_start : region.new_end]]
        at = region.old_end
    shown += [_shown(" ", line) for line in old[at : at + tail]]

    old_count = last.old_end + tail - (first.old_start - lead)
    new_count = last.new_end + tail - (first.new_start - lead)
    return Hunk(
        number,
        # A side without lines names the line before it.
        first.old_start - lead + (1 if old_count else 0),
        old_count,
        first.new_start - lead + (1 if new_count else 0),
        new_count,
        tuple(shown),
        tuple(
            Cut(
                positions[region.old_start],
                positions[region.old_end],
                "".join(new[region.new_start : region.new_end]),
            )
            for region in group
        ),
    )


def _shown(tag: Literal[" ", "-", "+"], line: str) -> DiffLine:
    text = line.rstrip("\r\n")
    # Only the last ending of the line is its ending; a text never holds another one before it.
    return DiffLine(tag, text, line[len(text) :])


def unified(path: str, before: str | None, after: str | None, context: int = CONTEXT) -> str:
    """The change as a unified diff that ``patch`` and ``git apply`` read; empty if nothing differs."""
    found = hunks(before or "", after or "", context)
    if not found and (before is None) == (after is None):
        return ""
    head = [
        f"--- {'/dev/null' if before is None else 'a/' + path}",
        f"+++ {'/dev/null' if after is None else 'b/' + path}",
    ]
    body = [line for hunk in found for line in (hunk.header, *map(str, hunk.lines))]
    return "\n".join([*head, *body]) + "\n"
