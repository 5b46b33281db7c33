"""What goes on when turns leave the window: the file trail, the gist, decisions, pins, through real chats."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from itertools import count, pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core.budget import Profile
from sill.core.documents import Document
from sill.core.messages import Pinned, Summary, ToolCall, fingerprint
from sill.core.ops import Delete, Replace, Whole
from sill.core.proposal import Proposal
from sill.core.references import quote_lines
from sill.core.request import ChatRequest, ToolSchema
from sill.core.tools import Tool
from sill.engine.chat import Chat
from sill.engine.events import Finished
from sill.engine.money import Limits, Purse, Till
from sill.engine.offering import Toolkit
from sill.engine.prepare import Call, Question
from sill.engine.proposals import Kept, written
from sill.engine.recall import Recollection
from sill.engine.sizing import Sizer
from sill.errors import Unreachable
from sill.ports import Caller, Ended, ToolOutcome
from sill.records import Pin, StoredProposal
from sill.testing import MemoryStore, ScriptedModel, WordCounter

WINDOW = 4_000


def text_of(name: str, version: int = 1) -> str:
    return f"{name} in version {version}: " + "some words of the note " * 40


class Reader:
    """A tool box with one tool that reads the notes it was made with."""

    def __init__(self, notes: Mapping[str, str]) -> None:
        self.notes = notes

    async def tools(self) -> Sequence[Tool]:
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        return [Tool(ToolSchema("read_document", "read a note", schema), is_core=True)]

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        path = str(arguments["path"])
        return ToolOutcome(self.notes[path], (quote_lines("read", path, self.notes[path]),))


def make_chat(model: ScriptedModel, *, window: int = WINDOW, notes=None, by="extract") -> Chat:
    counter, store = WordCounter(), MemoryStore(count().__next__)
    return Chat(
        store=store,
        model=model,
        counter=counter,
        sizer=Sizer(counter, counter.count, "folded"),
        call=Call("scripted", Profile(window=window, reply=200), window, "be kind"),
        workspace="w",
        recollection=Recollection(store, least=0.5),
        summaries=by,
        toolkit=Toolkit(Reader(notes), counter) if notes else None,
    )


async def say(chat: Chat, id: str | None, text: str, *documents: Document) -> Finished:
    events = [event async for event in chat.ask(id, Question(text, documents))]
    assert isinstance(events[-1], Finished), events[-1]
    return events[-1]


def sections(request: ChatRequest) -> dict[str, str]:
    """What stands for earlier turns in the request: at most one message does."""
    parts = [
        json.loads(part)
        for message in request.messages
        for part in (message.content or "").split("\n\n")
        if part.startswith('{"type":"earlier_turns"')
    ]
    assert len(parts) <= 1
    return parts[0] if parts else {}


def whole(request: ChatRequest) -> str:
    return "\n".join(message.content or "" for message in request.messages)


def reads(number: int, path: str) -> list[list[object]]:
    call = ToolCall(f"c{number}", "read_document", json.dumps({"path": path}))
    return [[Ended("complete", "tool_calls", None, (call,))], [f"I read {path}."]]


# --- The file trail -------------------------------------------------------------------------------


async def proposed(chat: Chat, id: str, turn: str, path: str, version: int) -> None:
    """An edit of the file that was applied."""
    ops = (Replace(path, Whole(), text_of(path, version)),)
    body = written(Kept(Proposal("better", ops, {path: text_of(path, version - 1)})))
    await chat.store.add_proposal(StoredProposal(f"p-{turn}", id, turn, body))
    await chat.store.decide_proposal(f"p-{turn}", "applied", "me")


def test_after_many_epochs_every_file_is_named_with_its_last_state():
    notes = {f"read/{n}.md": text_of(f"read/{n}.md") for n in range(10)}
    replies: list[Sequence[Any]] = []
    for n in range(60):
        replies += reads(n, f"read/{n % 10}.md") if n % 3 == 0 else [[f"That was answer {n}."]]
    model = ScriptedModel(*replies)
    states: dict[str, tuple[int, str]] = {}  # the last turn that touched each, and what it left

    async def run() -> int:
        chat = make_chat(model, notes=notes, window=3_000)
        id, epochs = None, set()
        for n in range(60):
            files = []
            if n % 3 == 0:
                states[f"read/{n % 10}.md"] = n + 1, notes[f"read/{n % 10}.md"]
            elif n % 3 == 1 and n < 50:
                path = f"sent/{n % 8}.md"
                states[path] = n + 1, text_of(path, n)
                files = [Document(path, text_of(path, n))]
            done = await say(chat, id, f"Question {n}, exactly as it was put: 100 % ✓", *files)
            id = done.chat
            if n % 10 == 2:
                path = f"changed/{n}.md"
                await proposed(chat, id, done.turn, path, 7)
                states[path] = n + 1, text_of(path, 7)
            turn = await chat.store.turn(done.turn)
            epochs.add(turn.epoch.number)
            assert f"Question {n}, exactly as it was put: 100 % ✓" in whole(model.sent[-1])
        return max(epochs)

    epochs = asyncio.run(run())
    told, request = sections(model.sent[-1]), whole(model.sent[-1])
    outside = {path: text for path, (turn, text) in states.items() if turn <= told["turns"]}
    inside = states.keys() - outside.keys()
    lines = told["files"].split("\n")

    assert epochs >= 5
    assert len(outside) > 7
    assert {tuple(line.split(" ")[:2]) for line in lines} >= {
        (path, fingerprint(text).removeprefix("sha256:")[:12]) for path, text in outside.items()
    }
    assert {path for path in inside if path not in request} == set()
    assert all(tokens <= 2_800 for tokens in _counted(model.sent))


def _counted(requests: Sequence[ChatRequest]) -> list[int]:
    counter = WordCounter()
    return [asyncio.run(counter.count_request(one)).tokens[0] for one in requests]


def test_decisions_about_proposals_go_on_as_data():
    model = ScriptedModel(*([f"Answer {n}. " + "and more words " * 60] for n in range(30)))

    async def run() -> None:
        chat = make_chat(model)
        first = await say(chat, None, "Change the note, please")
        await proposed(chat, first.chat, first.turn, "notes/a.md", 2)
        for n in range(28):
            await say(chat, first.chat, f"Something else, number {n}")

    asyncio.run(run())
    told = sections(model.sent[-1])

    assert told["decisions"] == "1 edits to notes/a.md applied"
    assert told["files"].startswith("notes/a.md ")


def test_a_proposal_that_was_taken_in_part_is_one_decision():
    model = ScriptedModel(*([f"Answer {n}. " + "and more words " * 60] for n in range(30)))

    async def run() -> None:
        chat = make_chat(model)
        first = await say(chat, None, "Change the notes, please")
        gone = Proposal("away", (Delete("notes/b.md", Whole()),), {"notes/b.md": "old"})
        whole_one = written(Kept(Proposal("better", (), {})))
        for id, body, status in (
            ("whole", whole_one, "refused"),
            ("part", written(Kept(gone, "whole", "only the second")), "applied"),
        ):
            await chat.store.add_proposal(StoredProposal(id, first.chat, first.turn, body))
            await chat.store.decide_proposal(id, status, "me")
        for n in range(28):
            await say(chat, first.chat, f"Something else, number {n}")

    asyncio.run(run())
    told = sections(model.sent[-1])

    assert told["decisions"] == "1 edits to notes/b.md applied"
    assert told["files"] == "notes/b.md ? deleted 1"


@pytest.mark.parametrize("when", range(1, 14))
def test_a_file_that_is_gone_is_never_told_as_if_it_were_there(when):
    model = ScriptedModel(*([f"Answer {n}. " + "and more words " * 60] for n in range(20)))

    async def run() -> None:
        chat = make_chat(model)
        note = Document("notes/a.md", text_of("notes/a.md"))
        id = None
        for n in range(20):
            asked = (
                Question(f"Question {n}", (note,))
                if n < when
                else Question(f"Question {n}", missing=("notes/a.md",))
            )
            events = [event async for event in chat.ask(id, asked)]
            id = events[-1].chat

    asyncio.run(run())

    trails = 0
    for request in model.sent[when:]:
        lines = sections(request).get("files", "").split("\n")
        for line in lines:
            if line.startswith("notes/a.md "):
                trails += 1
                notice = '"file_id":"notes/a.md","event":"deleted"'
                assert "deleted" in line or notice in whole(request)
    assert trails


PATHS = ("notes/a.md", "notes/b.md", "notes/c.md")
Happening = tuple[str, str]  # what happens to which file


class Folder:
    """Files that come, change, move and go."""

    def __init__(self) -> None:
        self.files = {path: text_of(path) for path in PATHS[:2]}
        self.known: set[str] = set()  # to the model
        self.changes = 1

    def happen(self, what: str, path: str) -> None:
        self.changes += 1
        match what:
            case "delete":
                self.files.pop(path, None)
            case "write":
                self.files[path] = text_of(path, self.changes)
            case "move" if path in self.files:
                self.files[f"notes/moved-{self.changes}.md"] = self.files.pop(path)

    def asked(self, text: str) -> Question:
        self.known |= set(self.files)
        documents = tuple(Document(path, text) for path, text in sorted(self.files.items()))
        return Question(text, documents, missing=tuple(sorted(self.known - set(self.files))))


def misled(request: ChatRequest, folder: Folder) -> list[str]:
    """What the request says of the folder's files that is not so, or does not say at all."""
    trail = sections(request).get("files", "")
    deeds: dict[str, dict[str, int]] = {}
    for line in trail.split("\n") if trail else []:
        path, _, rest = line.split(" ", 2)
        told = (deed.split(" ") for deed in rest.split(", ") if not deed.startswith("was "))
        deeds[path] = {deed: int(turn) for deed, turn in told}
    everything = whole(request)
    wrong = [f"not named: {path}" for path in folder.known if path not in everything]
    for path, done in deeds.items():
        last = max(done, key=lambda deed: done[deed])
        is_told = f'"file_id":"{path}","event"' in everything
        if path not in folder.files and last not in ("deleted", "renamed") and not is_told:
            wrong.append(f"as if it were there: {path} {done}")
        if (
            path in folder.files
            and last in ("deleted", "renamed")
            and f'"{path}"' not in everything
        ):
            wrong.append(f"as if it were gone: {path} {done}")
    return wrong


