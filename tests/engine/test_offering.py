"""Which tools go with a question, what is done about a linked note, and what a chat keeps to."""

import asyncio
import json
from dataclasses import replace

import pytest

from sill.core.budget import Profile
from sill.core.documents import Document
from sill.core.edits import Scope
from sill.core.messages import ProposalNews
from sill.core.ops import Replace, Whole
from sill.core.proposal import propose
from sill.core.request import ToolSchema
from sill.core.usage import breakdown, plan_from_json
from sill.engine.chat import Chat
from sill.engine.events import Notice, Started
from sill.engine.offering import Boxes, Toolkit
from sill.engine.prepare import Call, Question
from sill.engine.proposals import Kept, written
from sill.engine.sizing import Sizer
from sill.engine.tools.library import LibraryTools
from sill.records import StoredProposal
from sill.testing import MemoryStore, MemoryVault, ScriptedModel, ScriptedTools, WordCounter


def schema(name: str, description: str) -> ToolSchema:
    return ToolSchema(name, description, {"type": "object", "properties": {}})


class Foreign(ScriptedTools):
    """Tools of somebody else's server."""

    async def tools(self):
        return [replace(tool, origin="server") for tool in await super().tools()]


def sixty() -> Foreign:
    """As many as several servers bring together."""
    subjects = ["calendar", "weather", "invoice", "ticket", "train", "recipe"]
    verbs = [
        "create",
        "read",
        "update",
        "delete",
        "list",
        "search",
        "share",
        "archive",
        "move",
        "copy",
    ]
    schemas = {
        f"{verb}_{subject}": schema(
            f"{verb}_{subject}", f"Used to {verb} one {subject} of the user, " + "and so on " * 12
        )
        for subject in subjects
        for verb in verbs
    }
    return Foreign(dict.fromkeys(schemas, lambda _: "ok"), schemas)


async def opened(vault=None) -> MemoryVault:
    return vault or MemoryVault({"a.md": "alpha"})


