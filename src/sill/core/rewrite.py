"""A proposal as its reader would have it: some hunks taken as they are, some in the reader's own words."""

from collections.abc import Collection, Mapping

from .diff import Hunk
from .lines import whole_lines
from .ops import Op, Replace, Span, Whole
from .proposal import FilePreview, Preview, Proposal, accept

Rewritten = Mapping[tuple[str, int], str]  # new text by file and number of the hunk


def new_side(hunk: Hunk) -> str:
    """What the hunk's lines will be, with the unchanged ones around them: the text people rewrite."""
    return "".join(line.text + line.ending for line in hunk.lines if line.tag != "-")


def rewrite(
    shown: Preview, chosen: Mapping[str, Collection[int]], rewritten: Rewritten
) -> Proposal:
    """A new proposal of the chosen hunks, bound to the same files; ``rewritten`` ones have that text instead."""
    as_they_are = {
        path: [number for number in numbers if (path, number) not in rewritten]
        for path, numbers in chosen.items()
    }
    kept = accept(shown, as_they_are)
    ops: list[Op] = list(kept.ops)
    base = dict(kept.base)
    for file in shown.files:
        for hunk in file.hunks:
            text = rewritten.get((file.path, hunk.number))
            if text is not None and hunk.number in chosen.get(file.path, ()):
                ops.append(_op(file, hunk, text))
                base[file.path] = file.change.before
    return Proposal(shown.proposal.explanation, tuple(ops), base)


def _op(file: FilePreview, hunk: Hunk, text: str) -> Op:
    before = file.change.before
    if before is None:
        return Replace(file.path, Whole(), text)
    lines = whole_lines(before)
    # A hunk without old lines names the line before it.
    first = hunk.old_start - 1 if hunk.old_count else hunk.old_start
    start = sum(map(len, lines[:first]))
    end = start + sum(map(len, lines[first : first + hunk.old_count]))
    return Replace(file.path, Span(start, end), text)
