"""Many calls at once: no limit is crossed, and the ledger holds what the provider saw."""

import asyncio
import random

import pytest

from sill.adapters.models.bookkeeping import keep_books
from sill.adapters.models.openai import OpenAIModel
from sill.adapters.models.retry import Clocks, RetryPolicy
from sill.adapters.store import open_store
from sill.core.budget import Profile
from sill.core.cost import DOLLAR, Price, Rates, rate
from sill.engine.chat import Chat
from sill.engine.events import Refused, Started
from sill.engine.money import Limits, Purse, Till
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.records import Attempt, Cap, OverCap, Settlement
from sill.testing import WordCounter
from tests.models.fault_provider import FaultProvider
from tests.models.test_bookkeeping import SCRIPTS

from .workspace import says

PRICE = Price(Rates(rate(1_000_000), rate(1_000_000)), "test")


def chat_over(store, model: OpenAIModel, limits: Limits) -> Chat:
    counter = WordCounter()

    def booked(attempt, caps):
        return model.reporting_to(keep_books(store, attempt, PRICE, caps))

    return Chat(
        store,
        model,
        counter,
        Sizer(counter, counter.count, "folded"),
        Call("m", Profile(window=400, reply=40, temperature=0.0), 400, "be kind"),
        "w",
        till=Till(Purse(store, limits), PRICE, booked),
    )


SLOW = Clocks(connect=10, first=30, idle=30, total=60)
AT_ONCE = RetryPolicy(base=0.001, longest=0.002)


def test_two_that_looked_at_once_cannot_both_have_the_last_dollar(tmp_path):
    """Both see that there is room; the reservation lets one of them through."""

    async def run(url):
        store = await open_store(tmp_path / "sill.db")
        model = OpenAIModel(url, "m", clocks=SLOW, retries=AT_ONCE)
        chats = [chat_over(store, model, Limits(day=60 * DOLLAR)) for _ in range(2)]
        streams = [chat.ask(None, Question("hi")) for chat in chats]
        started = [await anext(stream) for stream in streams]
        ends = [[event async for event in stream][-1] for stream in streams]
        chats = await store.chats()
        spent = await store.attempts()
        await store.close()
        return started, ends, chats, spent

    # The worst case is 7 prompt tokens and 40 of the reply; the bill never comes, so it stands.
    with FaultProvider(says("Hello")) as provider:
        started, [finished, refused], chats, rows = asyncio.run(run(provider.url))

        assert all(isinstance(event, Started) for event in started)
        assert (finished.outcome, isinstance(refused, Refused)) == ("complete", True)
        assert "$60.00 allowed is spent or reserved" in refused.reason
        # The one that came too late left nothing, not even its new chat.
        assert [chat.id for chat in chats] == [finished.chat]
        assert len(provider.seen) == len(rows) == 1


@pytest.mark.slow
def test_five_thousand_random_runs_never_spend_more_than_the_cap(tmp_path):
    """Calls of random size race for a random cap through the real store, in part from two connections."""
    chance = random.Random(7)

    async def one(store, call: Attempt, caps, cost: int | None) -> bool:
        id = await store.open_attempt(call, caps)
        if isinstance(id, OverCap):
            return False
        await asyncio.sleep(0)
        await store.settle_attempt(id, Settlement("complete", 200, None, cost))
        return True

    async def run_once(stores, number: int) -> tuple[int, int, int]:
        limit, chat = chance.randrange(1, 1_000), f"chat-{number}"
        calls = []
        for _ in range(chance.randrange(2, 5)):
            reserved = chance.randrange(1, 1_000)
            # A bill is at most the worst case; sometimes it never comes and the reservation stands.
            cost = chance.choice([0, reserved // 3, reserved, None])
            call = Attempt("main", "m", "e", chat, f"turn-{number}", 1, reserved)
            calls.append(one(chance.choice(stores), call, (Cap(limit, chat=chat),), cost))
        made = await asyncio.gather(*calls)
        return limit, sum(made), len(made)

    async def run():
        place = tmp_path / "sill.db"
        opened = [await open_store(place), await open_store(place)]
        results, rows = [], []
        for start in range(0, 5_000, 50):
            # Of many users, so that no ledger grows long.
            stores = [store.as_owner(f"user-{start}") for store in opened]
            if start % 500:
                stores = stores[:1]  # two connections wait for each other longer than they work
            results += await asyncio.gather(
                *(run_once(stores, number) for number in range(start, start + 50))
            )
            rows += await stores[0].attempts()
        for store in opened:
            await store.close()
        return results, rows

    results, rows = asyncio.run(run())

    spent: dict[str, int] = {}
    for row in rows:
        cost = row.attempt.reserved if row.settlement.cost is None else row.settlement.cost
        spent[row.attempt.chat] = spent.get(row.attempt.chat, 0) + cost
    over = [n for n, (limit, _, _) in enumerate(results) if spent.get(f"chat-{n}", 0) > limit]
    assert over == []
    assert len(rows) == sum(made for _, made, _ in results)
    # The races were real ones: many calls went through and many were turned away.
    assert 3_000 < len(rows) < sum(tried for _, _, tried in results) - 3_000


@pytest.mark.slow
def test_through_the_engine_the_ledger_holds_exactly_what_the_provider_saw(tmp_path):
    chance = random.Random(8)
    scripts = [chance.choice(SCRIPTS) for _ in range(200)] + [SCRIPTS[0]]

    async def many(provider):
        store = await open_store(tmp_path / "sill.db")
        model = OpenAIModel(provider.url, "m", clocks=SLOW, retries=AT_ONCE)
        chat, ends = chat_over(store, model, Limits()), []

        async def one():
            return [event async for event in chat.ask(None, Question("hi"))][-1]

        while len(provider.seen) < 200:
            ends += await asyncio.gather(*(one() for _ in range(4)))
        rows = await store.attempts()
        turns = {end.turn for end in ends}
        await store.close()
        return ends, rows, turns

    with FaultProvider(*scripts) as provider:
        ends, rows, turns = asyncio.run(many(provider))

        assert len(rows) == len(provider.seen) >= 200
    assert all(row.settlement is not None for row in rows)
    assert {row.attempt.turn for row in rows} == turns
    complete = [row for row in rows if row.settlement.outcome == "complete"]
    assert sum(end.outcome == "complete" for end in ends) == len(complete) > 0
