"""A large text that was counted in blocks, and what of it need not be counted again after an edit.

Blocks of some hundred characters are gathered in stretches of some thousand. An edit is found by comparing stretches,
one memory comparison each, then the blocks of the stretch that changed. All cuts are safe (see ``cuts``), so the tokens
of blocks add up to those of the text.

This runs for every edit of a large file, where each microsecond counts: hence tuples where elsewhere there would be
dataclasses, and as little code as possible, as it is never warm when it is needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from .cuts import blocks, is_safe

STRETCH = 8_192
"""Characters of a stretch: few enough to look through, many enough that a large text has few of them."""


class Counted(NamedTuple):
    """A text between two safe cuts and its tokens: a block, a stretch of blocks, or a whole text of stretches.

    Joined, the parts are the text; a block has none.
    """

    text: str
    total: int
    parts: tuple["Counted", ...] = ()


NOTHING = Counted("", 0)

Span = tuple[int, int, int, int]
"""Old parts, from the first to before the last, and where the new text begins and ends that stands in their place."""


class Gap(NamedTuple):
    """Stretches that changed: their blocks, which of those changed, and the new ones in their place."""

    stretches: Span
    was: tuple[Counted, ...]
    blocks: Span
    new: list[str]


class Draft(NamedTuple):
    """A text as what ``known`` tells of it and what must still be counted."""

    text: str
    known: Counted
    gaps: list[Gap]

    @property
    def new(self) -> list[str]:
        """The blocks to count."""
        gaps = self.gaps
        return gaps[0].new if len(gaps) == 1 else [block for gap in gaps for block in gap.new]

    @property
    def is_mostly_known(self) -> bool:
        """Whether so little is left to count that this is quicker than to look the whole up somewhere."""
        return 2 * sum(map(len, self.new)) < len(self.text)

    def counted(self, taken: Mapping[str, int]) -> Counted:
        """The text with all its tokens, once those of the new blocks are ``taken``."""
        text, (_, total, stretches), gaps = self
        for gap in reversed(gaps):  # from the end, so that what comes before keeps its number
            (first, last, start, end), was, changed, new = gap
            filled = was[: changed[0]]
            for block in was[changed[0] : changed[1]]:
                total -= block.total
            for piece in new:
                filled += (Counted(piece, taken[piece]),)
                total += taken[piece]
            filled += was[changed[1] :]
            stretches = (
                *stretches[:first],
                *_gathered(text, start, end, filled),
                *stretches[last:],
            )
        return Counted(text, total, stretches)


def whole(text: str, tokens: int) -> Counted:
    """A text of which only the sum is known."""
    return Counted(text, tokens, (Counted(text, tokens, (Counted(text, tokens),)),))


def recount(known: Counted, text: str) -> Draft:
    """What of ``text`` must be counted when ``known`` is an earlier state of it, or anything else.

    What precedes the first edit stands where it stood, what follows the last one stands there seen from the end. In
    between, what follows the first changed stretch is looked for where it stood, too: the fingerprint of a file that is
    sent stands near its beginning, and changes with every edit.
    """
    old = known.parts
    span = _changed(old, text, (0, len(old), 0, len(text)))
    if span[0] == span[1] and span[2] == span[3]:
        return Draft(text, known, [])
    if span[1] - span[0] > 1 and (two := _parted(old, text, span)) is not None:
        return Draft(text, known, [_gap(old, text, one) for one in two])
    return Draft(text, known, [_gap(old, text, _safe(old, text, span))])


def _changed(old: Sequence[Counted], text: str, span: Span) -> Span:
    """The span without the parts that it still begins and ends with."""
    first, last, start, end = _less_start(old, text, span)
    in_place = text.isascii()
    while first < last:
        part = old[last - 1].text
        reached = end - len(part)
        if reached < start:
            break
        if not (text.startswith(part, reached) if in_place else text[reached:end] == part):
            break
        last, end = last - 1, reached
    return first, last, start, end


def _less_start(old: Sequence[Counted], text: str, span: Span) -> Span:
    first, last, start, end = span
    in_place = text.isascii()
    while first < last:
        part = old[first].text
        reached = start + len(part)
        # Where all is ASCII, memory is compared in place. Slices of other texts are as narrow as they can be, like the
        # part itself, so they are compared in one go, where `startswith` might go letter by letter.
        if reached > end:
            break
        if not (text.startswith(part, start) if in_place else text[start:reached] == part):
            break
        first, start = first + 1, reached
    return first, last, start, end


def _parted(old: Sequence[Counted], text: str, span: Span) -> tuple[Span, Span] | None:
    """Two spans in the place of one, if something after its first part stands where it stood."""
    first, last, start, end = span
    again = start + len(old[first].text)
    rest = _less_start(old, text, (first + 1, last, again, end))
    if rest[0] == first + 1:
        return None
    head, rest = _safe(old, text, (first, first + 1, start, again)), _safe(old, text, rest)
    return (head, rest) if head[1] <= rest[0] else None


def _safe(old: Sequence[Counted], text: str, span: Span) -> Span:
    """With as many parts around it as it takes: a cut was safe for the characters that stood around it."""
    first, last, start, end = span
    while first and not is_safe(text, start):
        first -= 1
        start -= len(old[first].text)
    while last < len(old) and not is_safe(text, end):
        end += len(old[last].text)
        last += 1
    return first, last, start, end


def _gap(old: Sequence[Counted], text: str, span: Span) -> Gap:
    first, last, start, end = span
    if last - first == 1:
        was = old[first].parts
    else:
        was = tuple(chain.from_iterable(stretch.parts for stretch in old[first:last]))
    changed = _safe(was, text, _changed(was, text, (0, len(was), start, end)))
    return Gap(span, was, changed, blocks(text[changed[2] : changed[3]]))


def _gathered(text: str, start: int, end: int, filled: tuple[Counted, ...]) -> Iterator[Counted]:
    """The blocks of this part of the text, in stretches; a block of any length stays whole.

    No stretch is short, so that a text does not fall into crumbs edit by edit.
    """
    size = end - start
    target = size // max(1, size // STRETCH)
    first, at, size = 0, start, 0
    for number, block in enumerate(filled, start=1):
        size += len(block.text)
        if size >= target or number == len(filled):
            some = filled[first:number]
            yield Counted(text[at : at + size], sum([one.total for one in some]), some)
            first, at, size = number, at + size, 0
