"""Turns that left the window, found again through the real planner and store."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from sill.core.budget import Profile
from sill.core.messages import Epoch, Message, Recall
from sill.core.plan import Ask, OverBudget, Plan, plan_context
from sill.core.recall_room import quoted
from sill.engine.chat import Chat
from sill.engine.prepare import Call, Question
from sill.engine.recall import Recalling, Recollection, planned
from sill.engine.sizing import Sizer
from sill.errors import Unreachable
from sill.ports import History
from sill.testing import MemoryStore, ScriptedModel, WordCounter

SMALL_TALK = tuple(
    f"Filler number {n} about the weather and other things of no weight" for n in range(30)
)
OVEN = "We fired the bread oven with beech logs from Kern"
SISTER = "Ann's sister Marta moved to Lisbon"


def make_chat(store: MemoryStore, window: int = 260) -> Chat:
    counter = WordCounter()
    profile = Profile(window=window, reply=20, temperature=0.0)
    return Chat(
        store=store,
        model=ScriptedModel(*(["Good to know."] for _ in range(200))),
        counter=counter,
        sizer=Sizer(counter, counter.count, "folded"),
        call=Call("scripted", profile, window, "be kind"),
        workspace="w",
    )


async def talk(chat: Chat, said: Sequence[str], id: str | None = None) -> str:
    id = id or await chat.store.new_chat("w")
    for text in said:
        async for _ in chat.ask(id, Question(text)):
            pass
    return id


async def plan_for(
    chat: Chat, id: str, question: str, recollection: Recollection, history: History | None = None
) -> Plan | OverBudget:
    history = history or await chat.store.history(id)
    system, asked = await chat.sizer.messages(
        [Message("system", chat.call.system), Message("user", question)]
    )
    turns = await chat.sizer.turns(history.turns)
    recalling = Recalling(recollection, id, question, history, chat.sizer)
    return await planned(chat.call.budget, Ask(system, asked), turns, (), recalling)


def recalled(plan: Plan | OverBudget) -> list[str]:
    assert isinstance(plan, Plan)
    found = [s.message for s in plan.hidden if isinstance(s.message.carries, Recall)]
    return [line for one in found for line in json.loads(one.text)["content"].split("\n")]


def ask_after(said: Sequence[str], *questions: str, window: int = 260, embedder=None) -> list[Plan]:
    """The plan for each question, asked after the same conversation."""

    async def run() -> list[Plan]:
        chat = make_chat(MemoryStore(lambda: 0), window)
        id = await talk(chat, said)
        recollection = Recollection(chat.store, embedder)
        plans = [await plan_for(chat, id, question, recollection) for question in questions]
        await recollection.close()
        return plans

    return asyncio.run(run())


def test_what_left_the_window_comes_back_when_it_is_asked_for():
    (plan,) = ask_after((OVEN, SISTER, *SMALL_TALK), "Which logs were in the bread oven?")

    assert f"1 user: {OVEN}" in recalled(plan)


@pytest.mark.parametrize("window", [160, 260, 400, 900, 2_000])
def test_a_plan_with_recall_fits_its_window(window):
    (plan,) = ask_after(
        (OVEN, SISTER, *SMALL_TALK), "Which logs were in the bread oven?", window=window
    )

    assert isinstance(plan, Plan)
    assert plan.tokens <= plan.budget.room
    assert plan.tokens == sum(item.tokens for item in plan.items if item.in_prompt)


def test_a_follow_up_is_searched_with_its_subject():
    (plan,) = ask_after(
        (SISTER, *SMALL_TALK, "Where did Marta, the sister, go?"), "And when was that?"
    )

    assert f"1 user: {SISTER}" in recalled(plan)


@pytest.mark.parametrize(
    "said, question",
    [
        pytest.param((), "Which logs were in the oven?", id="a new chat"),
        pytest.param((OVEN,), "Which logs were in the oven?", id="everything is in the window"),
        pytest.param((OVEN, *SMALL_TALK), "and that?", id="nothing to look for"),
    ],
)
def test_without_recall_the_plan_is_the_plain_one(said, question):
    async def run():
        chat = make_chat(MemoryStore(lambda: 0))
        id = await talk(chat, said)
        history = await chat.store.history(id)
        if question == "and that?":  # no earlier question to lean on, either
            history = replace(history, turns=())
        system, asked = await chat.sizer.messages(
            [Message("system", chat.call.system), Message("user", question)]
        )
        turns = await chat.sizer.turns(history.turns)
        plain = plan_context(chat.call.budget, Ask(system, asked), turns, history.epoch, ())
        return plain, await plan_for(chat, id, question, Recollection(chat.store), history)

    plain, with_recall = asyncio.run(run())

    assert with_recall == plain


def test_what_a_recall_in_the_window_says_is_not_said_again():
    async def run():
        chat = make_chat(MemoryStore(lambda: 0), window=600)
        id = await talk(chat, (OVEN, SISTER, *SMALL_TALK, *SMALL_TALK))
        recollection = Recollection(chat.store)
        first = await plan_for(chat, id, "Which logs were in the bread oven?", recollection)
        history = await chat.store.history(id)
        last = history.turns[-1]
        hidden = tuple(s.message for s in first.hidden)
        carrying = replace(last, messages=(*hidden, *last.messages), id="t-new", parent=last.id)
        history = replace(history, turns=(*history.turns, carrying))
        second = await plan_for(chat, id, "Which logs, again?", recollection, history)
        still = quoted(await chat.sizer.turns(history.turns), second.epoch)
        return first, second, still

    first, second, still = asyncio.run(run())
    lines = [line for line in recalled(second) if ": " in line]

    assert recalled(first)
    assert [line for line in lines if line in still] == []


def test_no_turn_that_the_window_shows_is_recalled():
    (plan,) = ask_after((OVEN, *SMALL_TALK), "Which filler number was about the weather?")
    shown = {item.name for item in plan.items if item.kind == "turn" and item.fate == "kept"}
    quoted = {
        turn
        for sized in plan.hidden
        if isinstance(sized.message.carries, Recall)
        for turn in sized.message.carries.turns
    }

    assert quoted and shown
    assert quoted.isdisjoint(shown)


def test_a_memory_that_grew_with_the_chat_says_what_a_fresh_one_says():
    async def run():
        chat = make_chat(MemoryStore(lambda: 0))
        id, grown = None, Recollection(chat.store)
        for text in (OVEN, SISTER, *SMALL_TALK):
            id = await talk(chat, [text], id)
            await plan_for(chat, id, f"What about {text}?", grown)
        question = "Where did the sister move to?"
        fresh = Recollection(chat.store)
        return [await plan_for(chat, id, question, one) for one in (grown, fresh)]

    grown, fresh = asyncio.run(run())

    assert recalled(grown) == recalled(fresh)
    assert grown == fresh


def test_turns_of_a_branch_that_was_left_are_not_recalled():
    async def run():
        chat = make_chat(MemoryStore(lambda: 0))
        id = await talk(chat, SMALL_TALK[:2])
        start = (await chat.store.history(id)).turns[-1].id
        await talk(chat, (OVEN, *SMALL_TALK), id)
        recollection = Recollection(chat.store)
        question = "Which logs were in the bread oven?"
        before = await plan_for(chat, id, question, recollection)
        await chat.store.branch(id, start)
        await talk(chat, SMALL_TALK, id)
        return before, await plan_for(chat, id, question, recollection)

    before, after = asyncio.run(run())

    assert any(OVEN in line for line in recalled(before))
    assert not any(OVEN in line for line in recalled(after))


def test_a_question_that_cannot_fit_is_over_budget_with_recall_too():
    (plan,) = ask_after((OVEN, *SMALL_TALK), "oven " * 1_000)

    assert isinstance(plan, OverBudget)


class BySubject:
    """Knows two subjects, whatever they are called."""

    name = "by-subject"
    subjects = (("oven", "logs", "fire"), ("sister", "marta", "relative"))

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.fails:
            raise Unreachable("nobody answers")
        return [
            [0.1, *(float(any(word in text.lower() for word in about)) for about in self.subjects)]
            for text in texts
        ]

    async def close(self) -> None:
        return None


def test_an_embedder_finds_what_has_no_word_in_common():
    async def run():
        chat = make_chat(MemoryStore(lambda: 0))
        id = await talk(chat, (SISTER, OVEN, *SMALL_TALK))
        recollection = Recollection(chat.store, BySubject())
        await plan_for(chat, id, "Any relative?", recollection)
        await recollection.settled()
        plan = await plan_for(chat, id, "Any relative abroad?", recollection)
        await recollection.close()
        return plan

    assert f"1 user: {SISTER}" in recalled(asyncio.run(run()))


def test_an_embedder_is_not_asked_before_something_has_left():
    (plan,) = ask_after((OVEN,), "Which logs were in the bread oven?", embedder=BySubject())

    assert recalled(plan) == []


def test_without_its_embedder_recall_goes_by_words():
    question = "Which logs were in the bread oven?"
    (by_words,) = ask_after((OVEN, *SMALL_TALK), question)
    *_, fallen_back = ask_after(
        (OVEN, *SMALL_TALK), question, question, embedder=BySubject(fails=True)
    )

    assert recalled(fallen_back) == recalled(by_words)


def test_an_epoch_without_turns_recalls_from_all_of_them():
    async def run():
        chat = make_chat(MemoryStore(lambda: 0))
        id = await talk(chat, (OVEN, *SMALL_TALK[:3]))
        history = await chat.store.history(id)
        last = history.turns[-1]
        nothing = Epoch(1, last.id, frozenset((last.id, at) for at in range(len(last.messages))))
        history = replace(history, turns=(last,), epoch=nothing, earlier=3)
        return await plan_for(
            chat, id, "Which logs in the oven?", Recollection(chat.store), history
        )

    assert f"1 user: {OVEN}" in recalled(asyncio.run(run()))


LONG_QUESTION = "Which logs were in the bread oven? " + "Please think about it well. " * 25


def test_turns_that_nearly_left_are_not_recalled_while_they_are_shown():
    async def run():
        chat = make_chat(MemoryStore(lambda: 0))
        id = await talk(chat, (OVEN, *SMALL_TALK[:8]))
        recollection = Recollection(chat.store)
        long = await plan_for(chat, id, LONG_QUESTION, recollection)
        return long, await plan_for(chat, id, "Which oven logs?", recollection)

    long, short = asyncio.run(run())

    assert any(OVEN in line for line in recalled(long))
    assert "turn-1" in {item.name for item in short.items if item.fate == "kept"}
    assert recalled(short) == []


def test_a_chat_that_began_anew_does_not_recall_what_nearly_left():
    async def run():
        chat = make_chat(MemoryStore(lambda: 0))
        id = await talk(chat, (OVEN, *SMALL_TALK[:8]))
        recollection = Recollection(chat.store)
        before = await plan_for(chat, id, LONG_QUESTION, recollection)
        await chat.store.branch(id, None)
        await talk(chat, SMALL_TALK[:9], id)
        return before, await plan_for(chat, id, LONG_QUESTION, recollection)

    before, after = asyncio.run(run())

    assert any(OVEN in line for line in recalled(before))
    assert not any(OVEN in line for line in recalled(after))
