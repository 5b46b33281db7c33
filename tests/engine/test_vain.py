"""What is asked in vain: the stored chat is as it was, or holds the question once."""

import asyncio
from collections.abc import Sequence

import pytest

from sill.core.budget import Profile
from sill.engine.chat import Chat
from sill.engine.events import Finished, Refused, Started
from sill.engine.failover import Failover, Place
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.errors import LimitReached, Overflow, Unreachable
from sill.testing import MemoryStore, ScriptedModel, WordCounter

LONG = "word " * 100
TOO_LONG = Overflow("too long", window=400)
LEARNED = Overflow("too long", window=300, prompt=390)
TINY = Overflow("too long", window=60, prompt=390)
POOR = LimitReached("somebody else was faster", limit=1, spent=1, wanted=1)
GONE = Unreachable("nobody answers")


def chat_over(
    store: MemoryStore, name: str, replies: Sequence[Sequence[object]], window: int
) -> Chat:
    counter = WordCounter()
    numbers = Profile(window=window, reply=40, temperature=0.0)
    sizer = Sizer(counter, counter.count, "folded")
    call = Call(name, numbers, window, "be kind")
    return Chat(store, ScriptedModel(*replies), counter, sizer, call, "w")


def failover_over(store: MemoryStore, *scripts: Sequence[Sequence[object]]) -> Failover:
    """One place for each script; the second has the smallest window."""

    def place(number: int, replies: Sequence[Sequence[object]]) -> Place:
        async def opened() -> Chat:
            return chat_over(store, f"place {number}", replies, 150 if number == 1 else 400)

        return Place(f"place {number}", opened)

    return Failover([place(number, replies) for number, replies in enumerate(scripts)])


async def everything(store: MemoryStore) -> list[object]:
    chats = await store.chats()
    return [(chat, await store.copy_chat(chat.id)) for chat in chats]


async def with_history(store: MemoryStore) -> str:
    earlier = chat_over(store, "earlier", [["answer"]], 400)
    return [event async for event in earlier.ask(None, Question("earlier"))][-1].chat


REFUSED = [
    pytest.param([[[TOO_LONG]]], "hi", id="an overflow that teaches nothing"),
    pytest.param([[[TINY]]], LONG, id="an overflow after which the question cannot fit"),
    pytest.param([[[LEARNED], [TOO_LONG]]], "hi", id="an overflow twice"),
    pytest.param([[[POOR]]], "hi", id="a lost race for a cap"),
    pytest.param([[[GONE]], [[TOO_LONG]]], "hi", id="a fallback that has no room after all"),
    pytest.param([[[GONE]], [[POOR]]], "hi", id="a fallback that costs too much by now"),
]


@pytest.mark.parametrize("is_new", [True, False], ids=["a new chat", "a chat with turns"])
@pytest.mark.parametrize("scripts, question", REFUSED)
def test_a_refusal_leaves_the_store_as_it_was(scripts, question, is_new):
    async def run():
        store = MemoryStore()
        chat = await with_history(store)
        failover = failover_over(store, *scripts)
        await failover.open(lambda _: None)
        before = await everything(store)
        asked = failover.ask(None if is_new else chat, Question(question))
        return [event async for event in asked], before, await everything(store)

    events, before, after = asyncio.run(run())

    assert (isinstance(events[0], Started), isinstance(events[-1], Refused)) == (True, True)
    assert after == before


ONCE = [
    pytest.param([[[LEARNED], ["fine"]]], "hi", "complete", id="planned again after an overflow"),
    pytest.param([[[GONE]], [["fine"]]], "hi", "complete", id="answered by the fallback"),
    pytest.param([[[GONE]], [[LEARNED], [GONE]], [["fine"]]], "hi", "complete", id="by the third"),
    pytest.param([[[GONE]], [["fine"]]], LONG + LONG, "failed", id="too long for the fallback"),
    pytest.param([[[GONE]], [[GONE]]], "hi", "failed", id="nobody answers"),
    pytest.param([[["half", GONE]], [["no"]]], "hi", "partial", id="broken off"),
]


@pytest.mark.parametrize("is_new", [True, False], ids=["a new chat", "a chat with turns"])
@pytest.mark.parametrize("scripts, question, status", ONCE)
def test_a_question_stands_in_the_chat_once(scripts, question, status, is_new):
    async def run():
        store = MemoryStore()
        chat = await with_history(store)
        failover = failover_over(store, *scripts)
        await failover.open(lambda _: None)
        asked = failover.ask(None if is_new else chat, Question(question))
        last = [event async for event in asked][-1]
        return last, await store.turns(last.chat), len(await store.chats())

    last, turns, chats = asyncio.run(run())

    assert isinstance(last, Finished)
    assert [turn.messages[0].text for turn in turns] == ["earlier"] * (not is_new) + [question]
    assert (turns[-1].id, turns[-1].status, last.outcome) == (last.turn, status, status)
    assert chats == (2 if is_new else 1)


def test_leaving_between_two_places_keeps_the_question():
    async def run():
        store = MemoryStore()
        failover = failover_over(store, [[GONE]], [["fine"]])
        await failover.open(lambda _: None)
        events = failover.ask(None, Question("hi"))
        started = await anext(events)
        await anext(events)  # the notice that the first place failed
        await events.aclose()
        return await store.turns(started.chat)

    assert [turn.status for turn in asyncio.run(run())] == ["failed"]
