"""Quotations in an answer, checked against the documents it was given.

A quotation is text between double quotation marks, or a block quote. Short ones are left alone: two
words between marks are a manner of speaking.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from .markdown import Regions, code_spans

MOST_QUOTATIONS = 500  # of one answer; past that it is not quoting
_FEWEST_WORDS = 4
_MARKED = re.compile(
    r'"([^"\n]{1,2000}+)"|“([^“”]{1,2000}+)”|„([^„“”]{1,2000}+)[“”]|«([^«»]{1,2000}+)»'
)
_BLOCK = re.compile(r"(?:^[ \t]*+>[^\n]*+(?:\n|\Z))++", re.MULTILINE)
_QUOTE_MARK = re.compile(r"^[ \t]*+>[ \t]?", re.MULTILINE)
_CALLOUT = re.compile(r"\[![^\]\n]*+\][+-]?[^\n]*+\n?")
_GAP = re.compile(r"\s*(?:\[\s*(?:…|\.\.\.)\s*\]|…|\.\.\.)\s*")
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_ATTRIBUTION = re.compile(r"\n[ \t]*+(?:—|–|--)[^\n]*+\s*\Z")


@dataclass(frozen=True, slots=True)
class Quotation:
    """``start`` and ``end`` are characters of the answer. ``path`` is None if no source has these words."""

    start: int
    end: int
    text: str
    path: str | None = None
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Words:
    """A source as words, with the character each stands at."""

    text: str
    words: str
    starts: tuple[int, ...]
    positions: tuple[int, ...]


def check_quotations(answer: str, sources: Mapping[str, str]) -> tuple[Quotation, ...]:
    """Every quotation of the answer, with the place it was taken from.

    Words are compared in order; letter case, line breaks, punctuation and Markdown marks do not count,
    and an ellipsis stands for anything. The words themselves must all be there.
    """
    found = _quotations(answer)
    if not found:
        return ()
    prepared = {path: _as_words(text) for path, text in sources.items()}
    return tuple(_located(quotation, prepared) for quotation in found)


def _quotations(answer: str) -> list[Quotation]:
    code = Regions(code_spans(answer))
    blocks = []
    for match in _BLOCK.finditer(answer):
        text = _ATTRIBUTION.sub("", _CALLOUT.sub("", _QUOTE_MARK.sub("", match[0]))).strip()
        if match.start() not in code and _is_long(text):
            blocks.append(Quotation(match.start(), match.end(), text))
    inside = Regions([(block.start, block.end) for block in blocks])
    marked = [
        Quotation(match.start(), match.end(), text)
        for match in _MARKED.finditer(answer)
        if (text := next(group for group in match.groups() if group is not None))
        and match.start() not in code
        and match.start() not in inside
        and _is_long(text)
    ]
    return sorted([*blocks, *marked], key=lambda quotation: quotation.start)[:MOST_QUOTATIONS]


def _is_long(text: str) -> bool:
    return sum(1 for _ in _WORD.finditer(text)) >= _FEWEST_WORDS


def _as_words(text: str) -> _Words:
    words, starts, positions = [], [], []
    length = 0
    for match in _WORD.finditer(text):
        word = match[0].lower().replace("’", "'")
        starts.append(length)
        positions.append(match.start())
        words.append(word)
        length += len(word) + 1
    return _Words(text, " ".join(words), tuple(starts), tuple(positions))


def _located(quotation: Quotation, sources: Mapping[str, _Words]) -> Quotation:
    parts = [words for part in _GAP.split(quotation.text) if (words := _as_words(part).words)]
    for path, source in sources.items():
        if (span := _find(parts, source)) is not None:
            return Quotation(quotation.start, quotation.end, quotation.text, path, span)
    return quotation


def _find(parts: list[str], source: _Words) -> tuple[int, int] | None:
    """The lines where the parts stand one after the other."""
    haystack = f" {source.words} "
    at, first, last = 0, -1, -1
    for part in parts:
        at = haystack.find(f" {part} ", at)
        if at < 0:
            return None
        first = at if first < 0 else first
        at += len(part) + 1
        last = at - 1
    start = source.positions[bisect_right(source.starts, first) - 1]
    end = source.positions[bisect_right(source.starts, last - 1) - 1]
    return source.text.count("\n", 0, start) + 1, source.text.count("\n", 0, end) + 1
