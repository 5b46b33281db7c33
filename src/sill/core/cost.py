"""What a call costs: the most it can before it is made, what it did afterwards.

Amounts are whole billionths of a dollar, so that sums are exact. None is unknown, not nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Literal

from .certificate import Usage

DOLLAR = 1_000_000_000
_MILLION = 1_000_000

Scope = Literal["request", "chat", "day", "user"]


@dataclass(frozen=True, slots=True)
class Rates:
    """Amounts per million tokens. Where ``cached`` or ``cache_write`` is None, the prompt's rate holds."""

    prompt: int
    completion: int
    cached: int | None = None
    cache_write: int | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """``source`` says who told. ``tiers`` are (from so many prompt tokens on, rates for all tokens), rising."""

    rates: Rates
    source: str
    tiers: tuple[tuple[int, Rates], ...] = ()

    def at(self, prompt: int) -> Rates:
        """The rates for a request with a prompt of this size."""
        rates = self.rates
        for start, tier in self.tiers:
            if prompt > start:
                rates = tier
        return rates


FREE = Price(Rates(0, 0), "runs on this machine")


def rate(dollars_per_million: object) -> int:
    """Dollars per million tokens, as a number or text, as a rate. ``ValueError`` if it is none."""
    try:
        value = Decimal(str(dollars_per_million))
    except InvalidOperation:
        raise ValueError("a price is a number of dollars per million tokens") from None
    if not value.is_finite() or value < 0:
        raise ValueError("a price is a number of dollars per million tokens, not below 0")
    return int((value * DOLLAR).to_integral_value(ROUND_CEILING))


def cost_of(usage: Usage, price: Price) -> int:
    """What this usage was billed, every token once; fractions are rounded up."""
    rates = price.at(usage.prompt)
    cached, written = usage.cached or 0, usage.cache_write or 0
    total = (
        (usage.prompt - cached - written) * rates.prompt
        + cached * _or(rates.cached, rates.prompt)
        + written * _or(rates.cache_write, rates.prompt)
        + usage.completion * rates.completion  # thoughts are part of it
    )
    return _per_million(total)


def worst_case(prompt: int, reply: int, price: Price) -> int:
    """The most a call can cost: nothing of the prompt cached, all of it stored, the whole reply used."""
    rates = price.at(prompt)
    dearest = max(rates.prompt, _or(rates.cached, 0), _or(rates.cache_write, 0))
    return _per_million(prompt * dearest + reply * rates.completion)


@dataclass(frozen=True, slots=True)
class Spending:
    """What has gone against one limit so far; calls in flight count with their worst case."""

    scope: Scope
    limit: int
    spent: int = 0


@dataclass(frozen=True, slots=True)
class Reserved:
    """Go ahead. ``warnings`` name the limits that this call could bring past the threshold."""

    amount: int | None
    warnings: tuple[Scope, ...] = ()


@dataclass(frozen=True, slots=True)
class OverLimit:
    spending: Spending
    wanted: int

    @property
    def words(self) -> str:
        limit, spent = dollars(self.spending.limit), dollars(self.spending.spent)
        return (
            f"this call could cost {dollars(self.wanted)}; {spent} of the {limit}"
            f" allowed per {self.spending.scope} is spent or reserved"
        )


@dataclass(frozen=True, slots=True)
class PriceUnknown:
    """There is a limit, and nobody knows whether this call would cross it."""

    model: str

    @property
    def words(self) -> str:
        return (
            f"the price of {self.model!r} is not known, so the spending limit cannot be kept;"
            " set its price in the settings, or remove the limit"
        )


def reserve(
    worst: int | None, spendings: Sequence[Spending], model: str, warn_at: float = 0.8
) -> Reserved | OverLimit | PriceUnknown:
    """Whether a call that may cost ``worst`` can be made. Without limits every call can."""
    if not spendings:
        return Reserved(worst)
    if worst is None:
        return PriceUnknown(model)
    for spending in spendings:
        if spending.spent + worst > spending.limit:
            return OverLimit(spending, worst)
    warnings = (one.scope for one in spendings if one.spent + worst > warn_at * one.limit)
    return Reserved(worst, tuple(warnings))


def dollars(amount: int | None) -> str:
    """For people: cents where they matter, more digits below a cent."""
    if amount is None:
        return "unknown"
    value = Decimal(amount) / DOLLAR
    if amount == 0 or value >= Decimal("0.1"):
        return f"${value:.2f}"
    if value < Decimal("0.000001"):
        return "under $0.000001"
    return f"${value:.6f}".rstrip("0")


def _or(value: int | None, other: int) -> int:
    return other if value is None else value


def _per_million(total: int) -> int:
    return -(-total // _MILLION)
