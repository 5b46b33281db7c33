"""What calls cost and what they may: whole applications over real sockets, and the real store's ledger."""

import asyncio
import json
import logging
import random
from datetime import datetime

import pytest
from click.testing import CliRunner

from sill.adapters.models.bookkeeping import keep_books
from sill.adapters.models.openai import OpenAIModel
from sill.adapters.models.retry import Clocks, RetryPolicy
from sill.adapters.store import open_store
from sill.cli.main import cli
from sill.core.budget import Profile
from sill.core.cost import DOLLAR, OverLimit, Price, PriceUnknown, Rates, Spending, rate
from sill.engine.chat import Chat
from sill.engine.events import Notice, Refused, Started
from sill.engine.money import Limits, Purse, Till, start_of_day
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.ports import Ended
from sill.records import Attempt, Cap, OverCap, Settlement
from sill.testing import MemoryStore, ScriptedModel, WordCounter
from tests.models.fault_provider import FaultProvider, Reset, answer
from tests.models.test_bookkeeping import SCRIPTS
from tests.models.test_ollama import LINES, done
from tests.models.test_ollama import says as ollama_says

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


# --- Many at once ----------------------------------------------------------------------------------

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
        turns = [(await store.turns(event.chat))[0] for event in started]
        spent = await store.attempts()
        await store.close()
        return started, ends, turns, spent

    # The worst case is 7 prompt tokens and 40 of the reply; the bill never comes, so it stands.
    with FaultProvider(says("Hello")) as provider:
        started, ends, turns, rows = asyncio.run(run(provider.url))

        assert all(isinstance(event, Started) for event in started)
        assert [(e.outcome, t.status) for e, t in zip(ends, turns, strict=True)] == [
            ("complete", "complete"),
            ("refused", "failed"),
        ]
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


# --- A window learned ------------------------------------------------------------------------------

OVERFLOW = {
    "error": {
        "code": 400,
        "message": "request (900 tokens) exceeds the available context size (1024 tokens)",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 900,
        "n_ctx": 1024,
    }
}


def test_a_window_learned_from_a_refusal_holds_and_is_shown(workspace):
    async def run(provider):
        async with workspace.open(endpoint(provider)) as app:
            before = app.description
            first = await ask(app, "hi")
            second = await ask(app, "hi again", first[-1].chat)
            return before, first, second, app.description, app.connection.window_source

    with FaultProvider(answer(400, OVERFLOW), says("Hello")) as provider:
        before, first, second, after, source = asyncio.run(run(provider))

        assert ("4,096" in before, "1,024" in after, "learned" in source) == (True, True, True)
        assert notices(first) == [
            "the endpoint's window is 1,024 tokens; planned for that from now on"
        ]
        assert [e[-1].outcome for e in (first, second)] == ["complete", "complete"]
        assert notices(second) == []
        assert len(provider.seen) == 3


def test_a_count_that_fell_short_is_corrected_once(workspace):
    said = {"error": {"code": "context_length_exceeded", "message": "x"}}
    said["error"]["message"] = (
        "This model's maximum context length is 4096 tokens."
        " However, your messages resulted in 4200 tokens."
    )

    async def run(provider):
        async with workspace.open(endpoint(provider)) as app:
            return await ask(app, "hi"), app.chat.call.shortfall

    with FaultProvider(answer(400, said)) as provider:
        events, shortfall = asyncio.run(run(provider))

        assert "the endpoint counts 4,200 tokens" in notices(events)[0]
        assert len(provider.seen) <= 2  # one more try, and no third
        assert shortfall > 1


# --- Ollama ----------------------------------------------------------------------------------------


def test_ollama_is_asked_by_its_own_api_and_the_exact_bytes_are_kept(workspace):
    routes = {
        "/v1/models": answer(200, {"object": "list", "data": [{"id": "first", "owned_by": "library"}]}),
        "/api/show": answer(200, {"model_info": {"qwen3.context_length": 8192}, "parameters": "num_ctx 2048"}),
        "/api/ps": answer(200, {"models": []}),
        "/api/version": answer(200, {"version": "0.9.0"}),
        "/api/chat": [LINES + ollama_says("Hello") + done()],
    }  # fmt: skip

    async def run(provider):
        async with workspace.open(endpoint(provider), SILL_PROBE="true") as app:
            events = await ask(app, "hi")
            return events, await app.store.turn(events[-1].turn), app.connection.server

    with FaultProvider(answer(404, b"404 page not found"), routes=routes) as provider:
        events, stored, server = asyncio.run(run(provider))

        [sent] = [seen for seen in provider.seen if seen.path == "/api/chat"]
    body = json.loads(sent.body)
    assert (server, events[-1].text, events[-1].cost) == ("ollama", "Hello", 0)
    assert sent.body == stored.request
    assert (body["truncate"], body["shift"], body["options"]["num_ctx"]) == (False, False, 2048)


# --- Keys ------------------------------------------------------------------------------------------

CANARY = "sk-canary-6f1d3c5b7a"


def test_no_key_ever_comes_to_rest_anywhere(workspace, monkeypatch, caplog):
    """A whole chat with failures, a failover and reports: the keys are in the requests' heads and nowhere else."""
    caplog.set_level(logging.DEBUG)
    echo = answer(401, {"error": {"message": f"bad key {CANARY}-one"}})

    async def run(first, second):
        toml = endpoint(first) + fallback(f"{second.url}/v1", "second", 'api_key_env = "SECOND"')
        keys = {"OPENAI_API_KEY": f"{CANARY}-one", "SECOND": f"{CANARY}-two"}
        async with workspace.open(toml, **keys) as app:
            events, chat = [], None
            for _ in range(4):
                events += await ask(app, "hi", chat)
                chat = events[-1].chat
                app.failover._stuck.clear()
            shown = [app.description, app.price, app.fallbacks, app.connection, app, app.chat.model]
            copied = await app.store.copy_chat(chat)
            return events, shown, copied

    with (
        FaultProvider(says("Hello"), [Reset()], echo) as first,
        FaultProvider(says("Hello")) as second,
    ):
        events, shown, copied = asyncio.run(run(first, second))

        carried = {seen.headers["authorization"] for seen in [*first.seen, *second.seen]}
    assert carried == {f"Bearer {CANARY}-one", f"Bearer {CANARY}-two"}
    kept = b"".join(file.read_bytes() for file in workspace.folder.glob("sill.db*"))
    assert len(kept) > 10_000 and CANARY.encode() not in kept
    for name, value in {
        "SILL_DATABASE_URL": str(workspace.database),
        "OPENAI_API_KEY": f"{CANARY}-one",
        "SECOND": f"{CANARY}-two",
        "SILL_PROBE": "false",
        "SILL_MODEL": "first",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(workspace.folder)
    said = [
        CliRunner().invoke(cli, arguments)
        for arguments in (
            ["cost", "--detail", "--json"],
            ["explain", "--json"],
            ["explain", "--bytes"],
            ["doctor", "--json", "--base-url", "http://127.0.0.1:1"],
            ["ask", "hi", "--json", "--base-url", "http://127.0.0.1:1"],
        )
    ]
    everything = [events, shown, copied, caplog.text, workspace.told, *(r.output for r in said)]
    assert all(result.output for result in said)
    assert CANARY not in repr(everything)


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
