"""Where a text can be cut so that the tokens of its pieces add up to the tokens of the whole.

No pre-tokenizer of the proved vocabularies lets a token cross from a non-space into a following space:
a space opens a word, or a run of spaces whose last one does. A newline after a letter or a digit
is as safe. Other newlines are not: marks and newlines can share a token.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

TARGET = 512
"""Characters of a block: an edit recounts one or two of them."""

_SAFE = re.compile(r"(?<=\S)(?= )|(?<=[A-Za-z0-9])(?=\n)")


def is_safe(text: str, at: int) -> bool:
    """Whether counts add up when ``text`` is cut before ``at``. Its two ends always are."""
    return at <= 0 or at >= len(text) or _SAFE.match(text, at) is not None


def blocks(text: str, target: int = TARGET) -> list[str]:
    """The text in pieces of about ``target`` characters, cut only where counts add up.

    A stretch without a safe cut stays whole, however long it is. Joined, the pieces are the text.
    """
    pieces: list[str] = []
    start = 0
    while len(text) - start > target + target // 2:  # no crumbs at the end
        cut = _SAFE.search(text, start + target)
        if cut is None:
            break
        pieces.append(text[start : cut.start()])
        start = cut.start()
    if start < len(text):
        pieces.append(text[start:])
    return pieces


@dataclass(frozen=True, slots=True)
class Shared:
    """What an edited text has in common with an earlier one: ``before`` first and ``after`` last pieces.

    ``middle`` is the stretch of the new text that must be counted afresh.
    """

    before: int
    after: int
    middle: str


def shared(old: str, lengths: Sequence[int], text: str) -> Shared:
    """How much of ``text`` is known when the pieces of ``old`` (safely cut, of these lengths) are."""
    ends = list(accumulate(lengths))
    same_start = _common_start(old, text)
    same_end = _common_end(old, text, min(len(old), len(text)) - same_start)
    before = bisect_right(ends, same_start)
    start = ends[before - 1] if before else 0
    first_after = _first_from(ends, len(old) - same_end)
    after = len(ends) - first_after
    end = len(text) - len(old) + (ends[first_after - 1] if first_after else 0)
    # A cut was safe for the characters that stood around it; the edit may have changed one of them.
    while before and not is_safe(text, start):
        before -= 1
        start -= lengths[before]
    while after and not is_safe(text, end):
        end += lengths[len(lengths) - after]
        after -= 1
    return Shared(before, after, text[start:end])


def _first_from(ends: Sequence[int], at: int) -> int:
    """The number of the first piece that begins at ``at`` or later; each but the first begins where one ends."""
    return bisect_left(ends, at, 0, len(ends) - 1) + 1 if ends and at > 0 else 0


# Slices of equal texts are equally wide in memory, so comparing two of them is one memory comparison, where
# `startswith` would go letter by letter through a wide text.
_STRIDE = 8_192


def _common_start(one: str, other: str) -> int:
    """How many characters both texts begin with."""
    limit, at, step = min(len(one), len(other)), 0, _STRIDE
    while step and at < limit:
        end = min(at + step, limit)
        if one[at:end] == other[at:end]:
            at = end
        else:
            step //= 2
    return at


def _common_end(one: str, other: str, limit: int) -> int:
    """How many characters both texts end with, up to ``limit``."""
    at, step = 0, _STRIDE
    while step and at < limit:
        end = min(at + step, limit)
        if one[len(one) - end : len(one) - at] == other[len(other) - end : len(other) - at]:
            at = end
        else:
            step //= 2
    return at
