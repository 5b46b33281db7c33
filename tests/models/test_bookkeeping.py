"""Requests the provider saw and rows in the ledger are the same, whatever went wrong."""

import asyncio
import random

import pytest

from sill.adapters.models.bookkeeping import keep_books
from sill.adapters.models.openai import OpenAIModel
from sill.adapters.models.retry import Clocks, RetryPolicy
from sill.core.certificate import Usage
from sill.core.cost import Price, Rates, rate
from sill.core.request import ChatRequest, WireMessage
from sill.errors import LimitReached, ProviderError
from sill.records import Attempt, Cap, Settlement
from sill.testing import MemoryStore

from .fault_provider import (
    CHUNKED,
    DONE,
    FaultProvider,
    Reset,
    answer,
    chunked,
    finished,
    head,
    ok,
    said,
)

REQUEST = ChatRequest("m", (WireMessage("user", "hi"),), max_tokens=9)
PRICE = Price(Rates(rate(1), rate(10)), "test")
CALL = Attempt("main", "m", "e", "c", "t", predicted=5, reserved=100_000)
AT_ONCE = RetryPolicy(base=0.001, longest=0.002)
SLOW = Clocks(connect=10, first=30, idle=30, total=60)


async def ask(
    url: str, store: MemoryStore, call: Attempt = CALL, caps: tuple[Cap, ...] = ()
) -> str:
    model = OpenAIModel(url, "m", clocks=SLOW, retries=AT_ONCE)
    try:
        stream = model.reporting_to(keep_books(store, call, PRICE, caps)).stream(REQUEST)
        return [event async for event in stream][-1].outcome
    except ProviderError as error:
        return type(error).__name__


def settlements(store: MemoryStore) -> list[Settlement | None]:
    return [row.settlement for row in asyncio.run(store.attempts())]


COST = 5 * 1000 + 2 * 10_000

ROWS = [
    pytest.param([ok("x")], [Settlement("complete", 200, Usage(5, 2), COST)], id="billed"),
    pytest.param(
        [answer(500, b""), ok("x")],
        [Settlement("server", 500, None, 0), Settlement("complete", 200, Usage(5, 2), COST)],
        id="a refusal costs nothing",
    ),
    pytest.param(
        [[CHUNKED, chunked(said("x"))]],
        [Settlement("partial", 200, None, None)],
        id="a cut reply costs nobody knows what",
    ),
    pytest.param([[Reset()]], [Settlement("broken", None, None, None)], id="reset"),
]


@pytest.mark.parametrize("scripts, rows", ROWS)
def test_every_attempt_is_settled(scripts, rows):
    store = MemoryStore()
    with FaultProvider(*scripts) as provider:
        asyncio.run(ask(provider.url, store))

    assert settlements(store) == rows


def test_nobody_there_costs_nothing():
    store = MemoryStore()
    asyncio.run(ask("http://127.0.0.1:1", store))

    assert settlements(store) == [Settlement("unreachable", None, None, 0)] * 3


def test_the_row_is_written_before_the_request_is_sent():
    class Broken(MemoryStore):
        async def open_attempt(self, attempt, caps=()):
            raise OSError("disk full")

    with FaultProvider(ok("x")) as provider, pytest.raises(OSError, match="disk full"):
        asyncio.run(ask(provider.url, Broken()))

    assert provider.seen == []


@pytest.mark.parametrize(
    "reserved, wanted",
    [pytest.param(100_001, 100_001, id="too dear"), pytest.param(None, None, id="price unknown")],
)
def test_a_call_that_could_cross_a_cap_is_never_sent(reserved, wanted):
    call = Attempt("main", "m", "e", "c", "t", reserved=reserved)
    with FaultProvider(ok("x")) as provider, pytest.raises(LimitReached) as caught:
        asyncio.run(ask(provider.url, MemoryStore(), call, (Cap(100_000),)))

    assert provider.seen == []
    assert (caught.value.limit, caught.value.wanted) == (100_000, wanted)


SCRIPTS = [
    ok("x"),
    answer(429, {"error": {"message": "slow down"}}),
    answer(500, b""),
    answer(503, b"<html>"),
    answer(400, {"error": {"message": "no"}}),
    answer(200, {"error": {"message": "no"}}),
    [Reset()],
    [],
    [CHUNKED, chunked(said("x"))],
    [head() + said("x") + DONE],
    [head() + said("x") + finished("length")],
]


@pytest.mark.slow
def test_over_five_hundred_faults_the_ledger_holds_exactly_what_the_provider_saw():
    chance = random.Random(6)
    scripts = [chance.choice(SCRIPTS) for _ in range(500)] + [SCRIPTS[0]]
    store = MemoryStore()

    async def many(url: str, provider: FaultProvider) -> list[str]:
        outcomes: list[str] = []
        while len(provider.seen) < 500:
            outcomes += await asyncio.gather(*(ask(url, store) for _ in range(5)))
        return outcomes

    with FaultProvider(*scripts) as provider:
        outcomes = asyncio.run(many(provider.url, provider))

    rows = settlements(store)
    assert len(rows) == len(provider.seen) >= 500
    assert None not in rows
    assert outcomes.count("complete") == [row.outcome for row in rows].count("complete") > 0