def lived_through(happenings: Sequence[Happening | None]) -> int:
    """How many evictions there were; every request told the truth about the files."""
    model = ScriptedModel(
        *([f"Answer {n}. " + "and more words " * 60] for n in range(len(happenings)))
    )
    chat, folder = make_chat(model, window=3_000), Folder()

    async def run() -> int:
        id, epochs = None, 0
        for number, happening in enumerate(happenings):
            if happening is not None:
                folder.happen(*happening)
            async for event in chat.ask(id, folder.asked(f"Question {number}")):
                if isinstance(event, Finished):
                    id = event.chat
                    epochs = (await chat.store.turn(event.turn)).epoch.number
            assert misled(model.sent[-1], folder) == [], number
        return epochs

    return asyncio.run(run())


@pytest.mark.parametrize("what", ["delete", "move"])
@pytest.mark.parametrize("when", range(4, 20))
def test_a_file_that_goes_in_any_turn_is_known_to_be_gone_five_evictions_later(what, when):
    happenings: list[Happening | None] = [None] * 44
    happenings[when] = (what, PATHS[0])

    assert lived_through(happenings) >= 5


happening = st.tuples(st.sampled_from(["delete", "write", "move"]), st.sampled_from(PATHS))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.none() | happening, min_size=30, max_size=45))
def test_whatever_happens_to_files_the_trail_tells_it_as_it_is(happenings):
    lived_through(happenings)


