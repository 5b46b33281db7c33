"""Money: every token billed once, nothing spent above a limit."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.certificate import Usage
from sill.core.cost import (
    DOLLAR,
    FREE,
    OverLimit,
    Price,
    PriceUnknown,
    Rates,
    Reserved,
    Spending,
    cost_of,
    dollars,
    rate,
    reserve,
    worst_case,
)

PLAIN = Price(Rates(rate(2), rate(8)), "test")
CACHING = Price(Rates(rate(2), rate(8), cached=rate("0.2"), cache_write=rate("2.5")), "test")
TIERED = Price(Rates(rate(1), rate(4)), "test", ((1000, Rates(rate(2), rate(8))),))


def micro(dollars: float) -> int:
    return round(dollars * 1000)


@pytest.mark.parametrize(
    "price, usage, millionths",
    [
        pytest.param(PLAIN, Usage(100, 10), 280, id="prompt and reply"),
        pytest.param(PLAIN, Usage(100, 10, cached=60), 280, id="no price for cached tokens"),
        pytest.param(CACHING, Usage(100, 10, cached=60), 172, id="cached tokens once"),
        pytest.param(CACHING, Usage(100, 10, 60, None, 40), 192, id="stored tokens once"),
        pytest.param(CACHING, Usage(100, 10, None, 9), 280, id="reasoning is part of the reply"),
        pytest.param(TIERED, Usage(1000, 10), 1040, id="below the tier"),
        pytest.param(TIERED, Usage(1001, 10), 2082, id="past it, for all tokens"),
        pytest.param(FREE, Usage(10**9, 10**9), 0, id="free"),
    ],
)
def test_a_usage_costs(price, usage, millionths):
    assert cost_of(usage, price) == micro(millionths)


def test_a_fraction_is_rounded_up():
    assert cost_of(Usage(1, 0), Price(Rates(1, 0), "test")) == 1


counts = st.integers(0, 3000)
rates = st.builds(Rates, counts, counts, st.none() | counts, st.none() | counts)
prices = st.builds(Price, rates, st.just("test"))


@st.composite
def usages(draw):
    prompt, completion = draw(counts), draw(counts)
    cached = draw(st.integers(0, prompt))
    written = draw(st.integers(0, prompt - cached))
    return Usage(prompt, completion, cached, draw(st.integers(0, completion)), written)


@given(usages(), prices, counts)
def test_no_usage_costs_more_than_the_worst_case(usage, price, spare):
    assert cost_of(usage, price) <= worst_case(usage.prompt, usage.completion + spare, price)


@pytest.mark.parametrize("written", ["0.15", 0.15, 3, "0.0375", 0])
def test_a_rate_is_exact(written):
    assert rate(written) == int(float(written) * 10**4) * DOLLAR // 10**4


@pytest.mark.parametrize("written", ["x", -1, "nan", "inf", None, ""])
def test_what_is_no_price_is_refused(written):
    with pytest.raises(ValueError, match="a price is a number"):
        rate(written)


CHAT, DAY = Spending("chat", 100, 60), Spending("day", 1000, 900)


@pytest.mark.parametrize(
    "worst, spendings, expected",
    [
        pytest.param(50, [], Reserved(50), id="no limits"),
        pytest.param(None, [], Reserved(None), id="no limits, no price"),
        pytest.param(None, [CHAT], PriceUnknown("m"), id="a limit and no price"),
        pytest.param(40, [CHAT], Reserved(40, ("chat",)), id="exactly to the limit"),
        pytest.param(41, [CHAT], OverLimit(CHAT, 41), id="past the limit"),
        pytest.param(20, [CHAT], Reserved(20), id="below the threshold"),
        pytest.param(20, [CHAT, DAY], Reserved(20, ("day",)), id="a warning"),
        pytest.param(101, [Spending("request", 100)], OverLimit(Spending("request", 100), 101), id="one call"),
    ],
)  # fmt: skip
def test_a_call_is_reserved_or_refused(worst, spendings, expected):
    assert reserve(worst, spendings, "m") == expected


def test_a_refusal_gives_the_numbers():
    over = OverLimit(Spending("day", 5 * DOLLAR, 4 * DOLLAR), 1_500_000_000)

    assert over.words == (
        "this call could cost $1.50; $4.00 of the $5.00 allowed per day is spent or reserved"
    )


@pytest.mark.parametrize(
    "amount, shown",
    [
        (None, "unknown"),
        (0, "$0.00"),
        (1, "under $0.000001"),
        (172_000, "$0.000172"),
        (25_000_000, "$0.025"),
        (1_234_567_890, "$1.23"),
    ],
)
def test_amounts_are_shown(amount, shown):
    assert dollars(amount) == shown


class Purse:
    """Settled and reserved amounts of one process, as a store keeps them."""

    def __init__(self, limit: int) -> None:
        self.limit, self.settled, self.open = limit, 0, {}
        self.most = 0

    def take(self, call: int, worst: int) -> bool:
        spending = Spending("day", self.limit, self.settled + sum(self.open.values()))
        if not isinstance(reserve(worst, [spending], "m"), Reserved):
            return False
        self.open[call] = worst
        return True

    def settle(self, call: int, cost: int | None) -> None:
        worst = self.open.pop(call)
        self.settled += (
            worst if cost is None else cost
        )  # a bill nobody sent is taken to be the worst
        self.most = max(self.most, self.settled)


async def concurrent_calls(chance: random.Random) -> Purse:
    """Calls that overlap at random; some are cut off and never say what they cost."""
    purse = Purse(limit=chance.randint(0, 40_000_000))

    async def call(number: int) -> None:
        prompt, reply = chance.randint(0, 2000), chance.randint(0, 500)
        for _ in range(chance.randint(0, 2)):
            await asyncio.sleep(0)
        if not purse.take(number, worst_case(prompt, reply, CACHING)):
            return
        for _ in range(chance.randint(0, 3)):
            await asyncio.sleep(0)
        used = Usage(prompt, chance.randint(0, reply), cached=chance.randint(0, prompt))
        purse.settle(number, chance.choice([cost_of(used, CACHING)] * 3 + [None]))

    await asyncio.gather(*(call(number) for number in range(chance.randint(1, 9))))
    return purse


@pytest.mark.slow
def test_five_thousand_runs_of_concurrent_calls_never_spend_above_the_limit():
    async def all_runs():
        return [await concurrent_calls(random.Random(seed)) for seed in range(5000)]

    purses = asyncio.run(all_runs())

    assert [purse for purse in purses if purse.most > purse.limit or purse.open] == []
    assert sum(purse.settled > 0 for purse in purses) > 2500
