"""Asking for edits through the real engine: every way it can end, and what is stored then."""

import asyncio
import json
from dataclasses import replace

import pytest

from sill.adapters.models.formats import FormatMemory, with_format
from sill.core.budget import Profile
from sill.core.edits import Scope
from sill.core.messages import Message, fingerprint
from sill.core.ops import Anchor, Problem, Replace, Span
from sill.core.proposal import Proposal
from sill.core.reply import repair_message
from sill.engine.chat import Chat
from sill.engine.edit import Editor, EditReply, Shape, Wish, asked
from sill.engine.prepare import Call
from sill.engine.proposals import Kept, news, read, written
from sill.engine.sizing import Sizer
from sill.engine.streams import Stop
from sill.errors import BadAnswer, Overflow, Unreachable, Unsupported
from sill.ports import Ended, TextDelta
from sill.records import StoredProposal
from sill.testing import MemoryStore, ScriptedModel, WordCounter

SCOPE = Scope({"note.md": "one two\nthree\n", "new.md": None})
OP = {
    "op": "replace",
    "target_file": "note.md",
    "target": "anchor",
    "anchor": "two",
    "content": "2",
}
GOOD = json.dumps({"assistant_message": "Shorter.", "ops": [OP]})
NOTHING = json.dumps({"assistant_message": "It is fine.", "ops": []})
ABSENT = json.dumps({"assistant_message": "x", "ops": [{**OP, "anchor": "seven"}]})
HALF = json.dumps({"assistant_message": "x", "ops": [OP, {**OP, "target_file": "other.md"}]})
PROPOSAL = Proposal(
    "Shorter.", (Replace("note.md", Anchor("two"), "2"),), {"note.md": "one two\nthree\n"}
)
CUT = Ended("partial", "length", None, reason="the reply reached its limit")
BROKEN = Ended("partial", None, None, reason="the connection ended")


def make_editor(*replies, window=2000, store=None, preferred="schema", **more) -> Editor:
    counter = WordCounter()
    memory = FormatMemory()
    model = ScriptedModel(*replies)
    chat = Chat(
        store=store or MemoryStore(),
        model=model,
        counter=counter,
        sizer=Sizer(counter, counter.count, "folded"),
        call=Call("scripted", Profile(window=window, reply=100, temperature=0.0), window, "edit"),
        workspace="w",
        clock=lambda: 0.0,
    )
    shape = Shape(
        lambda: memory.best_way("test:", "scripted"),
        with_format,
        lambda way: memory.refuse("test:", "scripted", way),
    )
    return Editor(chat, shape, preferred, new_id=lambda: "p1", **more)


def ask(editor: Editor, wish="Shorten it.", scope=SCOPE, chat=None, stop=None) -> EditReply:
    return asyncio.run(editor.ask(chat, Wish(wish, scope), stop))


def everything_stored(editor: Editor) -> tuple[int, int]:
    """How many chats and turns there are."""

    async def look() -> tuple[int, int]:
        store = editor.chat.store
        chats = await store.chats()
        return len(chats), sum([len(await store.turns(chat.id)) for chat in chats])

    return asyncio.run(look())


def stored_turn(editor: Editor):
    [turn] = asyncio.run(editor.chat.store.turns("chat-1"))
    return turn


def test_a_good_reply_becomes_a_stored_proposal():
    editor = make_editor([GOOD])

    reply = ask(editor)

    assert (reply.outcome, reply.message, reply.proposal) == ("proposed", "Shorter.", PROPOSAL)
    assert reply.base_fingerprints == {
        "note.md": fingerprint("one two\nthree\n"),
        "new.md": None,
    }
    [kept] = asyncio.run(editor.chat.store.proposals("chat-1"))
    assert (kept.id, kept.turn, kept.status) == (reply.id, reply.turn, "open")
    assert read(kept.body) == Kept(PROPOSAL)
    turn = stored_turn(editor)
    assert (turn.status, turn.messages[-1]) == ("complete", Message("assistant", "Shorter."))
    assert Message("user", "Shorten it.") in turn.messages


