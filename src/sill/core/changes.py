"""What happened to files the model knows: gone, moved, or too large to show whole."""

import re
from collections.abc import Collection, Iterator, Sequence

from . import envelopes
from .documents import Document
from .ledger import Ledger
from .messages import Message
from .outline import outline

# Lines that tell what a piece of code holds: definitions at the left edge or one step in.
_DEFINITION = re.compile(
    r"^(?: {2,4}|\t)?(?:export |pub |public |private |static |async |abstract )*"
    r"(?:def|class|fn|func|function|interface|struct|enum|trait|impl|type|module|package|const)\b"
)
MOST_LINES = 60


def notices(
    book: Ledger, documents: Sequence[Document], missing: Collection[str]
) -> Iterator[Message]:
    """Tell of every held file that is missing now; one whose text turned up elsewhere was renamed."""
    arrived = {d.stamp.fingerprint: d.path for d in documents if d.path not in book.held}
    for path, holding in book.held.items():
        if path in missing:
            new_path = arrived.pop(holding.stamp.fingerprint, None)
            yield envelopes.renamed(path, new_path) if new_path else envelopes.deleted(path)


def outline_of(document: Document) -> str | None:
    """Headings or definitions with their line numbers, to stand for a file that does not fit."""
    if document.language == "markdown":
        headings = outline(document.text).headings
        lines = [f"{h.lines[0]}: {'#' * h.level} {h.text}" for h in headings]
    else:
        numbered = enumerate(document.text.splitlines(), start=1)
        lines = [f"{n}: {line.rstrip()}" for n, line in numbered if _DEFINITION.match(line)]
    if not lines:
        return None
    left_out = len(lines) - MOST_LINES
    return "\n".join(lines[:MOST_LINES] + ([f"… {left_out} more"] if left_out > 0 else []))
