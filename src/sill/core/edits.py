"""Operations become splices of the documents as they were; then all of them are applied, or none.

Preview and apply run the same code, so what the user saw is what gets written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import assert_never

from .ladder import SURE_OFFSET, Misfit, fit
from .lines import (
    Lines,
    ends_with_newline,
    find_snippet,
    line_splice,
    split_lines,
    with_newlines,
    without_last_newline,
)
from .ops import (
    Anchor,
    AtCursor,
    Delete,
    Insert,
    Op,
    Patch,
    Problem,
    Reason,
    Replace,
    Selected,
    Span,
    Whole,
)
from .patch import BadPatch, read_patch


@dataclass(frozen=True, slots=True)
class Scope:
    """The documents of a request; one that does not exist yet has the text None.

    Selection and cursor belong to the ``active`` document and count characters.
    """

    documents: Mapping[str, str | None]
    active: str | None = None
    selection: Span | None = None
    cursor: int | None = None


@dataclass(frozen=True, slots=True)
class Splice:
    """Put ``new`` in place of ``text[start:end]``, on behalf of operation ``op``."""

    start: int
    end: int
    op: int
    new: str


@dataclass(frozen=True, slots=True)
class Placement:
    """How a patch had to be bent to fit."""

    op: int
    path: str
    fuzz: int = 0
    offset: int = 0
    normalizations: tuple[str, ...] = ()

    @property
    def requires_confirmation(self) -> bool:
        return self.fuzz > 0 or self.offset > SURE_OFFSET


@dataclass(frozen=True, slots=True)
class Change:
    """One document before and after; None where it does not exist."""

    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Edited:
    changes: Mapping[str, Change] = field(default_factory=dict)  # only the ones that changed
    placements: tuple[Placement, ...] = ()

    @property
    def requires_confirmation(self) -> bool:
        return any(placement.requires_confirmation for placement in self.placements)


@dataclass(frozen=True, slots=True)
class Rejected:
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class _Becomes:
    """The document comes to be, is replaced as a whole, or goes."""

    op: int
    after: str | None


@dataclass(frozen=True, slots=True)
class _Located:
    splices: tuple[Splice, ...] | _Becomes
    placement: Placement | None = None


def edit(scope: Scope, ops: Sequence[Op]) -> Edited | Rejected:
    """Apply every operation or none. Positions refer to the documents as given."""
    placed: dict[str, list[_Located]] = {}
    problems: list[Problem] = []
    lines: dict[str, Lines] = {}
    for number, op in enumerate(ops):
        if op.path not in scope.documents:
            problems.append(Problem(number, op.path, "not a file of the request"))
            continue
        text = scope.documents[op.path]
        if text is None:
            found = _create(op, number)
        elif not isinstance(op, Patch) and isinstance(op.target, Span):
            found = _exact(text, op, op.target, number)
        else:
            if op.path not in lines:
                lines[op.path] = split_lines(text)
            found = _locate(scope, lines[op.path], op, number)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            placed.setdefault(op.path, []).append(found)

    for path, located in placed.items():
        problems += _overlaps(path, located)
    if problems:
        return Rejected(tuple(sorted(problems, key=lambda problem: problem.op or 0)))

    changes = {
        path: Change(scope.documents[path], _applied(scope.documents[path], located))
        for path, located in placed.items()
    }
    return Edited(
        {path: change for path, change in changes.items() if change.before != change.after},
        tuple(one.placement for found in placed.values() for one in found if one.placement),
    )


def _overlaps(path: str, located: Sequence[_Located]) -> list[Problem]:
    """The later of each two operations that want the same text. What takes a whole document stands alone."""
    whole = [one.splices.op for one in located if isinstance(one.splices, _Becomes)]
    splices = _sorted(located)
    if whole:
        others = [*whole, *(splice.op for splice in splices)]
        return [Problem(op, path, "edits overlap") for op in sorted(set(others) - {min(others)})]
    clashing = {
        max(left.op, right.op) for left, right in pairwise(splices) if right.start < left.end
    }
    return [Problem(op, path, "edits overlap") for op in sorted(clashing)]


def _sorted(located: Sequence[_Located]) -> list[Splice]:
    splices = [s for one in located if not isinstance(one.splices, _Becomes) for s in one.splices]
    return sorted(splices, key=lambda s: (s.start, s.end, s.op))


def _applied(text: str | None, located: Sequence[_Located]) -> str | None:
    for one in located:
        if isinstance(one.splices, _Becomes):
            return one.splices.after
    return splice(text or "", _sorted(located))


def splice(text: str, splices: Sequence[Splice]) -> str:
    """Apply sorted, non-overlapping splices to ``text``."""
    pieces, at = list[str](), 0
    for s in splices:
        pieces += [text[at : s.start], s.new]
        at = s.end
    return "".join([*pieces, text[at:]])


def _exact(text: str, op: Insert | Replace | Delete, span: Span, number: int) -> _Located | Problem:
    """Characters named by number are taken literally, newlines and all."""
    if span.end > len(text):
        return Problem(number, op.path, "outside the document")
    start = span.end if isinstance(op, Insert) and op.place == "after" else span.start
    end = start if isinstance(op, Insert) else span.end
    return _one(number, (start, end, "" if isinstance(op, Delete) else op.content))


def _locate(scope: Scope, lines: Lines, op: Op, number: int) -> _Located | Problem:
    match op:
        case Patch():
            return _locate_patch(lines, op, number)
        case Delete(target=Whole()):
            return _Located(_Becomes(number, None))
        case Replace(target=Whole(), content=content):
            return _Located(_Becomes(number, _rewritten(lines, content)))
        case Insert(target=Whole(), content=content):
            return _one(number, _appended(lines, len(lines.text), content))
        case Insert() | Replace() | Delete():
            assert not isinstance(op.target, Whole | Span)  # these are taken care of before
            span = _find(scope, lines, op.path, op.target)
            if isinstance(span, Span):
                return _one(number, _spliced(lines, op, span))
            return Problem(number, op.path, span)
        case _:
            assert_never(op)


def _one(number: int, where: tuple[int, int, str]) -> _Located:
    start, end, new = where
    return _Located((Splice(start, end, number, new),))


def _create(op: Op, number: int) -> _Located | Problem:
    """An operation on a document that does not exist yet: only its whole text can be given."""
    match op:
        case Insert(target=Whole(), content=content) | Replace(target=Whole(), content=content):
            return _Located(_Becomes(number, content))
        case Patch():
            located = _locate_patch(split_lines(""), op, number)
            if isinstance(located, _Located) and not isinstance(located.splices, _Becomes):
                return _Located(_Becomes(number, splice("", located.splices)), located.placement)
            return located
        case _:
            return Problem(number, op.path, "no such document")


def _locate_patch(lines: Lines, op: Patch, number: int) -> _Located | Problem:
    patch = read_patch(op.lines, op.path)
    if isinstance(patch, BadPatch):
        return Problem(number, op.path, patch.reason, patch.detail)
    if patch.creates and len(lines):
        return Problem(number, op.path, "patch does not fit", "the document exists already")
    placed = fit(patch, lines)
    if isinstance(placed, Misfit):
        detail = f"hunk {placed.trouble.hunk + 1}"
        return Problem(number, op.path, placed.reason, detail, placed.trouble)
    return _Located(
        tuple(Splice(start, end, number, new) for start, end, new in placed.splices),
        Placement(number, op.path, placed.fuzz, placed.offset, placed.normalizations),
    )


def _find(
    scope: Scope, lines: Lines, path: str, target: Selected | AtCursor | Anchor
) -> Span | Reason:
    match target:
        case Selected():
            if scope.selection is None or scope.active != path:
                return "no selection"
            return _inside(lines, scope.selection)
        case AtCursor():
            if scope.cursor is None or scope.active != path:
                return "no cursor"
            return _inside(lines, Span(scope.cursor, scope.cursor))
        case Anchor(text=text, before=before, after=after):
            places = find_snippet(lines.text, before + text + after)
            if len(places) != 1:
                return "text not unique" if places else "text not found"
            # Endings may differ from the snippet's, so the context is measured in the document.
            start = places[0][0] + _measure(lines.text, places[0][0], before)
            return Span(start, start + _measure(lines.text, start, text))
        case _:
            assert_never(target)


def _inside(lines: Lines, span: Span) -> Span | Reason:
    if not 0 <= span.start <= span.end <= len(lines.text):
        return "outside the document"
    return Span(max(span.start, lines.body), max(span.end, lines.body))


def _measure(text: str, start: int, snippet: str) -> int:
    """How many characters of ``text`` the snippet takes from ``start`` on."""
    if not snippet:
        return 0
    # A newline of the snippet may be two characters of the text.
    return find_snippet(text[start : start + 2 * len(snippet)], snippet)[0][1]


def _spliced(lines: Lines, op: Insert | Replace | Delete, span: Span) -> tuple[int, int, str]:
    covered = _covered_lines(lines, span)
    match op:
        case Insert(target=Anchor(), content=content, place=place) if covered:
            if place == "before":
                return _prepended(lines, lines.start(covered.start), content)
            return _appended(lines, lines.start(covered.stop), content)
        case Insert(content=content, place=place):
            at = span.start if place == "before" else span.end
            return at, at, with_newlines(content, lines.newline)
        case Replace(content=content) if covered and content:
            return span.start, span.end, _ending_like(lines, span, content)
        case Replace(content=content):
            return span.start, span.end, with_newlines(content, lines.newline)
        case Delete(target=Anchor()) if covered:
            return line_splice(lines, covered.start, covered.stop, ())
        case Delete():
            return span.start, span.end, ""
        case _:
            assert_never(op)


def _covered_lines(lines: Lines, span: Span) -> range | None:
    """The whole lines the span covers, from the start of one to the end (or past the ending) of one."""
    if span.start == span.end or not lines.is_start(span.start):
        return None
    first = lines.starts.index(span.start)
    for number in range(first, len(lines)):
        if span.end in (lines.ends[number], lines.start(number + 1)):
            return range(first, number + 1)
        if lines.ends[number] > span.end:
            return None
    return None


def _ending_like(lines: Lines, span: Span, content: str) -> str:
    """The content, ending in a newline if the replaced lines did, and not otherwise."""
    fitted = with_newlines(without_last_newline(content), lines.newline)
    return (
        fitted + lines.newline if ends_with_newline(lines.text[span.start : span.end]) else fitted
    )


def _prepended(lines: Lines, at: int, content: str) -> tuple[int, int, str]:
    return at, at, with_newlines(without_last_newline(content), lines.newline) + lines.newline


def _appended(lines: Lines, at: int, content: str) -> tuple[int, int, str]:
    """Whole lines put in at the start of a line, or after the last one, open or closed as it was."""
    if len(lines.text) == lines.body:
        return at, at, content
    bare = with_newlines(without_last_newline(content), lines.newline)
    if at == len(lines.text) and lines.ends_open:
        return at, at, lines.newline + bare
    return at, at, bare + lines.newline


def _rewritten(lines: Lines, content: str) -> str:
    """A new text for an old document: same mark at its start, same line endings, same end."""
    mark = lines.text[: lines.body]
    content = content.removeprefix("\ufeff")
    if len(lines) == 0 or not content:
        return mark + content
    bare = with_newlines(without_last_newline(content), lines.newline)
    return mark + (bare if lines.ends_open else bare + lines.newline)