def make_chat(*replies, box, window=8192, call=None, store=None) -> Chat:
    counter = WordCounter()
    numbers = Profile(window=window, reply=window // 4, temperature=0.0)
    return Chat(
        store=store or MemoryStore(),
        model=ScriptedModel(*replies),
        counter=counter,
        sizer=Sizer(counter, counter.count, "folded"),
        call=call or Call("scripted", numbers, window, "be kind"),
        workspace="w",
        clock=lambda: 0.0,
        toolkit=None if box is None else Toolkit(box, counter),
    )


async def ask(chat: Chat, question: str | Question, id: str | None = None) -> list:
    asked = Question(question) if isinstance(question, str) else question
    return [event async for event in chat.ask(id, asked)]


def plan_of(events):
    return next(event.plan for event in events if isinstance(event, Started))


def test_sixty_tools_at_8k_stay_under_their_share_and_the_user_hears_which_are_left_out():
    chat = make_chat(["ok"], box=Boxes([LibraryTools(opened), sixty()]))

    events = asyncio.run(ask(chat, "archive the invoice from June"))

    plan = plan_of(events)
    used = {row.share: (row.used, row.budget) for row in breakdown(plan).rows}
    assert used["tools"][0] <= used["tools"][1]
    names = [tool.name for tool in chat.model.sent[0].tools]
    assert names[:2] == ["read_document", "find_excerpts"]
    assert "archive_invoice" in names
    assert plan.tools == tuple(names)
    [left_out] = [i for i in plan.items if i.kind == "tools" and i.fate == "omitted"]
    assert len(left_out.reason.split(": ")[1].split(", ")) == 67 - len(names)
    [notice] = [event.text for event in events if isinstance(event, Notice)]
    assert notice.startswith("not offered to the model, as tool schemas may take 614 tokens: ")


def test_the_set_stays_the_same_within_an_epoch_whatever_is_asked():
    chat = make_chat(["ok"], ["ok"], box=Boxes([LibraryTools(opened), sixty()]))

    async def run():
        await ask(chat, "archive the invoice")
        return await ask(chat, "what is the weather like", "chat-1")

    second = asyncio.run(run())

    first_request, second_request = chat.model.sent
    assert second_request.tools == first_request.tools
    assert not [event for event in second if isinstance(event, Notice)]


def test_a_new_epoch_chooses_the_tools_anew():
    long = "word " * 2000
    chat = make_chat([long], [long], ["ok"], box=Boxes([LibraryTools(opened), sixty()]))

    async def run():
        await ask(chat, "archive the invoice " + long)
        await ask(chat, "go on", "chat-1")
        return await ask(chat, "share the weather with me", "chat-1")

    last = asyncio.run(run())

    assert plan_of(last).epoch.number > 0
    before, *_, after = ({tool.name for tool in r.tools} for r in chat.model.sent)
    assert "share_weather" in after - before


def test_tools_that_leave_no_room_for_the_question_are_not_offered():
    chat = make_chat(["ok"], box=LibraryTools(opened), window=80)

    *_, finished = asyncio.run(ask(chat, "word " * 40))

    assert finished.outcome == "complete"
    assert chat.model.sent[0].tools == ()


def test_tools_that_a_template_leaves_out_are_not_offered():
    class Blind(WordCounter):
        async def count_request(self, request):
            return await super().count_request(replace(request, tools=()))

    chat = make_chat(["ok"], box=LibraryTools(opened))
    chat.toolkit = Toolkit(LibraryTools(opened), Blind())

    asyncio.run(ask(chat, "go"))

    assert chat.model.sent[0].tools == ()


# --- Linked notes ---------------------------------------------------------------------------------

SMALL = Document("small.md", "# Small\n\nA few words.\n")
LARGE = Document("large.md", "# Large\n\nAll about it.\n\n## Part\n\n" + "word " * 1500)


def shown(plan, name):
    (item,) = [item for item in plan.items if item.name == name]
    return item.fate, item.reason


@pytest.mark.parametrize(
    "question, box, fate, reason",
    [
        pytest.param(
            Question("q", (SMALL,), linked=("small.md",)),
            True,
            "sent",
            "not in the window yet; linked, within the 1,066 of 5,334 free that it may take",
            id="a small note is sent",
        ),
        pytest.param(
            Question("q", (LARGE,), linked=("large.md",)),
            True,
            "omitted",
            "linked, and its 1,506 tokens are over the 1,066 of 5,334 free that a linked note may take;"
            " left to read_document; its outline is sent instead",
            id="a large note is left to be read",
        ),
        pytest.param(
            Question("q", (LARGE,)),
            True,
            "sent",
            "not in the window yet",
            id="a file that was named",
        ),
        pytest.param(
            Question("q", (LARGE,), linked=("large.md",)),
            False,
            "sent",
            "not in the window yet",
            id="no tools",
        ),
    ],
)
def test_a_linked_note_is_sent_or_left_to_be_read(question, box, fate, reason):
    chat = make_chat(["ok"], box=LibraryTools(opened) if box else None)

    plan = plan_of(asyncio.run(ask(chat, question)))

    (document,) = question.documents
    assert shown(plan, document.path) == (fate, reason)


def test_what_is_left_to_be_read_is_known_by_its_outline_and_summary():
    chat = make_chat(["ok"], box=LibraryTools(opened))

    asyncio.run(ask(chat, Question("q", (LARGE,), linked=("large.md",))))

    envelope, _ = chat.model.sent[0].messages[1].content.split("\n\n")
    assert json.loads(envelope)["outline"] == "All about it.\n1: # Large\n5: ## Part"


# --- Proposals ------------------------------------------------------------------------------------


def test_the_next_turn_tells_once_what_became_of_a_proposal():
    store = MemoryStore()
    chat = make_chat(["one"], ["two"], ["three"], box=None, store=store)
    scope = Scope({"a.md": "old\n"})
    proposal = propose("shorter", [Replace("a.md", Whole(), "new\n")], scope)

    async def run():
        await ask(chat, "first")
        await store.add_proposal(StoredProposal("p", "chat-1", "turn-1", written(Kept(proposal))))
        await store.decide_proposal("p", "refused", "me")
        second = await ask(chat, "second", "chat-1")
        await ask(chat, "third", "chat-1")
        return second

    plan = plan_of(asyncio.run(run()))

    turn = asyncio.run(store.turn("turn-2"))
    assert isinstance(turn.messages[0].carries, ProposalNews)
    assert turn.messages[0].hidden
    assert "a.md" in json.loads(turn.messages[0].text)["content"]
    assert plan.tokens == sum(item.tokens for item in plan.items if item.in_prompt)
    assert [i.reason for i in plan.items if i.kind == "news"] == ["what became of proposed edits"]
    bodies = [str([m.content for m in request.messages]) for request in chat.model.sent]
    assert [body.count("proposal_news") for body in bodies] == [0, 1, 1]


# --- Shares ---------------------------------------------------------------------------------------


def test_shares_that_were_asked_for_stay_with_the_chat():
    store = MemoryStore()
    first = make_chat(["one"], box=None, store=store)
    told = make_chat(
        ["one"], box=None, store=store, call=replace(first.call, told=(("files", 0.6),))
    )
    later = make_chat(["two"], ["three"], box=None, store=store)

    async def run():
        await ask(told, "with more room for files")
        second = await ask(later, "and later", "chat-1")
        other = await ask(later, "in another chat")
        return second, other

    second, other = asyncio.run(run())

    room = plan_of(second).budget.room
    assert [plan_of(events).budget.files / room for events in (second, other)] == pytest.approx(
        [0.6, 0.4], abs=0.001
    )
    kept = asyncio.run(store.turn("turn-2"))
    assert plan_from_json(kept.plan).shares == (("files", 0.6),)
