"""Another endpoint answers when one does not: whole applications over real sockets."""

import asyncio
import json
from functools import partial

import pytest

from sill.core.budget import Profile
from sill.engine.chat import Chat
from sill.engine.events import Delta, Finished, Notice, Started, Thought
from sill.engine.failover import Failover, Place
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.errors import Unreachable
from sill.ports import ReasoningDelta
from sill.testing import MemoryStore, ScriptedModel, WordCounter
from tests.models.fault_provider import (
    CHUNKED,
    FaultProvider,
    Hang,
    Reset,
    answer,
    chunked,
    said,
)

from .workspace import ask, endpoint, fallback, says


def kinds(events) -> list[str]:
    return [type(event).__name__ for event in events]


def notices(events) -> str:
    return "\n".join(event.text for event in events if isinstance(event, Notice))


def both(first: FaultProvider, second: FaultProvider, more: str = "") -> str:
    return endpoint(first) + fallback(f"{second.url}/v1", "second", more)


FAILURES = [
    pytest.param([Reset()], id="connection reset"),
    pytest.param([], id="closed without a word"),
    pytest.param(answer(429, {"error": "slow"}, retry_after="500"), id="rate limited for long"),
    pytest.param(answer(402, {"error": {"message": "no credit"}}), id="quota used up"),
    pytest.param(answer(507, {"error": {"message": "sorry"}}), id="fails by itself"),
    pytest.param(answer(200, {"error": {"message": "sorry"}}), id="fails with status 200"),
]


@pytest.mark.parametrize("script", FAILURES)
def test_the_next_endpoint_answers_and_everything_names_it(workspace, script):
    async def run(first, second):
        async with workspace.open(both(first, second)) as app:
            events = await ask(app, "hi there")
            turns = await app.store.turns(events[-1].chat)
            ledger = [(row.attempt.model, row.attempt.turn) for row in await app.store.attempts()]
            stored = await app.store.turn(turns[-1].id)
            return events, turns, ledger, stored, app.model_name

    with FaultProvider(script) as first, FaultProvider(says("Hello")) as second:
        events, turns, ledger, stored, name = asyncio.run(run(first, second))

        assert kinds(events) == ["Started", "Notice", "Notice", "Started", "Delta", "Finished"]
        assert (events[-1].outcome, events[-1].model, name) == ("complete", "second", "second")
        assert events[-1].endpoint == turns[-1].endpoint == f"{second.url}/v1"
        # The question stands in the chat once; the ledger has both calls.
        assert [(turn.status, turn.model) for turn in turns] == [("complete", "second")]
        started = [event.turn for event in events if isinstance(event, Started)]
        assert ledger == [("first", started[0]), ("second", turns[0].id)]
        assert [len(first.seen), len(second.seen)] == [1, 1]
        # What was sent there is what was planned for it, and what is kept.
        assert second.seen[0].body == stored.request
        assert json.loads(stored.request)["model"] == "second"


REFUSALS = [
    pytest.param(answer(401, {"error": "bad key"}), id="the key is refused"),
    pytest.param(
        answer(404, {"error": {"code": "model_not_found", "message": "x"}}), id="no model"
    ),
    pytest.param(answer(400, {"error": {"message": "bad parameter"}}), id="a bad request"),
    pytest.param([CHUNKED, chunked(said("Hel"))], id="after the first word"),
]


@pytest.mark.parametrize("script", REFUSALS)
def test_what_another_endpoint_cannot_mend_stays_where_it_is(workspace, script):
    async def run(first, second):
        async with workspace.open(both(first, second)) as app:
            return await ask(app, "hi")

    with FaultProvider(script) as first, FaultProvider(says("Hello")) as second:
        events = asyncio.run(run(first, second))

        assert (events[-1].outcome in ("failed", "partial"), events[-1].model) == (True, "first")
        assert second.seen == []


def test_a_chat_stays_with_the_fallback_for_ten_minutes(workspace):
    async def run(first, second):
        async with workspace.open(both(first, second)) as app:
            chat, asked = None, []
            for now in (0.0, 300.0, 599.0, 601.0):
                app.failover.clock = partial(float, now)
                events = await ask(app, "hi", chat)
                chat = events[-1].chat
                asked.append((events[-1].model, len(first.seen), len(second.seen)))
            return asked

    with FaultProvider([Reset()], says("back")) as first, FaultProvider(says("Hello")) as second:
        assert asyncio.run(run(first, second)) == [
            ("second", 1, 1),
            ("second", 1, 2),
            ("second", 1, 3),
            ("first", 2, 3),
        ]