# --- Within an epoch ------------------------------------------------------------------------------


def test_requests_only_grow_between_evictions():
    model = ScriptedModel(*([f"Answer {n}. " + "and more words " * 60] for n in range(40)))

    async def run() -> list[tuple[int, tuple[Any, ...]]]:
        chat = make_chat(model)
        id, seen = None, []
        for n in range(40):
            done = await say(chat, id, f"Question number {n} about the shed")
            id = done.chat
            turn = await chat.store.turn(done.turn)
            seen.append((turn.epoch.number, model.sent[-1].messages))
        return seen

    seen = asyncio.run(run())
    pairs = [(earlier, later) for (one, earlier), (two, later) in pairwise(seen) if one == two]

    assert len(pairs) > 25
    assert all(later[: len(earlier)] == earlier for earlier, later in pairs)
    assert sections(model.sent[-1])["turns"] > 20


def test_a_turn_that_cannot_stay_leaves_its_request_word_for_word():
    last = "Remember exactly this: the code is 4711-ß"
    model = ScriptedModel(["short"], ["long " * 5_000], ["fine"])

    async def run() -> None:
        chat = make_chat(model)
        first = await say(chat, None, "hello there")
        await say(chat, first.chat, last)
        await say(chat, first.chat, "go on")

    asyncio.run(run())
    told = sections(model.sent[-1])

    assert (told["turns"], told["last_request"]) == (2, last)