@pytest.mark.parametrize(
    "replies, outcome, status, calls",
    [
        pytest.param([[NOTHING]], "nothing", "complete", 1, id="nothing to change"),
        pytest.param([[GOOD[:-4], CUT]], "truncated", "failed", 1, id="cut off"),
        pytest.param([[GOOD, CUT]], "truncated", "failed", 1, id="cut off behind a whole object"),
        pytest.param([[GOOD, BROKEN]], "upstream_error", "failed", 1, id="connection lost"),
        pytest.param([["no json"], ["still none"]], "invalid", "failed", 2, id="no JSON twice"),
        pytest.param([[ABSENT], [ABSENT]], "invalid", "failed", 2, id="no such text twice"),
        pytest.param([[HALF], [HALF]], "invalid", "failed", 2, id="one op of two is wrong"),
        pytest.param([[ABSENT], [GOOD, CUT]], "truncated", "failed", 2, id="repair cut off"),
        pytest.param(
            [[ABSENT], [Unreachable("gone")]],
            "upstream_error",
            "failed",
            2,
            id="repair unreachable",
        ),
        pytest.param([[Unreachable("gone")]], "upstream_error", "failed", 1, id="unreachable"),
        pytest.param([[BadAnswer("500")]], "upstream_error", "failed", 1, id="bad answer"),
    ],
)
def test_a_failure_has_its_own_outcome_and_no_operation(replies, outcome, status, calls):
    editor = make_editor(*replies)

    reply = ask(editor)

    assert (reply.outcome, reply.ops, reply.proposal, reply.id) == (outcome, (), None, "")
    assert reply.message
    assert reply.rounds == len(editor.chat.model.sent) == calls
    assert asyncio.run(editor.chat.store.proposals("chat-1")) == []
    assert stored_turn(editor).status == status


@pytest.mark.parametrize(
    "editor, outcome",
    [
        pytest.param(make_editor(window=60), "over_budget", id="the words alone do not fit"),
        pytest.param(make_editor(is_enabled=False), "disabled", id="switched off"),
        pytest.param(
            make_editor([Overflow("too long", window=100)]),
            "over_budget",
            id="the endpoint refuses",
        ),
    ],
)
def test_what_does_not_fit_leaves_no_trace(editor, outcome):
    reply = ask(editor)

    assert (reply.outcome, reply.ops, reply.chat, reply.turn) == (outcome, (), None, None)
    assert everything_stored(editor) == (0, 0)


def test_files_are_never_cut_and_the_message_names_what_to_drop():
    scope = Scope({"small.md": "a b\n", "large.md": "word " * 2000}, active="small.md")
    editor = make_editor(window=1000)

    reply = ask(editor, scope=scope)

    assert reply.outcome == "over_budget"
    assert "large.md" in reply.message and "small.md" not in reply.message
    assert editor.chat.model.sent == []
    assert everything_stored(editor) == (0, 0)


def test_the_second_try_is_told_every_problem_and_is_recorded():
    editor = make_editor([ABSENT], [GOOD])

    reply = ask(editor)

    problem = Problem(0, "note.md", "text not found")
    first, second = editor.chat.model.sent
    assert (reply.outcome, reply.rounds, reply.proposal) == ("proposed", 2, PROPOSAL)
    assert [m.role for m in second.messages[-2:]] == ["assistant", "user"]
    assert second.messages[:-2] == first.messages
    assert second.messages[-1].content == repair_message([problem])
    assert len(asyncio.run(editor.chat.store.requests("turn-1"))) == 2


def test_without_room_for_a_second_try_there_is_none():
    endless = "word " * 2000
    editor = make_editor([endless])

    reply = ask(editor)

    assert (reply.outcome, reply.rounds) == ("invalid", 1)


def test_an_endpoint_that_cannot_constrain_is_asked_for_plain_json():
    editor = make_editor([Unsupported("no formats")], [f"Here you are:\n```json\n{GOOD}\n```"])

    reply = ask(editor)

    first, second = editor.chat.model.sent
    assert (first.response_format is None, second.response_format) == (False, None)
    assert (reply.outcome, reply.proposal) == ("proposed", PROPOSAL)
    assert everything_stored(editor) == (1, 1)


def test_blocks_are_asked_for_and_read():
    block = "note.md\n<<<<<<< SEARCH\none two\n=======\none 2\n>>>>>>> REPLACE\n"
    editor = make_editor([block], preferred="blocks")

    reply = ask(editor)

    assert reply.outcome == "proposed"
    assert "<<<<<<< SEARCH" in (editor.chat.model.sent[0].messages[0].content or "")


