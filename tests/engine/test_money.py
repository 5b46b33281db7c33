"""What calls cost and what they may: whole applications over real sockets, and the real store's ledger."""

import asyncio
from datetime import datetime

import pytest

from sill.core.budget import Profile
from sill.core.cost import DOLLAR, OverLimit, PriceUnknown, Spending
from sill.engine.chat import Chat
from sill.engine.events import Notice, Refused
from sill.engine.money import start_of_day
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.ports import Ended
from sill.testing import MemoryStore, ScriptedModel, WordCounter
from tests.models.fault_provider import FaultProvider, Reset

from .workspace import ask, endpoint, fallback, says

# A prompt token costs a dollar, a token of the reply ten: limits can be checked by eye.
PRICED = '[prices."first"]\nprompt = 1_000_000\ncompletion = 10_000_000\n'
REPLY = {"LLM_CHAT_REPLY": "10"}


def limited(provider: FaultProvider, **limits: float) -> str:
    return endpoint(provider) + "".join(f"limits.{k} = {v}\n" for k, v in limits.items()) + PRICED


def notices(events) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


async def prompt_of(app, text: str) -> int:
    """What the question costs at most, and its prompt tokens, which are dollars here."""
    [refused] = [e for e in await ask(app, text) if isinstance(e, Refused)]
    return refused.needed


# --- What was spent --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prices, prompt, cost",
    [
        pytest.param("", 100, 0, id="a model on this machine is free"),
        pytest.param("", None, 0, id="even if it says nothing about usage"),
        pytest.param(PRICED, 100, 120 * DOLLAR, id="the price of the settings"),
        pytest.param(PRICED, None, None, id="a bill that never came is not nothing"),
    ],
)
def test_the_cost_is_what_was_billed(workspace, prices, prompt, cost):
    async def run(provider):
        async with workspace.open(endpoint(provider) + prices) as app:
            finished = (await ask(app, "hi"))[-1]
            return finished.cost, await app.store.attempts()

    with FaultProvider(says("Hello", prompt=prompt)) as provider:
        told, [row] = asyncio.run(run(provider))

    assert (told, row.settlement.cost) == (cost, cost)
    assert (row.attempt.category, row.attempt.model) == ("main", "first")
    assert row.attempt.predicted is not None and row.settlement.outcome == "complete"


def test_a_price_nobody_knows_is_not_nothing(workspace, monkeypatch):
    async def run(proxy):
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        async with workspace.open('base_url = "http://elsewhere.example/v1"\n') as app:
            return (await ask(app, "hi"))[-1].cost, app.price

    with FaultProvider(says("Hello", prompt=100)) as proxy:
        cost, price = asyncio.run(run(proxy))

    assert (cost, price.startswith("unknown")) == (None, True)


def test_what_failed_before_is_part_of_the_cost(workspace):
    """The first endpoint broke off without a bill: nobody can say what the question cost."""

    async def run(first, second):
        toml = endpoint(first) + PRICED + fallback(f"{second.url}/v1", "second")
        async with workspace.open(toml) as app:
            return (await ask(app, "hi"))[-1]

    with FaultProvider([Reset()]) as first, FaultProvider(says("Hello", prompt=9)) as second:
        finished = asyncio.run(run(first, second))

    assert (finished.outcome, finished.cost) == ("complete", None)


# --- What may be spent -----------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["request", "chat", "day", "user"])
def test_a_call_that_could_cross_a_limit_is_refused_with_the_numbers(workspace, scope):
    async def run(provider):
        async with workspace.open(limited(provider, **{scope: 100}), **REPLY) as app:
            events = await ask(app, "hi")
            return events, await app.latest_chat(), await app.store.attempts()

    with FaultProvider(says("Hello")) as provider:
        [refused], chat, rows = asyncio.run(run(provider))

        worst = (refused.needed + 10 * 10) * DOLLAR
        assert refused.money == OverLimit(Spending(scope, 100 * DOLLAR), worst)
        assert f"could cost ${refused.needed + 100}.00" in refused.reason
        assert f"limits.{scope}" in refused.reason
        # Nothing was written, nothing was sent.
        assert (chat, rows, provider.seen) == (None, [], [])


