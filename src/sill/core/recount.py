"""What of a large text must be counted again after an edit: a few words around it, as they were and as they are.

Cuts are safe (see ``cuts``), so tokens add up at them: the sum of the new text is that of the old one, less the tokens
that stood between two cuts around the edit, plus those that stand there now. The rest is compared, not counted.

This runs for every edit of a large file, where each microsecond counts: hence tuples where elsewhere there would be
dataclasses, and as little code as possible on the way of a single edit, as it is never warm when it is needed.
"""

from collections.abc import Sequence

from .cuts import safe_cut

STRETCH = 4_096
"""Characters that are compared at once where a text was edited in several places."""

FINE = 256
"""The same within a place that several edits have made large."""

PROBE = 32
"""Characters by which two texts are taken to agree at a place, until all of them are compared."""

NEAR = 8
"""Characters within which the place of an edit is found: the next cut is further away in most texts."""

BACK = 24
"""Characters before an edit in which a cut is looked for at first."""

Gap = tuple[int, int, int, int]
"""From where to where a part of the old text stood, and what stands in its place in the new one."""


def changed(old: str, new: str) -> list[str]:
    """The places where the texts differ, between cuts that are safe in both: each as it was, then as it is."""
    gap = None if len(old) == len(new) else _single(old, new)
    return _windows(old, new, _several(old, new, STRETCH) if gap is None else (gap,))


def _single(old: str, new: str) -> Gap | None:
    """The place of the only edit, or None if there are others, or it is not found.

    A guess by a few probes, as texts agree before an edit that made one longer and no more after it; then two
    comparisons say whether it is true.
    """
    high = shorter = min(len(old), len(new))
    start = 0
    while high - start > NEAR:
        middle = (start + high) // 2
        if old[middle : middle + PROBE] == new[middle : middle + PROBE]:
            start = middle
        else:
            high = middle
    if start:
        start = min(start + PROBE, shorter)
    same = max(0, shorter - high - PROBE)
    was_end, end = len(old) - same, len(new) - same
    if _stands(new, old[:start], 0) and _stands(new, old[was_end:], end):
        return start, was_end, start, end
    return None


def _stands(text: str, piece: str, at: int) -> bool:
    # Memory is compared in place where both are equally wide. A slice of a wide text is as narrow as it can be, like
    # the piece itself, where `startswith` would go letter by letter.
    if text.isascii() or not piece.isascii():
        return text.startswith(piece, at)
    return text[at : at + len(piece)] == piece


def _several(old: str, new: str, size: int) -> list[Gap]:
    """The places of all edits: what stands between stretches of the old text that are found in the new one."""
    gaps: list[Gap] = []
    shift = 0  # how far the stretch before has moved
    edit: tuple[int, int] | None = None  # where it begins, in both texts
    for was in range(0, len(old), size):
        stretch = old[was : was + size]
        at = _found(new, stretch, (was + shift, was + len(new) - len(old)), edit)
        if at != was + shift:
            edit = edit or (was, was + shift)
        if at is None:
            continue
        if edit is not None:
            gaps += _narrowed(old, new, (edit[0], was, edit[1], at), size)
            edit = None
        shift = at - was
    if edit is None and len(old) + shift < len(new):
        edit = len(old), len(old) + shift
    if edit is not None:
        gaps += _narrowed(old, new, (edit[0], len(old), edit[1], len(new)), size)
    return gaps


def _found(
    text: str, stretch: str, places: tuple[int, int], edit: tuple[int, int] | None
) -> int | None:
    """Where the stretch stands: after the one before it, as far from the end as it stood, or near where it stood."""
    at, from_end = places
    if _stands(text, stretch, at):
        return at
    least = at if edit is None else edit[1]
    if from_end >= least and _stands(text, stretch, from_end):
        return from_end
    if edit is not None:
        far = 4 * len(stretch)
        found = text.find(stretch[: 2 * PROBE], max(least, at - far), at + far)
        if found >= 0 and _stands(text, stretch, found):
            return found
    return None


def _narrowed(old: str, new: str, gap: Gap, size: int) -> list[Gap]:
    """The gap without what both texts begin and end with there, but for some characters; or the edits within it, if
    there is room for several.
    """
    was_start, was_end, start, end = gap
    one, other = old[was_start:was_end], new[start:end]
    shorter = high = min(len(one), len(other))
    head = 0
    while high - head > NEAR:
        middle = (head + high) // 2
        if one[head:middle] == other[head:middle]:
            head = middle
        else:
            high = middle
    tail, less = shorter - head, NEAR
    while tail and one[len(one) - tail :] != other[len(other) - tail :]:
        tail, less = max(0, shorter - head - less), 2 * less
    if size > FINE and 2 * FINE < shorter - head - tail <= 2 * STRETCH:
        inner = _several(one[head : len(one) - tail], other[head : len(other) - tail], FINE)
    else:
        inner = [(0, len(one) - head - tail, 0, len(other) - head - tail)]
    was_start, start = was_start + head, start + head
    return [(a + was_start, b + was_start, c + start, d + start) for a, b, c, d in inner]


def _windows(old: str, new: str, gaps: Sequence[Gap]) -> list[str]:
    """What stands between the cuts around each gap, in the old text and in the new one; gaps without a cut between them
    share theirs.
    """
    windows: list[str] = []
    number = least = 0
    while number < len(gaps):
        was_start, was_end, start, end = gaps[number]
        left = _cut_before(new, least, start)
        right = None
        while right is None:
            number += 1
            if number == len(gaps):
                right = safe_cut(new, end + 1, len(new)) or len(new)
            elif (right := safe_cut(new, end + 1, gaps[number][2])) is None:
                _, was_end, _, end = gaps[number]
        windows += old[left - start + was_start : right - end + was_end], new[left:right]
        least = right
    return windows


def _cut_before(text: str, least: int, end: int) -> int:
    """A safe cut by what stands before ``end``, not too far from it; ``least`` is one."""
    far = BACK
    while (first := end - far) > least:
        if (cut := safe_cut(text, first, end)) is not None:
            return cut
        far *= 8
    return least
