"""What an answer came from: what was named, what was shown, what was recalled, and what it quotes."""

import re
from collections.abc import Iterable, Iterator

from ..core.messages import fingerprint
from ..core.quotes import check_quotations
from ..core.references import Reference, carried, deduplicated, quote_lines
from ..core.summaries import shortened
from .prepare import Prepared, Question

UNKNOWN = "this quotation is in nothing that the model was shown"
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrtbf])|(.))", re.DOTALL)


def cited(
    question: Question, ready: Prepared, answer: str, tools: Iterable[Reference] = ()
) -> tuple[Reference, ...]:
    """Every source once, in the order link, file, tool, recall; then the answer's quotations.

    ``tools`` are what tools read or found for it. A quotation that is nowhere in what the model was shown
    has no path.
    """
    shown = [Reference("file", file.path, fingerprint=file.fingerprint) for file in ready.files]
    recalled = [one for one in carried(ready.messages) if one.origin == "recall"]
    tools = tuple(tools)
    quoted = _quoted(question, ready, answer, tools)
    return deduplicated([*question.references, *shown, *tools, *recalled, *quoted])


def remarks(question: Question) -> list[str]:
    """What people should know about the links they typed."""
    return [f"{one.link}: {one.note}" for one in question.references if one.found and one.note]


def doubts(references: Iterable[Reference]) -> list[str]:
    """What to say of quotations that are nowhere; three are enough to make anybody look."""
    unknown = [one.excerpt for one in references if one.origin == "quote" and not one.found]
    told = [f"“{shortened(' '.join(quote.split()), 80)}”: {UNKNOWN}" for quote in unknown[:3]]
    more = len(unknown) - len(told)
    return [*told, f"and {more} more quotations like that"] if more else told


def _quoted(
    question: Question, ready: Prepared, answer: str, tools: Iterable[Reference]
) -> Iterator[Reference]:
    states = {(file.path, file.fingerprint) for file in ready.files}
    shown = {
        document.path: document.text
        for document in question.documents
        if (document.path, fingerprint(document.text)) in states
    }
    talk = "\n\n".join(message.content or "" for message in ready.request.messages)
    said = "\n\n".join([talk, _read(talk), *(one.excerpt for one in tools)])
    # The talk last: a quotation that stands in a document is the document's.
    for quotation in check_quotations(answer, {**shown, "": said}):
        if quotation.path is None:
            yield Reference("quote", None, excerpt=quotation.text, note=UNKNOWN)
        elif quotation.path:
            yield quote_lines("quote", quotation.path, shown[quotation.path], quotation.lines)


def _read(wire: str) -> str:
    """The talk with the files in it as a reader sees them: they are sent as JSON strings."""
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else " " if m[2] else m[3], wire)