def test_an_open_breaker_spares_other_chats_the_wait(workspace):
    async def run(first, second):
        async with workspace.open(both(first, second)) as app:
            seen = []
            for now in (0.0, 10.0, 20.0, 99.0, 101.0):
                app.failover.clock = partial(float, now)
                await ask(app, "a new chat")
                seen.append(len(first.seen))
            return seen

    with FaultProvider([Reset()]) as first, FaultProvider(says("Hello")) as second:
        # Two failures open it at 10 s; nobody goes there until 100 s.
        assert asyncio.run(run(first, second)) == [1, 2, 2, 2, 3]


def test_without_fallbacks_the_only_endpoint_is_asked_every_time(workspace):
    async def run(first):
        async with workspace.open(endpoint(first)) as app:
            return [(await ask(app, "hi"))[-1].outcome for _ in range(4)]

    with FaultProvider([Reset()]) as first:
        assert asyncio.run(run(first)) == ["failed"] * 4
        assert len(first.seen) == 4


def test_the_question_is_planned_anew_for_the_fallbacks_window(workspace):
    async def run(first, second):
        toml = endpoint(first) + fallback(f"{second.url}/v1", "second").replace("4096", "700")
        async with workspace.open(toml) as app:
            chat = (await ask(app, "word " * 600))[-1].chat
            return await ask(app, "and now?", chat), app.chat.call.budget.room

    with FaultProvider(says("fine"), [Reset()]) as first, FaultProvider(says("Hello")) as second:
        events, room = asyncio.run(run(first, second))

    started = [event for event in events if isinstance(event, Started)]
    fates = [[i.fate for i in s.plan.items if i.kind == "turn"] for s in started]
    assert fates == [["kept"], ["evicted"]]
    assert started[1].certificate.predicted <= room < started[0].certificate.predicted
    assert events[-1].outcome == "complete"


def test_a_question_too_long_for_the_fallback_fails_as_it_did_first(workspace):
    async def run(first, second):
        toml = endpoint(first) + fallback(f"{second.url}/v1", "second").replace("4096", "700")
        async with workspace.open(toml) as app:
            return await ask(app, "word " * 900)

    with FaultProvider([Reset()]) as first, FaultProvider(says("Hello")) as second:
        events = asyncio.run(run(first, second))

        assert (events[-1].outcome, events[-1].model) == ("failed", "first")
        assert "tokens needed" in notices(events)
        assert second.seen == []


REMOTE = "http://elsewhere.example/v1"  # reached through a proxy, which is the scripted provider


@pytest.mark.parametrize("consent", ["", "remote_fallback = false\n"])
def test_text_does_not_leave_the_machine_without_consent(workspace, monkeypatch, consent):
    async def run(first, proxy):
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        async with workspace.open(consent + endpoint(first) + fallback(REMOTE, "far")) as app:
            return await ask(app, "hi"), app.fallbacks

    with FaultProvider([Reset()]) as first, FaultProvider(says("Hello")) as proxy:
        events, [(name, barred)] = asyncio.run(run(first, proxy))

        assert (events[-1].outcome, proxy.seen) == ("failed", [])
        assert f"far at {REMOTE} is not asked instead: it is not on this machine" in notices(events)
        assert "remote_fallback = true" in notices(events)
        assert (name, bool(barred)) == (f"far at {REMOTE}", True)


def test_with_consent_it_does(workspace, monkeypatch):
    async def run(first, proxy):
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        toml = "remote_fallback = true\n" + endpoint(first) + fallback(REMOTE, "far")
        async with workspace.open(toml) as app:
            return await ask(app, "hi")

    with FaultProvider([Reset()]) as first, FaultProvider(says("Hello")) as proxy:
        events = asyncio.run(run(first, proxy))

        assert (events[-1].outcome, events[-1].model) == ("complete", "far")
        assert [seen.path for seen in proxy.seen] == [f"{REMOTE}/chat/completions"]


def test_from_one_remote_endpoint_to_another_needs_no_consent(workspace, monkeypatch):
    async def run(proxy):
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        own = 'base_url = "http://nearer.example/v1"\n'
        async with workspace.open(own + fallback(REMOTE, "far")) as app:
            return await ask(app, "hi")

    with FaultProvider([Reset()], says("Hello")) as proxy:
        assert asyncio.run(run(proxy))[-1].model == "far"


