"""Finding where the hunks of a patch go: exactly, then with other white space, then with less context.

A weaker step is taken only when the stronger one finds nothing in the whole text. What fits in several
places fits nowhere: a wrong place is worse than none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .lines import Final, Lines, line_splice
from .ops import HunkTrouble, Reason
from .patch import Hunk, HunkLine, ReadPatch

NEAR = 50  # lines around the place a header names
FAR = 10_000  # lines a search may widen to
MAX_FUZZ = 2
SURE_OFFSET = 10  # a hunk that moved further wants a second look


@dataclass(frozen=True, slots=True)
class Fit:
    """Splices as (start, end, new text), and how far the patch had to be bent."""

    splices: tuple[tuple[int, int, str], ...]
    fuzz: int
    offset: int
    normalizations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    reason: Reason
    trouble: HunkTrouble


@dataclass(frozen=True, slots=True)
class _Place:
    line: int
    trimmed: tuple[int, int]  # context lines not looked at, in front and behind
    fuzz: int


class _Text:
    """The lines to search, as they are and with their white space flattened."""

    def __init__(self, lines: Lines) -> None:
        self.exact = lines.contents

    @cached_property
    def flat(self) -> tuple[str, ...]:
        return tuple(map(_flat, self.exact))


def fit(patch: ReadPatch, lines: Lines) -> Fit | Misfit:
    """Every hunk placed, or the first one that cannot be."""
    notes = dict.fromkeys(patch.normalizations)
    splices: list[tuple[int, int, str]] = []
    text = _Text(lines)
    fuzz = offset = drift = floor = 0
    for number, hunk in enumerate(patch.hunks):
        expected = None if hunk.start is None else max(hunk.start - 1, 0) + drift
        place = _insertion(hunk, lines) if not hunk.old else _search(text, hunk, expected, floor)
        if not isinstance(place, _Place):
            return Misfit(place, _trouble(number, hunk, lines, expected))
        if expected is not None and hunk.old:
            moved = place.line - place.trimmed[0] - (expected - drift)
            offset = max(offset, abs(moved), key=abs)
            drift = moved
        if not hunk.old and place.fuzz:
            notes["placed by line number alone"] = None
        fuzz = max(fuzz, place.fuzz)
        body = hunk.lines[place.trimmed[0] : len(hunk.lines) - place.trimmed[1]]
        body, indented = _indented(body, lines, place.line)
        if indented:
            notes["indentation adapted"] = None
        splices += _splices(lines, place.line, body, _final(hunk))
        floor = place.line + sum(line.tag != "+" for line in body)
    return Fit(tuple(splices), fuzz, offset, tuple(notes))


def _insertion(hunk: Hunk, lines: Lines) -> _Place | Reason:
    """A hunk of added lines only: into an empty text, or after the line its header names."""
    if len(lines) == 0:
        return _Place(0, (0, 0), 0)
    if hunk.start is None or hunk.start > len(lines):
        return "patch does not fit"
    is_edge = hunk.start in (0, len(lines))
    return _Place(hunk.start, (0, 0), 0 if is_edge else 1)


def _search(text: _Text, hunk: Hunk, expected: int | None, floor: int) -> _Place | Reason:
    old = hunk.old
    for trimmed in _trims(hunk.lines):
        wanted = old[trimmed[0] : len(old) - trimmed[1]]
        aim = None if expected is None else expected + trimmed[0]
        for flatten in (False, True):
            haystack = text.flat if flatten else text.exact
            needle = tuple(map(_flat, wanted)) if flatten else wanted
            if flatten and not any(needle):
                continue  # nothing but white space is not evidence
            found = _placed(haystack, needle, aim, floor, hunk.section)
            if isinstance(found, int):
                return _Place(found, trimmed, max(*trimmed, int(flatten)))
            if found:
                return found
    return "patch does not fit"


def _trims(lines: Sequence[HunkLine]) -> Iterator[tuple[int, int]]:
    """How many context lines to leave out in front and behind: none, then one, then two.

    What is left must still hold an old line, and removed lines are never left out.
    """
    front = _leading_context(lines)
    back = _leading_context(lines[::-1])
    old = sum(line.tag != "+" for line in lines)
    yield 0, 0
    last = (0, 0)
    for fuzz in range(1, MAX_FUZZ + 1):
        trimmed = (min(front, fuzz), min(back, fuzz))
        if trimmed != last and sum(trimmed) < old:
            yield trimmed
            last = trimmed


def _leading_context(lines: Sequence[HunkLine]) -> int:
    return next((n for n, line in enumerate(lines) if line.tag != " "), len(lines))


def _placed(
    haystack: Sequence[str], needle: Sequence[str], aim: int | None, floor: int, section: str
) -> int | Reason | None:
    """The one place of ``needle``; None if there is none, a reason if there are several."""
    if aim is not None and aim >= floor and _matches(haystack, needle, aim):
        return aim
    reach = FAR if aim is None else NEAR
    middle = 0 if aim is None else aim
    near = range(middle - reach, middle + reach + 1)
    for window in (near, range(middle - FAR, middle + FAR + 1)):
        places = list(_places(haystack, needle, window))
        # Hunks come in order; one that stands before its predecessor is the second choice.
        places = [at for at in places if at >= floor] or places
        if len(places) > 1:
            places = _under_heading(haystack, places, section) or places
        if len(places) == 1:
            return places[0]
        if places:
            return "patch fits in several places"
    return None


def _places(haystack: Sequence[str], needle: Sequence[str], window: range) -> Iterator[int]:
    first = needle[0]
    last_start = len(haystack) - len(needle)
    for at in range(max(window.start, 0), min(window.stop, last_start + 1)):
        if haystack[at] == first and _matches(haystack, needle, at):
            yield at


def _matches(haystack: Sequence[str], needle: Sequence[str], at: int) -> bool:
    return 0 <= at <= len(haystack) - len(needle) and all(
        haystack[at + number] == line for number, line in enumerate(needle)
    )


def _under_heading(haystack: Sequence[str], places: Sequence[int], section: str) -> list[int]:
    """The places that come first after a line the header quotes."""
    if not section:
        return []
    quoted = [number for number, line in enumerate(haystack) if _flat(section) == _flat(line)]
    after = {next((at for at in places if at > number), None) for number in quoted}
    return sorted(at for at in after if at is not None)


def _flat(line: str) -> str:
    return " ".join(line.replace("\u200b", "").replace("\ufeff", "").split())


def _indented(body: Sequence[HunkLine], lines: Lines, at: int) -> tuple[tuple[HunkLine, ...], bool]:
    """Added lines moved in or out by the same indentation the matched lines differ by."""
    old = [line.text for line in body if line.tag != "+"]
    base = lines.contents[at : at + len(old)]
    pairs = [(ours, theirs) for ours, theirs in zip(base, old, strict=True) if ours.strip()]
    wider = _common_extra(pairs)
    narrower = _common_extra([(theirs, ours) for ours, theirs in pairs])
    if not wider and not narrower:
        return tuple(body), False
    return tuple(
        HunkLine("+", wider + line.text.removeprefix(narrower), line.is_open)
        if line.tag == "+" and line.text.strip()
        else line
        for line in body
    ), True


def _common_extra(pairs: Sequence[tuple[str, str]]) -> str:
    """The white space that each first text has in front of its second one; empty if they differ otherwise."""
    extras = {
        longer.removesuffix(shorter) if longer.endswith(shorter) else ""
        for longer, shorter in pairs
    }
    extra = extras.pop() if len(extras) == 1 else ""
    return "" if extra.strip() else extra


def _final(hunk: Hunk) -> Final:
    """What the diff says of the newline at the end of the text; nothing, mostly."""
    old = [line.is_open for line in hunk.lines if line.tag != "+"]
    new = [line.is_open for line in hunk.lines if line.tag != "-"]
    was, will_be = bool(old and old[-1]), bool(new and new[-1])
    if was == will_be:
        return "keep"
    return "open" if will_be else "closed"


def _splices(
    lines: Lines, at: int, body: Sequence[HunkLine], final: Final
) -> Iterator[tuple[int, int, str]]:
    """One splice per run of changed lines: context keeps its own bytes."""
    first, added, changed = at, list[str](), False
    for line in (*body, HunkLine(" ", "")):
        if line.tag == " ":
            if changed:
                yield line_splice(lines, first, at, added, final)
            at += 1
            first, added, changed = at, [], False
        elif line.tag == "-":
            at += 1
            changed = True
        else:
            added.append(line.text)
            changed = True


def _trouble(number: int, hunk: Hunk, lines: Lines, expected: int | None) -> HunkTrouble:
    old = hunk.old
    around = 0 if expected is None else min(expected, max(len(lines) - 1, 0))
    found = "" if expected is None else "\n".join(lines.contents[around : around + len(old)][:20])
    return HunkTrouble(number, hunk.header, "\n".join(old[:20]), found)
