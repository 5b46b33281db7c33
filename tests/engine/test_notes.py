"""Remembered facts in turns: they come along once, within their share, and are corrected."""

import asyncio
import json

from sill.core.budget import Profile
from sill.core.messages import Remembered, ToolCall
from sill.core.notes import room_for_facts
from sill.core.usage import breakdown
from sill.engine.chat import Chat
from sill.engine.events import Finished, Refused, Started
from sill.engine.notes import Notebook
from sill.engine.offering import Toolkit
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.ports import Ended
from sill.testing import MemoryStore, ScriptedModel, ScriptedTools, WordCounter

OVEN = "The oven needs four hours to heat"
HOW = "How long does the oven heat?"


def make_chat(window: int = 2_000, is_there=lambda path: True) -> Chat:
    counter, store = WordCounter(), MemoryStore()
    return Chat(
        store=store,
        model=ScriptedModel(*(["Good."] for _ in range(60))),
        counter=counter,
        sizer=Sizer(counter, counter.count, "folded"),
        call=Call("scripted", Profile(window=window, reply=20), window, "be kind"),
        workspace="w",
        notebook=Notebook(store, "w", is_there),
    )


async def asked(chat: Chat, id: str | None, text: str) -> list:
    return [event async for event in chat.ask(id, Question(text))]


def facts_in(request) -> list[list[str]]:
    """The facts of every message of a request."""
    found = []
    for message in request.messages:
        for part in (message.content or "").split("\n\n"):
            if part.startswith('{"type":"remembered_facts"'):
                found.append(json.loads(part)["facts"])
    return found


def test_a_fact_comes_with_the_question_it_bears_on_and_is_not_repeated():
    async def run():
        chat = make_chat()
        await chat.store.note("w", OVEN)
        await chat.store.note("w", "Ann is allergic to walnuts")
        await chat.store.note("elsewhere", "The oven is cold")
        events = await asked(chat, None, HOW)
        await asked(chat, events[0].chat, "And how long does the oven cool?")
        return chat, events

    chat, events = asyncio.run(run())

    assert [facts_in(request) for request in chat.model.sent] == [[[OVEN]], [[OVEN]]]
    first, second = (request.messages for request in chat.model.sent)
    assert second[: len(first)] == first  # what the server has read stays as it was
    plan = events[0].plan
    assert [(i.kind, i.name, i.fate) for i in plan.items if i.kind == "recall"] == [
        ("recall", "1 remembered fact", "sent")
    ]
    assert sum(row.used for row in breakdown(plan).rows) == plan.tokens
    assert events[-1].certificate.predicted <= plan.tokens
    first, second = (asyncio.run(chat.store.turn(f"turn-{n}")) for n in (1, 2))
    assert [m.carries for m in first.messages] == [Remembered(("note-1",)), None, None]
    assert [m.carries for m in second.messages] == [None, None]


def test_what_does_not_bear_on_the_question_stays_out():
    async def run():
        chat = make_chat()
        await chat.store.note("w", OVEN)
        await asked(chat, None, "Which fish swim here?")
        return chat

    assert facts_in(asyncio.run(run()).model.sent[0]) == []


def test_a_fact_that_was_changed_or_forgotten_is_corrected_whatever_is_asked():
    async def run():
        chat = make_chat()
        one = await chat.store.note("w", OVEN)
        two = await chat.store.note("w", "The oven burns beech")
        id = (await asked(chat, None, HOW))[0].chat
        await chat.store.change_note(one, "The oven needs five hours")
        await chat.store.forget_note(two)
        await asked(chat, id, "Which fish swim here?")
        await asked(chat, id, "And which birds?")
        return chat

    chat = asyncio.run(run())

    last = chat.model.sent[2].messages
    assert facts_in(chat.model.sent[2]) == [
        [OVEN, "The oven burns beech"],
        ["The oven needs five hours"],
    ]
    corrected = next(m.content for m in last if "no_longer_true" in (m.content or ""))
    assert json.loads(corrected.split("\n\n")[0])["no_longer_true"] == [
        OVEN,
        "The oven burns beech",
    ]
    assert "no_longer_true" not in last[-1].content


def test_a_fact_that_left_the_window_comes_again():
    async def run():
        chat = make_chat(window=300)
        await chat.store.note("w", OVEN)
        id = (await asked(chat, None, HOW))[0].chat
        for number in range(12):
            await asked(chat, id, f"Filler {number} " + "about weather " * 12)
        before = facts_in(chat.model.sent[-1])
        await asked(chat, id, HOW)
        return before, facts_in(chat.model.sent[-1])

    assert asyncio.run(run()) == ([], [[OVEN]])


def test_facts_keep_to_their_share_and_are_never_why_a_question_is_refused():
    async def run():
        chat = make_chat(window=400)
        for number in range(60):
            await chat.store.note("w", f"oven rule {number}: heat it slowly and with care")
        events = await asked(chat, None, HOW)
        full = await asked(chat, None, "oven " * (chat.call.budget.room - 6))
        over = await asked(chat, None, "oven " * chat.call.budget.room)
        return chat, events[0], full, over

    chat, started, full, over = asyncio.run(run())

    (item,) = [item for item in started.plan.items if item.kind == "recall"]
    assert 0 < item.tokens <= room_for_facts(chat.call.budget.room)
    assert isinstance(full[0], Started)
    assert isinstance(full[-1], Finished)
    assert isinstance(over[-1], Refused)


def test_facts_stay_with_the_question_through_tool_rounds():
    async def run():
        chat = make_chat()
        chat.model = ScriptedModel(
            [Ended("complete", "tool_calls", None, (ToolCall("1", "look", "{}"),))], ["Four hours."]
        )
        chat.toolkit = Toolkit(ScriptedTools({"look": lambda _: "a tool says so"}), chat.counter)
        await chat.store.note("w", OVEN)
        return chat, (await asked(chat, None, HOW))[-1]

    chat, finished = asyncio.run(run())

    assert [facts_in(request) for request in chat.model.sent] == [[[OVEN]], [[OVEN]]]
    assert sum(row.used for row in breakdown(finished.plan).rows) == finished.plan.tokens


def test_a_document_that_is_gone_is_not_spoken_of():
    async def run():
        chat = make_chat(is_there=lambda path: path == "Oven.md")
        await chat.store.note_document("w", "Oven.md", "Oven.md is used often")
        await chat.store.note_document("w", "Old oven.md", "Old oven.md is used often")
        await asked(chat, None, HOW)
        return facts_in(chat.model.sent[0])

    assert asyncio.run(run()) == [["Oven.md is used often"]]
