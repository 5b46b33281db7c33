"""Passages: pieces of about 200 tokens, cut where a reader would pause.

A passage ends at a heading, between paragraphs or after a code block; only a paragraph or line that is
too long by itself is cut inside. Together the passages hold every line with something on it.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from .markdown import Regions, Span, body_start, fences
from .outline import MOST_HEADINGS

_TARGET = 800  # UTF-8 bytes, which is about 200 tokens of English
_MOST = 1_200
MOST_PASSAGES = 20_000  # of one file

_ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]++([^\n]*+)$", re.MULTILINE)
_CLOSING_MARKS = re.compile(r"[ \t]#+[ \t\r]*$")
_BODY_LINE = re.compile(r"^(?! {0,3}#{1,6}[ \t]|[ \t\r]*+$)", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t\r]*+\n\s*+")
_TOP_LEVEL = re.compile(r"\n(?=[^\s)\]}#])")
_UNREADABLE = frozenset({"compressed-json"})  # drawings that plugins keep in notes


@dataclass(frozen=True, slots=True)
class Passage:
    """``lines`` from 1, both included; ``headings`` are those above it, outermost first."""

    text: str
    lines: tuple[int, int]
    headings: tuple[str, ...] = ()


def passages(text: str, *, markdown: bool = True) -> list[Passage]:
    """The whole text in passages, front matter left out."""
    width = 1.0 if text.isascii() else len(text.encode(errors="replace")) / len(text)
    sizes = int(_TARGET / width), int(_MOST / width)
    if not markdown:
        return list(
            _numbered(text, ((piece, ()) for piece in _pieces(text, (0, len(text)), [], sizes)))
        )
    start = body_start(text)
    found = list(fences(text, start)) if "```" in text or "~~~" in text else []
    blocks = [(fence.start, fence.end) for fence in found]
    drawings = Regions([(f.start, f.end) for f in found if f.language in _UNREADABLE])
    return list(
        _numbered(
            text,
            (
                (piece, headings)
                for section, headings in _sections(text, start, blocks)
                for piece in _pieces(text, section, blocks, sizes)
                if piece[0] not in drawings
            ),
        )
    )


def _numbered(text: str, pieces: Iterable[tuple[Span, tuple[str, ...]]]) -> Iterator[Passage]:
    line, at = 1, 0
    for (first, last), headings in islice(pieces, MOST_PASSAGES):
        piece = text[first:last]
        stripped = piece.strip()
        if stripped:
            # A passage starts at its first word, not at the blank lines before it.
            first += len(piece) - len(piece.lstrip())
            line += text.count("\n", at, first)
            at = first
            yield Passage(stripped, (line, line + stripped.count("\n")), headings)


def _sections(
    text: str, start: int, code: Sequence[Span]
) -> Iterator[tuple[Span, tuple[str, ...]]]:
    """Runs of text under one heading, with the headings above them."""
    inside = Regions(list(code))
    trail: list[tuple[int, str]] = []
    at, looked, has_body = start, start, False
    marks = [
        match
        for match in islice(_ATX.finditer(text, start), MOST_HEADINGS)
        if match.start() not in inside
    ]
    for match in marks:
        # A heading with nothing under it stays with the text that follows.
        has_body = has_body or _BODY_LINE.search(text, looked, match.start()) is not None
        looked = match.end()
        if has_body:
            yield (at, match.start()), tuple(name for _, name in trail)
            at, has_body = match.start(), False
        level, title = len(match[1]), match[2].strip()
        if title.endswith("#"):
            title = _CLOSING_MARKS.sub("", " " + title).strip()
        trail = [*(up for up in trail if up[0] < level), (level, title)]
    yield (at, len(text)), tuple(name for _, name in trail)


def _pieces(
    text: str, section: Span, blocks: Sequence[Span], sizes: tuple[int, int]
) -> Iterator[Span]:
    start, end = section
    target, most = sizes
    if end - start <= most:
        yield section
        return
    at = start
    for first, last in _units(text, section, blocks, most):
        if last - at > target and first > at:
            yield at, first
            at = first
    yield at, end


def _units(text: str, section: Span, blocks: Sequence[Span], most: int) -> Iterator[Span]:
    """Paragraphs and code blocks in order, none of them longer than ``most``."""
    start, end = section
    cuts = [start]
    blocks = blocks[bisect_left(blocks, (start, start)) : bisect_left(blocks, (end, end))]
    inside = Regions(list(blocks))
    for blank in _BLANK.finditer(text, start, end):
        if blank.start() not in inside:
            cuts.append(blank.end())
    for first, last in blocks:
        cuts += [cut for cut in (first, min(last, end)) if start < cut < end]
    cuts = sorted({*cuts, end})
    for first, last in pairwise(cuts):
        if last - first <= most:
            yield first, last
        else:
            yield from _halves(text, first, last, most)


def _halves(text: str, first: int, last: int, most: int) -> Iterator[Span]:
    """A long stretch cut before a line that starts at the margin, else at a line's end, else at a space."""
    while last - first > most:
        floor, window = first + most // 2, first + most
        margins = [found.end() for found in _TOP_LEVEL.finditer(text, floor, window)]
        ends = (text.rfind(mark, floor, window) + len(mark) for mark in ("\n", ". ", " "))
        cut = margins[-1] if margins else next((end for end in ends if end > floor), window)
        yield first, cut
        first = cut
    yield first, last
