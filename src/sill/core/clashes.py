"""A merge that a person brings to its end: for each clash they say whose text it is.

``mine`` is the document as it is now, ``theirs`` what the proposal makes of it, as in ``merge``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from .edits import Change
from .lines import ends_with_newline, split_lines, whole_lines, with_newlines
from .merge import Clash
from .ops import Delete, Op, Replace, Span, Whole
from .proposal import Merge, Proposal

Take = Literal["mine", "theirs", "both", "text"]


@dataclass(frozen=True, slots=True)
class Choice:
    """``text`` is what was written by hand; it counts only where that was chosen."""

    take: Take
    text: str = ""


KEPT = Choice("mine")


def is_whole(change: Change, now: str | None) -> bool:
    """Whether the clash is about the document as a whole: one side made it, or took it away."""
    return now is None or change.before is None or change.after is None


def decided(merged: Merge, choices: Mapping[str, Sequence[Choice]]) -> Proposal:
    """The changes made to the documents as they are now, every clash as it was chosen.

    A clash that nobody chose for stays as the document has it.
    """
    changes, current = merged.changes, merged.current
    ops, base = list(merged.proposal.ops), dict(merged.proposal.base)
    for path, clashes in merged.clashes.items():
        now, chosen = current.get(path), choices.get(path, ())
        if is_whole(changes[path], now):
            added = _whole(path, changes[path], now, chosen[0] if chosen else KEPT)
        else:
            pairs = zip(clashes, chosen, strict=False)
            added = [op for clash, choice in pairs if (op := _part(path, now or "", clash, choice))]
        if added:
            ops += added
            base[path] = now
    return Proposal(merged.proposal.explanation, tuple(ops), base)


def _part(path: str, now: str, clash: Clash, choice: Choice) -> Op | None:
    newline = split_lines(now).newline
    start = sum(map(len, whole_lines(now)[: clash.line - 1]))
    span = Span(start, start + len(clash.mine))
    match choice.take:
        case "mine":
            return None
        case "theirs":
            return Replace(path, span, clash.theirs)
        case "both":
            return Replace(path, span, _ended(clash.mine, newline) + clash.theirs)
        case "text":
            text = with_newlines(choice.text, newline)
            # Only the last line of a document may stay without an ending, and only where it was so before.
            is_open = span.end == len(now) and not ends_with_newline(clash.mine or clash.theirs)
            return Replace(path, span, text if is_open else _ended(text, newline))
        case never:
            assert_never(never)


def _whole(path: str, change: Change, now: str | None, choice: Choice) -> list[Op]:
    newline = split_lines(now or "").newline
    match choice.take:
        case "mine":
            return []
        case "theirs":
            wanted = change.after
        case "both":
            wanted = _ended(now or "", newline) + (change.after or "")
        case "text":
            wanted = with_newlines(choice.text, newline)
        case never:
            assert_never(never)
    if wanted == now:
        return []
    if wanted is None:
        return [Delete(path, Whole())]
    return [Replace(path, Whole() if now is None else Span(0, len(now)), wanted)]


def _ended(text: str, newline: str) -> str:
    return text if not text or ends_with_newline(text) else text + newline
