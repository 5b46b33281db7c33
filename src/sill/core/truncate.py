"""Cut what surrounds a cursor or selection to size, always in the same order.

The instruction and the selection stay whole. First the suffix is cut, from its far end; then the prefix,
from its far end; then the conversation, oldest first; then optional parts of the system prompt. Pieces are
counted once, by the caller; here they are only added.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Cut = Literal["suffix", "prefix", "conversation", "system"]

# Lines, and long lines in parts: short enough to cut finely, long enough to count cheaply.
_PIECE = re.compile(r"[^\n]{1,160}\n?|\n")


@dataclass(frozen=True, slots=True)
class Counted:
    """Text in pieces with the tokens of each."""

    pieces: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def total(self) -> int:
        return sum(self.tokens)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a completion or an edit is made from.

    ``fixed`` has the tokens of all that must stay whole: required system text, instruction, selection and
    the request's overhead. ``system`` are the optional fragments in the order in which they may go.
    """

    fixed: int
    prefix: Counted = Counted()
    suffix: Counted = Counted()
    conversation: Counted = Counted()  # one piece per message, oldest first
    system: Counted = Counted()


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is left, and what had to be cut, in the order it happened."""

    kept: Surroundings
    tokens: int
    cut: tuple[Cut, ...]


@dataclass(frozen=True, slots=True)
class TooLarge:
    """The parts that must stay whole do not fit by themselves."""

    needed: int
    available: int


def split(text: str) -> tuple[str, ...]:
    """``text`` in pieces that can be counted and cut apart; joined, they are the text again."""
    return tuple(_PIECE.findall(text))


def counted(text: str, count: Callable[[str], int]) -> Counted:
    pieces = split(text)
    return Counted(pieces, tuple(count(piece) for piece in pieces))


def fit(given: Surroundings, room: int, prefix: int, suffix: int) -> Fitted | TooLarge:
    """Cut to ``room`` tokens; the prefix and the suffix may have at most so many in any case."""
    if given.fixed > room:
        return TooLarge(given.fixed, room)
    left = replace(given, suffix=_head(given.suffix, suffix), prefix=_tail(given.prefix, prefix))
    left = replace(left, suffix=_head(left.suffix, room - _total(left) + left.suffix.total))
    left = replace(left, prefix=_tail(left.prefix, room - _total(left) + left.prefix.total))
    spare = room - _total(left) + left.conversation.total
    left = replace(left, conversation=_tail(left.conversation, spare))
    spare = room - _total(left) + left.system.total
    left = replace(left, system=_tail(left.system, spare))
    return Fitted(left, _total(left), _cut(given, left))


def _total(parts: Surroundings) -> int:
    rest = (parts.prefix, parts.suffix, parts.conversation, parts.system)
    return parts.fixed + sum(part.total for part in rest)


def _head(part: Counted, room: int) -> Counted:
    kept = _fitting(part.tokens, room)
    return Counted(part.pieces[:kept], part.tokens[:kept])


def _tail(part: Counted, room: int) -> Counted:
    first = len(part.pieces) - _fitting(part.tokens[::-1], room)
    return Counted(part.pieces[first:], part.tokens[first:])


def _fitting(tokens: Sequence[int], room: int) -> int:
    used = 0
    for count, cost in enumerate(tokens):
        used += cost
        if used > room:
            return count
    return len(tokens)


def _cut(given: Surroundings, left: Surroundings) -> tuple[Cut, ...]:
    pairs: tuple[tuple[Cut, Counted, Counted], ...] = (
        ("suffix", given.suffix, left.suffix),
        ("prefix", given.prefix, left.prefix),
        ("conversation", given.conversation, left.conversation),
        ("system", given.system, left.system),
    )
    return tuple(name for name, before, after in pairs if before != after)
