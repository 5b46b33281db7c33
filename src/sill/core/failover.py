"""Whom to ask when a model does not answer: circuit breakers and stickiness, with the clock as an argument."""

from collections.abc import Sequence
from dataclasses import dataclass

FAILURES = 2
WITHIN = 30.0
"""So many failures in so many seconds open a breaker ..."""
OPEN_FOR = 90.0
"""... for so many seconds."""
STICKY_FOR = 600.0
"""A chat that had to change its model stays with the other one for so long, then goes back."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """The recent failures of one endpoint. While it is open, the endpoint is left alone."""

    failures: tuple[float, ...] = ()
    opened: float | None = None

    def is_open(self, now: float) -> bool:
        return self.opened is not None and now - self.opened < OPEN_FOR

    def failed(self, now: float) -> "Breaker":
        recent = (*(at for at in self.failures if now - at < WITHIN), now)
        if len(recent) >= FAILURES or self.is_open(now):
            return Breaker(opened=now)
        return Breaker(recent)


@dataclass(frozen=True, slots=True)
class Stuck:
    """A chat stays with one place."""

    place: int
    since: float

    def holds(self, now: float) -> bool:
        return now - self.since < STICKY_FOR


def order(
    allowed: Sequence[bool], breakers: Sequence[Breaker], stuck: Stuck | None, now: float
) -> tuple[int, ...]:
    """The places to try, first to last; never none, for the first place is always allowed.

    Where every breaker is open, the first place is asked all the same: better a failure than silence.
    """
    closed = [
        place for place, may in enumerate(allowed) if may and not breakers[place].is_open(now)
    ]
    if stuck is not None and stuck.holds(now) and stuck.place in closed:
        closed.remove(stuck.place)
        closed.insert(0, stuck.place)
    return tuple(closed) or (0,)