def test_a_fallback_whose_key_is_missing_says_so(workspace):
    async def run(first, second):
        async with workspace.open(both(first, second, 'api_key_env = "NO_SUCH_KEY"')) as app:
            return await ask(app, "hi")

    with FaultProvider([Reset()]) as first, FaultProvider(says("Hello")) as second:
        events = asyncio.run(run(first, second))

        assert "its key should be in NO_SUCH_KEY" in notices(events)
        assert second.seen == []


def test_each_endpoint_gets_its_own_key(workspace):
    async def run(first, second):
        toml = 'api_key = "sk-first"\n' + both(first, second, 'api_key_env = "SECOND"')
        async with workspace.open(toml, SECOND="sk-second") as app:
            await ask(app, "hi")

    with FaultProvider([Reset()]) as first, FaultProvider(says("Hello")) as second:
        asyncio.run(run(first, second))

        keys = [provider.seen[0].headers["authorization"] for provider in (first, second)]
        assert keys == ["Bearer sk-first", "Bearer sk-second"]


def test_when_nobody_answers_the_first_failure_is_told(workspace):
    async def run(first, second):
        async with workspace.open(both(first, second)) as app:
            events = await ask(app, "hi")
            return events, len(await app.store.attempts())

    with FaultProvider([Reset()]) as first, FaultProvider([Reset()]) as second:
        events, rows = asyncio.run(run(first, second))

        assert kinds(events)[-1] == "Finished"
        assert (events[-1].outcome, events[-1].model, rows) == ("failed", "first", 2)


def test_an_endpoint_that_is_down_at_the_start_is_passed_over(workspace):
    down = 'base_url = "http://127.0.0.1:1/v1"\n'

    async def run(second):
        toml = down + fallback(f"{second.url}/v1", "second")
        async with workspace.open(toml, SILL_PROBE="true") as app:
            events = await ask(app, "hi")
            return events, app.model_name

    listing = answer(200, {"object": "list", "data": [{"id": "second"}]})
    with FaultProvider(says("Hello"), routes={"/v1/models": listing}) as second:
        events, name = asyncio.run(run(second))

    assert (events[-1].outcome, name) == ("complete", "second")
    assert ["nobody answers at http://127.0.0.1:1/v1" in text for text in workspace.told] == [
        True,
        False,
    ]
    assert workspace.told[1] == f"sill: second at {second.url}/v1 is asked instead"


def test_stopping_does_not_call_for_the_next_endpoint(workspace):
    async def run(first, second):
        async with workspace.open(both(first, second)) as app:
            asking = asyncio.ensure_future(ask(app, "hi"))
            await asyncio.to_thread(first.asked.wait)
            app.stop()
            return await asking

    with FaultProvider([Hang()]) as first, FaultProvider(says("Hello")) as second:
        events = asyncio.run(run(first, second))

        assert (events[-1].outcome, second.seen) == ("cancelled", [])


def test_events_of_an_answer_are_those_of_a_chat(workspace):
    async def run(first, second):
        async with workspace.open(both(first, second)) as app:
            return await ask(app, "hi")

    with FaultProvider(says("Hel", "lo")) as first, FaultProvider(says("no")) as second:
        started, *deltas, finished = asyncio.run(run(first, second))

        assert isinstance(started, Started)
        assert deltas == [Delta("Hel"), Delta("lo")]
        assert isinstance(finished, Finished)
        assert (finished.text, second.seen) == ("Hello", [])


def test_a_thought_that_was_shown_is_not_taken_back():
    def place(name, *replies):
        counter = WordCounter()
        call = Call(name, Profile(window=400, reply=40), 400, "be kind")
        sizer = Sizer(counter, counter.count, "folded")
        chat = Chat(store, ScriptedModel(*replies), counter, sizer, call, "w")

        async def opened():
            return chat

        return Place(name, opened)

    store = MemoryStore()
    broken = [ReasoningDelta("hm"), Unreachable("gone")]
    failover = Failover([place("first", broken), place("second", ["Hello"])])

    async def run():
        await failover.open(lambda _: None)
        return [event async for event in failover.ask(None, Question("hi"))]

    *_, thought, finished = asyncio.run(run())

    assert (thought, finished.outcome, failover.current) == (Thought("hm"), "failed", 0)