@pytest.mark.parametrize(
    "stop, ends, outcome",
    [
        pytest.param(asyncio.Event(), asyncio.Event.set, "cancelled", id="somebody wished so"),
        pytest.param(Stop(), Stop.set, "cancelled", id="somebody wished so, at a server"),
        pytest.param(Stop(), Stop.interrupt, "interrupted", id="the program ends"),
    ],
)
def test_a_stopped_request_changes_nothing(stop, ends, outcome):

    class Slow(ScriptedModel):
        async def stream(self, request):
            yield TextDelta(GOOD)
            ends(stop)
            await asyncio.sleep(3600)

    editor = make_editor()
    editor.chat.model = Slow()

    reply = ask(editor, stop=stop)

    turn = stored_turn(editor)
    assert (reply.outcome, reply.ops) == (outcome, ())
    assert (turn.status, turn.outcome) == (outcome, f"{outcome}: {reply.message}")


@pytest.mark.parametrize(
    "is_interrupt, status",
    [
        pytest.param(False, "cancelled", id="nobody waits for it any more"),
        pytest.param(True, "interrupted", id="the program ends and does not wait"),
    ],
)
def test_a_cancelled_task_closes_its_turn(is_interrupt, status):
    begun, stop = asyncio.Event(), Stop()

    class Slow(ScriptedModel):
        async def stream(self, request):
            yield TextDelta(GOOD)
            begun.set()
            await asyncio.sleep(3600)

    editor = make_editor()
    editor.chat.model = Slow()

    async def cancel() -> None:
        task = asyncio.create_task(editor.ask(None, Wish("x", SCOPE), stop))
        await begun.wait()
        task.cancel()
        if is_interrupt:
            stop.interrupt()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())

    assert stored_turn(editor).status == status


def test_a_second_request_in_the_chat_is_busy():
    editor = make_editor([GOOD])
    busy = []

    class Asking(ScriptedModel):
        async def stream(self, request):
            busy.append(await editor.ask("chat-1", Wish("me too", SCOPE)))
            async for event in super().stream(request):
                yield event

    editor.chat.model = Asking([GOOD])

    assert ask(editor).outcome == "proposed"
    assert [(reply.outcome, reply.ops) for reply in busy] == [("busy", ())]


@pytest.mark.parametrize(
    "scope, expected",
    [
        pytest.param(SCOPE, "Do it.", id="words alone"),
        pytest.param(
            replace(SCOPE, active="note.md", selection=Span(8, 13)),
            "Do it.\n\nSelected in note.md, lines 2 to 2:\nthree",
            id="selection",
        ),
        pytest.param(
            replace(SCOPE, active="note.md", cursor=4),
            "Do it.\n\nThe cursor is in note.md, line 1, after: 'one '",
            id="cursor",
        ),
    ],
)
def test_the_question_says_what_the_user_points_at(scope, expected):
    assert asked(Wish("Do it.", scope)) == expected


@pytest.mark.parametrize(
    "status, expected",
    [
        pytest.param(
            "applied", "Of your proposed edits. Applied: note.md lines 1-2.", id="applied"
        ),
        pytest.param(
            "refused",
            "Of your proposed edits. Refused by the user: note.md lines 1-2.",
            id="refused",
        ),
        pytest.param(
            "undone", "Your edits to note.md were applied and then undone by the user.", id="undone"
        ),
        pytest.param(
            "conflict",
            "Your edits to note.md were not applied: the files had changed meanwhile.",
            id="conflict",
        ),
    ],
)
def test_the_next_request_tells_what_became_of_the_edits(status, expected):
    editor = make_editor([GOOD], [NOTHING])
    first = ask(editor)
    asyncio.run(editor.chat.store.decide_proposal(first.id, status, "me"))

    ask(editor, "Go on.", chat=first.chat)

    asked_second = editor.chat.model.sent[1].messages[-1].content or ""
    assert asked_second.endswith(f"({expected})\n\nGo on.")


def test_a_turn_that_failed_has_told_nothing():
    editor = make_editor([GOOD], [Unreachable("gone")], [NOTHING])
    first = ask(editor)
    asyncio.run(editor.chat.store.decide_proposal(first.id, "undone", "me"))
    ask(editor, "Go on.", chat=first.chat)

    ask(editor, "Go on.", chat=first.chat)

    asked_last = editor.chat.model.sent[2].messages[-1].content or ""
    assert "undone by the user" in asked_last


def test_a_proposal_taken_in_part_is_told_of_once():
    editor = make_editor([GOOD])
    first = ask(editor)
    store = editor.chat.store
    part = StoredProposal("p2", first.chat, first.turn, written(Kept(PROPOSAL, first.id, "Half.")))

    async def decide() -> str:
        await store.decide_proposal(first.id, "refused", "me")
        await store.add_proposal(part)
        await store.decide_proposal("p2", "applied", "me")
        return await news(store, first.chat, await store.history(first.chat))

    assert asyncio.run(decide()) == "Half."
