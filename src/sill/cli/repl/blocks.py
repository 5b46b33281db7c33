"""Markdown that is still growing: which part of it can no longer change, and what to show of the rest."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_MOST_CHARACTERS = 8_000  # of a live block that are laid out again and again


@dataclass(frozen=True, slots=True)
class Fence:
    """An open fence: how it began, as the line that opens it again."""

    mark: str
    opener: str

    def is_closed_by(self, line: str) -> bool:
        found = _FENCE.match(line)
        return found is not None and found[1].startswith(self.mark) and not found[2].strip()


def split(text: str) -> tuple[list[str], str]:
    """The blocks of ``text`` that are finished, and the rest, which may still grow.

    ``text`` begins where a block does. A block ends at a blank line outside of a fence, once the next line
    is known to be at the margin: what is indented belongs to the item above it.
    """
    lines = text.splitlines(keepends=True)
    finished: list[str] = []
    begun, fence, blank = 0, None, False
    for number, line in enumerate(lines):
        if fence is None and blank and line.strip() and not line[0].isspace():
            finished.append("".join(lines[begun:number]).strip("\n"))
            begun = number
        fence = fence_after(fence, line)
        blank = fence is None and not line.strip() and number > begun
    return finished, "".join(lines[begun:])


def fence_after(fence: Fence | None, line: str) -> Fence | None:
    line = line.rstrip("\n")
    if fence is not None:
        return None if fence.is_closed_by(line) else fence
    found = _FENCE.match(line)
    if found is None or ("`" in found[1] and "`" in found[2]):
        return None
    return Fence(found[1], line.strip())


def tail(text: str, most_lines: int) -> str:
    """The end of a long block, as Markdown of its own: cut inside a fence, it begins with the fence."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= most_lines and len(text) <= _MOST_CHARACTERS:
        return text
    kept = lines[-most_lines:]
    while len(kept) > 1 and sum(map(len, kept)) > _MOST_CHARACTERS:
        kept = kept[1:]
    fence: Fence | None = None
    for line in lines[: len(lines) - len(kept)]:
        fence = fence_after(fence, line)
    shown = "".join(kept)
    shown = shown[-_MOST_CHARACTERS:]
    return shown if fence is None else f"{fence.opener}\n{shown}"