def test_what_was_summed_up_stays_stored_and_explained():
    model = ScriptedModel(*([f"Answer {n}. " + "and more words " * 60] for n in range(30)))

    async def run() -> tuple[Any, Any]:
        chat = make_chat(model)
        id = None
        for n in range(30):
            done = await say(chat, id, f"Question number {n} about the shed")
            id = done.chat
            turn = await chat.store.turn(done.turn)
            if any(isinstance(m.carries, Summary) for m in turn.messages):
                break
        return turn, await chat.store.turns(id)

    turn, stored = asyncio.run(run())
    plan = json.loads(turn.plan)
    summary = next(m.carries for m in turn.messages if isinstance(m.carries, Summary))
    evicted = [item[1] for item in plan["items"] if item[0] == "turn" and item[3] == "evicted"]
    (item,) = [item for item in plan["items"] if item[0] == "summary"]

    assert evicted == [t.id for t in stored[: summary.turns]]
    assert summary.until == evicted[-1]
    assert item[1] == f"{summary.turns} earlier turns"
    assert stored[0].messages[-2].text == "Question number 0 about the shed"


def test_nothing_is_summed_up_where_that_is_wished():
    model = ScriptedModel(*([f"Answer {n}. " + "and more words " * 60] for n in range(30)))

    async def run() -> None:
        chat = make_chat(model, by="off")
        id = None
        for n in range(30):
            id = (await say(chat, id, f"Question number {n} about the shed")).chat

    asyncio.run(run())

    assert not any(sections(request) for request in model.sent)


# --- By the model ---------------------------------------------------------------------------------


class Summing(ScriptedModel):
    """Answers questions at length, and sums up when it is asked to."""

    def __init__(self, summary: object) -> None:
        super().__init__()
        self.summary = summary
        self.asked: list[ChatRequest] = []

    async def stream(self, request: ChatRequest):
        is_summary = request.messages[0].content.startswith("Sum up")
        (self.asked if is_summary else self.sent).append(request)
        reply = self.summary if is_summary else "An answer. " + "and more words " * 60
        self._replies.append([reply])
        async for event in super().stream(request):
            yield event
        self.sent.pop() if is_summary else self.sent.pop(-2)


async def long_chat(chat: Chat, turns: int = 40) -> list[str]:
    id = None
    for n in range(turns):
        id = (await say(chat, id, f"Question number {n} about the shed and its roof")).chat
    return [row.attempt.category for row in await chat.store.attempts()]


def booked(chat: Chat) -> Chat:
    def model(attempt, caps):
        class Booked:
            name, endpoint = chat.model.name, chat.model.endpoint

            async def stream(self, request):
                await chat.store.open_attempt(attempt, caps)
                async for event in chat.model.stream(request):
                    yield event

        return Booked()

    chat.till = Till(Purse(chat.store, Limits()), None, model)
    return chat


def test_the_model_sums_up_where_it_may():
    model = Summing("The user asks about the shed.")
    categories = asyncio.run(long_chat(booked(make_chat(model, by="model"))))

    assert sections(model.sent[-1])["summary"] == "The user asks about the shed."
    assert categories.count("summarize") == len(model.asked) > 1
    assert "Question number 0 about the shed" in whole(model.asked[0])
    assert "Summed up before:\nThe user asks about the shed." in whole(model.asked[-1])
    assert all(tokens <= WINDOW for tokens in _counted(model.asked))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Unreachable("no route"), id="it cannot be reached"),
        pytest.param("", id="it says nothing"),
    ],
)
def test_a_summary_that_fails_is_made_of_sentences(answer):
    model = Summing(answer)
    asyncio.run(long_chat(make_chat(model, by="model")))

    assert len(model.asked) > 1
    assert "Question number" in sections(model.sent[-1])["summary"]


