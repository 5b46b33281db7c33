"""Where a text can be cut so that the tokens of its pieces add up to the tokens of the whole.

No pre-tokenizer of the proved vocabularies lets a token cross from a non-space into a following space:
a space opens a word, or a run of spaces whose last one does. A newline after a letter or a digit
is as safe. Other newlines are not: marks and newlines can share a token.
"""

import re

TARGET = 256
"""Characters of a block."""

_SAFE = re.compile(r"(?<=\S)(?= )|(?<=[A-Za-z0-9])(?=\n)")


def safe_cut(text: str, start: int, end: int) -> int | None:
    """The first cut at ``start`` or after it that is safe by what stands before ``end``."""
    found = _SAFE.search(text, start, end)
    return None if found is None else found.start()


def blocks(text: str, target: int = TARGET) -> list[str]:
    """The text in pieces of about ``target`` characters, cut only where counts add up.

    A stretch without a safe cut stays whole, however long it is. Joined, the pieces are the text.
    """
    pieces: list[str] = []
    start = 0
    while len(text) - start > target + target // 2:  # no crumbs at the end
        cut = safe_cut(text, start + target, len(text))
        if cut is None:
            break
        pieces.append(text[start:cut])
        start = cut
    if start < len(text):
        pieces.append(text[start:])
    return pieces