def test_what_is_spent_leaves_less(workspace):
    """Room for two questions: the first is settled far below its worst case, so a third fits too."""

    async def run(provider):
        async with workspace.open(
            endpoint(provider) + "limits.request = 1\n" + PRICED, **REPLY
        ) as app:
            worst = await prompt_of(app, "hi") + 100
        async with workspace.open(limited(provider, day=worst + 100), **REPLY) as app:
            return [(await ask(app, "hi"))[-1] for _ in range(4)]

    with FaultProvider(says("Hello", prompt=30)) as provider:
        events = asyncio.run(run(provider))

    # Each costs 30 + 2 * 10 = 50: the third one is the last that fits.
    assert [event.cost for event in events[:3]] == [50 * DOLLAR] * 3
    assert isinstance(events[3], Refused) and events[3].money.spending.spent == 150 * DOLLAR


def test_a_limit_per_chat_is_per_chat(workspace):
    async def run(provider):
        async with workspace.open(
            endpoint(provider) + "limits.request = 1\n" + PRICED, **REPLY
        ) as app:
            worst = await prompt_of(app, "hi") + 100
        async with workspace.open(limited(provider, chat=worst + 10), **REPLY) as app:
            first = (await ask(app, "hi"))[-1]
            again = (await ask(app, "hi", first.chat))[-1]
            other = (await ask(app, "hi"))[-1]
            return first, again, other, len(await app.store.turns(first.chat))

    with FaultProvider(says("Hello", prompt=30)) as provider:
        first, again, other, turns = asyncio.run(run(provider))

    assert [type(e).__name__ for e in (first, again, other)] == ["Finished", "Refused", "Finished"]
    assert turns == 1


def test_a_limit_that_comes_near_is_told_once(workspace):
    async def run(provider):
        async with workspace.open(
            endpoint(provider) + "limits.request = 1\n" + PRICED, **REPLY
        ) as app:
            worst = await prompt_of(app, "hi") + 100
        async with workspace.open(limited(provider, day=1.2 * worst), **REPLY) as app:
            return worst, [notices(await ask(app, "hi")) for _ in range(2)]

    with FaultProvider(says("Hello", prompt=1, completion=0)) as provider:
        worst, [first, second] = asyncio.run(run(provider))

    [warning] = [text for text in first if "allowed per day" in text]
    assert f"${worst}.00 of the ${1.2 * worst:.2f}" in warning
    assert [text for text in second if "allowed per day" in text] == []


@pytest.mark.parametrize("allowed", [False, True])
def test_where_the_price_is_unknown_a_limit_refuses_unless_told_otherwise(
    workspace, monkeypatch, allowed
):
    async def run(proxy):
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        toml = 'base_url = "http://elsewhere.example/v1"\nlimits.day = 5\n'
        toml += 'limits.unknown_price = "allow"\n' if allowed else ""
        async with workspace.open(toml) as app:
            return await ask(app, "hi"), await app.store.attempts()

    with FaultProvider(says("Hello")) as proxy:
        events, rows = asyncio.run(run(proxy))

        assert len(proxy.seen) == len(rows) == allowed
        if not allowed:
            assert events[-1].money == PriceUnknown("first")
            assert "price of 'first' is not known" in events[-1].reason


def test_a_limit_does_not_stop_what_costs_nothing(workspace):
    async def run(provider):
        async with workspace.open(endpoint(provider) + PRICED) as app:
            spent = (await ask(app, "hi"))[-1].cost
        async with workspace.open(endpoint(provider) + "limits.day = 0\n") as app:
            return spent, (await ask(app, "hi"))[-1].outcome

    with FaultProvider(says("Hello", prompt=100)) as provider:
        assert asyncio.run(run(provider)) == (120 * DOLLAR, "complete")


def test_the_day_begins_at_midnight():
    assert start_of_day(datetime(2026, 3, 1, 23, 59)) == round(
        datetime(2026, 3, 1).timestamp() * 1000
    )


def test_a_scripted_chat_without_a_till_books_nothing():
    """The engine's own fakes need no money."""
    counter = WordCounter()
    chat = Chat(
        MemoryStore(),
        ScriptedModel(["Hello", Ended("complete", "stop", None)]),
        counter,
        Sizer(counter, counter.count, "folded"),
        Call("m", Profile(window=400, reply=40), 400, "be kind"),
        "w",
    )

    async def run():
        return [e async for e in chat.ask(None, Question("hi"))][-1], await chat.store.attempts()

    finished, rows = asyncio.run(run())

    assert (finished.outcome, finished.cost, rows) == ("complete", None, [])