def test_a_plan_without_sending_asks_no_model():
    model = Summing("The user asks about the shed.")

    async def run() -> int:
        chat = make_chat(model, by="model")
        await long_chat(chat, 14)
        asked = len(model.asked) + len(model.sent)
        await chat.plan("chat-1", Question("word " * 1_500))
        return len(model.asked) + len(model.sent) - asked

    assert asyncio.run(run()) == 0


def test_a_summary_by_the_model_is_cut_to_its_room():
    model = Summing("A sentence of the summary. " * 300)
    asyncio.run(long_chat(make_chat(model, by="model")))
    summary = sections(model.sent[-1])["summary"]

    assert len(summary.split()) <= 190  # a twentieth of the room
    assert summary.endswith("summary.")


# --- Pins -----------------------------------------------------------------------------------------


def pinned_chat(turns: int, window: int = WINDOW, length: int = 60) -> tuple[ScriptedModel, Any]:
    model = ScriptedModel(*([f"Answer {n}. " + "and more words " * length] for n in range(turns)))

    async def run() -> Any:
        chat = make_chat(model, window=window)
        first = await say(chat, None, "The oven takes beech only, whatever I say later.")
        await chat.store.pin(first.chat, Pin(turn=first.turn))
        last = None
        for n in range(turns - 1):
            last = await say(chat, first.chat, f"Question number {n} about the shed")
        return await chat.store.turn(last.turn), await chat.store.turns(first.chat)

    return model, asyncio.run(run())


def test_a_pinned_turn_stays_through_evictions():
    model, (last, turns) = pinned_chat(40)

    assert last.epoch.number >= 2
    assert all(
        whole(request).count("The oven takes beech only, whatever I say later.") == 1
        for request in model.sent
    )
    shown = [m.carries for turn in turns for m in turn.messages if isinstance(m.carries, Pinned)]
    assert set(shown) == {Pinned(turns[0].id)}


@pytest.mark.parametrize("length", [500, 1_500, 6_000])
def test_a_pinned_turn_stays_while_tools_bring_much(length):
    note = "words of a long note " * (length // 5)
    rounds = [*reads(1, "n.md")[:1], *reads(2, "n.md")[:1], *reads(3, "n.md")]
    answers = [[f"Answer {n}. " + "and more words " * 150] for n in range(4)]
    model = ScriptedModel(*answers, *rounds)

    async def run() -> None:
        chat = make_chat(model, notes={"n.md": note})
        first = await say(chat, None, "The oven takes beech only, whatever I say later.")
        await chat.store.pin(first.chat, Pin(turn=first.turn))
        for n in range(3):
            await say(chat, first.chat, f"Question number {n} about the shed")
        await say(chat, first.chat, "What does the note say?")

    asyncio.run(run())

    assert len(model.sent) > 5
    assert [whole(request).count("The oven takes beech only") for request in model.sent] == [
        1 for _ in model.sent
    ]


def test_what_was_said_before_a_tool_was_called_is_pinned_and_recalled_too():
    call = ToolCall("c1", "read_document", '{"path": "n.md"}')
    said = "The hinges come from Kern in Basel."
    looked = [said, Ended("complete", "tool_calls", None, (call,))]
    answers = [[f"Answer {n}. " + "and more words " * 60] for n in range(30)]
    model = ScriptedModel(looked, ["So it is."], *answers)

    async def run() -> Any:
        chat = make_chat(model, notes={"n.md": "a note"})
        chat.recollection.least = 0.0
        first = await say(chat, None, "Who sells them?")
        for n in range(25):
            await say(chat, first.chat, f"Something else, number {n}")
        await say(chat, first.chat, "Where do the hinges come from?")
        recalled = whole(model.sent[-1])
        await chat.store.pin(first.chat, Pin(turn=first.turn))
        await say(chat, first.chat, "And now?")
        return recalled, whole(model.sent[-1])

    recalled, pinned = asyncio.run(run())

    assert f"1 assistant: {said}" in recalled
    assert f"1 assistant: {said}\\n1 assistant: So it is." in pinned


def test_a_pin_that_does_not_fit_is_told():
    _, (last, _) = pinned_chat(6, length=600)
    items = json.loads(last.plan)["items"]
    (pin,) = [item for item in items if item[0] == "pin"]

    assert pin[3] == "omitted"
    assert "do not fit what pins may take" in pin[4]
