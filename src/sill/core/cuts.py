"""Where a text can be cut so that the tokens of its pieces add up to the tokens of the whole.

No pre-tokenizer we know lets a token cross from a non-space into a following space: a space opens a
new word, or a run of spaces whose last one does. A newline after a letter or a digit is as safe.
Other newlines are not: marks and newlines can share a token.
"""

import re

_SAFE = re.compile(r"(?<=[^\s])(?= )|(?<=[A-Za-z0-9])(?=\n)")

TARGET = 4096


def blocks(text: str, target: int = TARGET) -> list[str]:
    """The text in pieces of about ``target`` characters, cut only where counts add up.

    A stretch without a safe cut stays whole, however long it is. Joined, the pieces are the text.
    """
    pieces: list[str] = []
    start = 0
    while len(text) - start > target:
        cut = _SAFE.search(text, start + target)
        if cut is None:
            break
        pieces.append(text[start : cut.start()])
        start = cut.start()
    if start < len(text):
        pieces.append(text[start:])
    return pieces
