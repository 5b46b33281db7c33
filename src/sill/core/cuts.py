"""Where a text can be cut so that the tokens of its pieces add up to the tokens of the whole.

No pre-tokenizer of the proved vocabularies lets a token cross from a non-space into a following space:
a space opens a word, or a run of spaces whose last one does. A newline after a letter or a digit
is as safe. Other newlines are not: marks and newlines can share a token.
"""

import re

TARGET = 256
"""Characters of a block: an edit recounts one or two of them."""

_SAFE = re.compile(r"(?<=\S)(?= )|(?<=[A-Za-z0-9])(?=\n)")


def is_safe(text: str, at: int) -> bool:
    """Whether counts add up when ``text`` is cut before ``at``: at its ends, and where ``_SAFE`` matches."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after == " ":
        return not before.isspace()
    return after == "\n" and before.isascii() and before.isalnum()


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
