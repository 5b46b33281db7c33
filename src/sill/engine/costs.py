"""The ledger for people: what was spent, by day, model and category, and how good the predictions were."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..records import StoredAttempt
from .money import held

WRONG_BY = 0.1
"""A prediction further than this part of the bill away from it counts as wrong."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Predicted against billed prompt tokens, of one and the same request."""

    predicted: int
    billed: int

    @property
    def off(self) -> float:
        """By which part of the bill the prediction was too low (above 0) or too high."""
        return (self.billed - self.predicted) / max(1, self.billed)

    @property
    def is_wrong(self) -> bool:
        return abs(self.billed - self.predicted) > WRONG_BY * self.billed


def compare(row: StoredAttempt) -> Compared | None:
    usage = row.settlement.usage if row.settlement else None
    if usage is None or row.attempt.predicted is None:
        return None
    return Compared(row.attempt.predicted, usage.prompt)


@dataclass(frozen=True, slots=True)
class Sums:
    """``cost`` is what is known; ``open`` may come on top of it, for ``unknown`` calls nobody has billed.

    ``priceless`` are calls to models whose price nobody knows: nothing can be said of their cost.
    """

    calls: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    cost: int = 0
    open: int = 0
    unknown: int = 0
    priceless: int = 0
    compared: int = 0
    wrong: int = 0


def add(rows: Iterable[StoredAttempt]) -> Sums:
    listed = list(rows)
    usages = [r.settlement.usage for r in listed if r.settlement and r.settlement.usage]
    costs = [r.settlement.cost if r.settlement else None for r in listed]
    known = [cost for cost in costs if cost is not None]
    comparisons = [found for r in listed if (found := compare(r)) is not None]
    open_rows = [r for r, cost in zip(listed, costs, strict=True) if cost is None]
    return Sums(
        calls=len(listed),
        prompt=sum(usage.prompt for usage in usages),
        cached=sum(usage.cached or 0 for usage in usages),
        completion=sum(usage.completion for usage in usages),
        cost=sum(known),
        open=held(open_rows),
        unknown=sum(r.attempt.reserved is not None for r in open_rows),
        priceless=sum(r.attempt.reserved is None for r in open_rows),
        compared=len(comparisons),
        wrong=sum(found.is_wrong for found in comparisons),
    )


Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Report:
    """``groups`` by day, model and category, in that order; ``total`` is of all of them."""

    groups: tuple[tuple[Key, Sums], ...]
    total: Sums


def report(rows: Sequence[StoredAttempt], day_of: Callable[[int], str]) -> Report:
    """The ledger added up; ``day_of`` names the day of a moment in milliseconds."""
    grouped: dict[Key, list[StoredAttempt]] = {}
    for row in rows:
        key = (day_of(row.started_ms), row.attempt.model, row.attempt.category)
        grouped.setdefault(key, []).append(row)
    return Report(tuple((key, add(grouped[key])) for key in sorted(grouped)), add(rows))
