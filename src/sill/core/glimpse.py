"""A passage in a line or two, where it speaks of what was asked."""

import re
from collections.abc import Collection, Sequence

from .stems import COMMON, stem, words
from .summaries import plain_text, shortened

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t][^\n]*+$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t>]*+(?:`{3,}+|~{3,}+)[^\n]*+$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+(?=\S)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_LIST_MARK = re.compile(r"^[ \t>]*+(?:[-*+]|\d{1,9}+[.)])[ \t]++(?:\[.\][ \t]++)?")


def glimpse(passage: str, question: str, most: int) -> str:
    """At most so many characters, from the first sentence on that has most of the question's words.

    Headings are left out where there is anything else: they are shown beside it.
    """
    body = _FENCE.sub("", passage)
    sentences = _sentences(_HEADING.sub("", body)) or _sentences(body)
    if not sentences:
        return ""
    asked = stems(question)
    counts = [len(asked & stems(sentence)) for sentence in sentences]
    first = counts.index(max(counts))
    before = "… " if first else ""
    return before + shortened(" ".join(sentences[first:]), most - len(before))


def stems(text: str) -> set[str]:
    """The words of a text as a search compares them; all of them, if all are common."""
    found = words(text)
    return {stem(word) for word in found if word not in COMMON} or set(map(stem, found))


def parted(text: str, asked: Collection[str]) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it is one of the words that were asked for."""
    pieces: list[tuple[str, bool]] = []
    at = 0
    for match in _WORD.finditer(text):
        if stem(match[0].lower().replace("’", "'")) in asked:
            pieces += [(text[at : match.start()], False), (match[0], True)]
            at = match.end()
    pieces.append((text[at:], False))
    return [piece for piece in pieces if piece[0]]


def _sentences(text: str) -> Sequence[str]:
    lines = (_LIST_MARK.sub("", line) for line in text.split("\n"))
    parts = (plain_text(part) for line in lines for part in _SENTENCE_END.split(line))
    # A line without a word, such as the rule of a table, says nothing.
    return [part for part in parts if _WORD.search(part)]
