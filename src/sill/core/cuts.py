"""Where a text can be cut so that the tokens of its pieces add up to the tokens of the whole.

No pre-tokenizer of the proved vocabularies lets a token cross from a non-space into a following space:
a space opens a word, or a run of spaces whose last one does. A newline after a letter or a digit
is as safe. Other newlines are not: marks and newlines can share a token.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

TARGET = 1_024
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


def shared(pieces: Sequence[str], text: str) -> Shared:
    """How much of ``text`` is known when ``pieces`` (an earlier text, safely cut) are."""
    before, start = _beginning(pieces, text)
    after, end = _ending(pieces[before:], text, start)
    # A cut was safe for the characters that stood around it; the edit may have changed one of them.
    while before and not is_safe(text, start):
        before -= 1
        start -= len(pieces[before])
    while after and not is_safe(text, end):
        end += len(pieces[len(pieces) - after])
        after -= 1
    return Shared(before, after, text[start:end])


def _beginning(pieces: Sequence[str], text: str) -> tuple[int, int]:
    """How many pieces ``text`` begins with, and where they end."""
    count = start = 0
    for piece in pieces:
        if not text.startswith(piece, start):
            break
        start += len(piece)
        count += 1
    return count, start


def _ending(pieces: Sequence[str], text: str, start: int) -> tuple[int, int]:
    """How many pieces ``text`` ends with after ``start``, and where they begin."""
    count, end = 0, len(text)
    for piece in reversed(pieces):
        begin = end - len(piece)
        if begin < start or not text.startswith(piece, begin):
            break
        end = begin
        count += 1
    return count, end
