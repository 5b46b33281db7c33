"""One chat turn through the real engine, with working fakes around it."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from sill.core.budget import Profile
from sill.core.certificate import Certificate, Usage
from sill.core.documents import Document
from sill.core.messages import Message, Recall, fingerprint
from sill.core.references import Reference
from sill.core.usage import plan_from_json
from sill.engine.chat import Chat
from sill.engine.events import Delta, Finished, Notice, Refused, Started
from sill.engine.prepare import Call, Question
from sill.engine.recall import Recollection
from sill.engine.sizing import Sizer
from sill.errors import FileRefused, Overflow, TurnInProgress, Unreachable, UsageError
from sill.ports import Ended
from sill.testing import MemoryStore, ScriptedModel, WordCounter

NOTE = Document("note.md", "one two three")


def make_chat(*replies, window=400, store=None, clock=lambda: 0.0) -> Chat:
    counter = WordCounter()
    numbers = Profile(window=window, reply=40, temperature=0.0)
    return Chat(
        store=store or MemoryStore(),
        model=ScriptedModel(*replies),
        counter=counter,
        sizer=Sizer(counter, counter.count, "folded"),
        call=Call("scripted", numbers, window, "be kind"),
        workspace="w",
        clock=clock,
    )


async def talk(chat: Chat, *questions: str, files: Sequence[Document] = ()) -> list:
    seen, id = [], None
    for question in questions:
        seen = [event async for event in chat.ask(id, Question(question, tuple(files)))]
        id = seen[0].chat if isinstance(seen[0], Started) else id
    return seen


def stored(chat: Chat, id="chat-1"):
    return asyncio.run(chat.store.turns(id))


def contents(request) -> list[str | None]:
    return [message.content for message in request.messages]


def test_a_turn_streams_and_is_stored_whole():
    chat = make_chat(["Hel", "lo"])

    started, *rest = asyncio.run(talk(chat, "hi there"))

    # 2 words + 1 for "be kind", 2 + 1 for the question, 1 to open the reply
    certificate = Certificate("exact", "words", predicted=7, actual=7)
    assert isinstance(started, Started)
    assert rest == [
        Delta("Hel"),
        Delta("lo"),
        Finished(
            "chat-1",
            "turn-1",
            "complete",
            "Hello",
            certificate,
            Usage(7, 2),
            0,
            "",
            "scripted",
            "test:",
        ),
    ]
    [turn] = stored(chat)
    assert (turn.status, turn.messages, turn.certificate) == (
        "complete",
        (Message("user", "hi there"), Message("assistant", "Hello")),
        certificate,
    )


def test_the_next_request_is_the_last_one_and_something_at_its_end():
    chat = make_chat(["one"], ["two"], ["three"])

    asyncio.run(talk(chat, "a", "b", "c", files=[NOTE]))

    first, second, third = (request.messages for request in chat.model.sent)
    assert second[: len(first)] == first
    assert third[: len(second)] == second


def test_an_unchanged_file_is_sent_once():
    chat = make_chat(["ok"], ["ok"])

    asyncio.run(talk(chat, "first", "second", files=[NOTE]))

    assert [str(contents(request)).count("one two three") for request in chat.model.sent] == [1, 1]
    assert stored(chat)[1].messages[0] == Message("user", "second")


def test_a_turn_refers_to_every_file_its_request_shows():
    chat = make_chat(["ok"], ["ok"], ["ok"])
    other, new = Document("other.md", "four five"), Document("note.md", "six")

    async def run():
        shown, id = [], None
        for files in ((NOTE,), (other,), (new, other)):
            *_, finished = [e async for e in chat.ask(id, Question("q", files))]
            id = finished.chat
            shown.append(finished.references)
        return shown

    def file(document):
        return Reference("file", document.path, fingerprint=fingerprint(document.text))

    shown = asyncio.run(run())

    # A file that was shown before is still in the request when nobody names it.
    assert [set(references) for references in shown] == [
        {file(NOTE)},
        {file(NOTE), file(other)},
        {file(new), file(other)},
    ]
    assert [json.loads(turn.references) for turn in stored(chat)] == [
        [{"path": one.path, "origin": "file", "fingerprint": one.fingerprint} for one in references]
        for references in shown
    ]


def test_a_turn_without_files_refers_to_nothing():
    chat = make_chat(["ok"])

    finished = asyncio.run(talk(chat, "hi"))[-1]

    assert (finished.references, stored(chat)[0].references) == ((), "")


def test_a_file_that_was_left_out_is_not_referred_to():
    chat = make_chat(["ok"])
    large = Document("large.md", "# Heading\n" + "word " * 900)

    finished = asyncio.run(talk(chat, "what is in it?", files=[large, NOTE]))[-1]

    assert [one.path for one in finished.references] == ["note.md"]


def test_a_changed_file_is_told_and_the_next_plan_starts_from_it():
    chat = make_chat(["ok"], ["ok"], ["ok"])
    old = Document("note.md", "".join(f"line {n}\n" for n in range(40)))
    new = Document("note.md", old.text.replace("line 7\n", "line seven\n"))

    async def edit():
        [started, *_] = [e async for e in chat.ask(None, Question("first", (old,)))]
        for question in ("second", "third"):
            [_ async for _ in chat.ask(started.chat, Question(question, (new,)))]

    asyncio.run(edit())

    hidden = [[m.carries for m in turn.messages if m.hidden] for turn in stored(chat)]
    assert [len(messages) for messages in hidden] == [1, 1, 0]
    assert "virtual_file_delta" in stored(chat)[1].messages[0].text


def test_a_refused_turn_writes_nothing():
    chat = make_chat(window=60)

    [refused] = asyncio.run(talk(chat, "far too long " * 40))

    assert isinstance(refused, Refused)
    assert refused.needed > refused.available
    assert asyncio.run(chat.store.latest_chat("w")) is None
    assert chat.model.sent == []


def test_leaving_early_keeps_what_arrived():
    chat = make_chat(["Hel", "lo"])

    async def leave():
        stream = chat.ask(None, Question("hi"))
        async for event in stream:
            if event == Delta("Hel"):
                break
        await stream.aclose()

    asyncio.run(leave())

    [turn] = stored(chat)
    assert (turn.status, turn.messages[-1]) == ("cancelled", Message("assistant", "Hel"))


def test_stop_ends_a_stream_that_hangs():
    class Hanging(ScriptedModel):
        async def stream(self, request):
            async for event in super().stream(request):
                yield event
                await asyncio.Event().wait()

    chat = make_chat()
    object.__setattr__(chat, "model", Hanging(["Hel", "lo"]))

    async def stop_after_the_first_word():
        stop = asyncio.Event()
        seen = []
        async for event in chat.ask(None, Question("hi"), stop):
            seen.append(event)
            if isinstance(event, Delta):
                stop.set()
        return seen

    *_, finished = asyncio.run(stop_after_the_first_word())

    assert (finished.outcome, finished.text) == ("cancelled", "Hel")
    assert stored(chat)[0].status == "cancelled"


def test_a_cancelled_task_closes_its_turn_and_keeps_what_came():
    class Hanging(ScriptedModel):
        async def stream(self, request):
            async for event in super().stream(request):
                yield event
                await asyncio.Event().wait()

    chat = make_chat()
    chat.model = Hanging(["Hel", "lo"])
    spoken = asyncio.Event()

    async def listen():
        async for event in chat.ask(None, Question("hi")):
            if isinstance(event, Delta):
                spoken.set()

    async def cancel():
        task = asyncio.ensure_future(listen())
        await spoken.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())

    [turn] = stored(chat)
    assert (turn.status, turn.messages[-1]) == ("cancelled", Message("assistant", "Hel"))


@pytest.mark.parametrize(
    "reply, outcome, text",
    [
        pytest.param([Unreachable("nobody answers")], "failed", "", id="nothing came"),
        pytest.param(["ha", Unreachable("gone")], "partial", "ha", id="the line broke"),
        pytest.param(
            ["ha", Ended("partial", "length", None, reason="cut")],
            "partial",
            "ha",
            id="cut by length",
        ),
        pytest.param(
            [Ended("complete", "stop", None)], "complete", "", id="an empty answer is one"
        ),
    ],
)
def test_only_complete_turns_enter_the_next_request(reply, outcome, text):
    chat = make_chat(reply, ["fine"])

    async def two():
        first = [e async for e in chat.ask(None, Question("first", (NOTE,)))]
        second = [e async for e in chat.ask(first[0].chat, Question("second", (NOTE,)))]
        return first[-1], second[-1]

    first, second = asyncio.run(two())

    assert (first.outcome, first.text, second.outcome) == (outcome, text, "complete")
    again = contents(chat.model.sent[1])
    assert any("first" in (content or "") for content in again) == (outcome == "complete")
    # What a failed turn had sent does not count as seen: the file goes out again.
    assert str(again).count("one two three") == 1


def test_one_turn_at_a_time():
    chat = make_chat(["a"], ["b"], ["c"])

    async def two_at_once():
        [started, *_] = [e async for e in chat.ask(None, Question("first"))]
        open_turn = chat.ask(started.chat, Question("second"))
        await anext(open_turn)
        with pytest.raises(TurnInProgress):
            await anext(chat.ask(started.chat, Question("third")))
        await open_turn.aclose()

    asyncio.run(two_at_once())

    assert [turn.status for turn in stored(chat)] == ["complete", "cancelled"]


def test_the_exact_request_is_kept():
    chat = make_chat(["ok"])

    asyncio.run(talk(chat, "what was sent?", files=[NOTE]))

    async def kept():
        return await chat.store.turn("turn-1")

    turn = asyncio.run(kept())
    assert json.loads(turn.request) == chat.model.sent[0].body()
    assert [item.kind for item in plan_from_json(turn.plan).items] == [
        "system",
        "overhead",
        "file",
        "question",
        "reply",
    ]


def test_a_long_chat_evicts_in_steps_and_always_fits():
    chat = make_chat(*(["word " * 10] for _ in range(60)), window=300)

    asyncio.run(talk(chat, *(f"question {n}" for n in range(60))))

    turns = stored(chat)
    epochs = [turn.epoch.number for turn in turns]
    assert all(turn.status == "complete" for turn in turns)
    assert epochs == sorted(epochs)
    assert 1 < epochs[-1] < 20  # several evictions, each for several turns
    assert all(turn.certificate.predicted <= chat.call.budget.room for turn in turns)


def test_a_deleted_file_is_told_once():
    chat = make_chat(["ok"], ["ok"], ["ok"])

    async def delete():
        [started, *_] = [e async for e in chat.ask(None, Question("first", (NOTE,)))]
        for question in ("second", "third"):
            [_ async for _ in chat.ask(started.chat, Question(question, (), ("note.md",)))]

    asyncio.run(delete())

    texts = [message.text for turn in stored(chat) for message in turn.messages if message.hidden]
    assert ["virtual_file_context" in texts[0], '"event":"deleted"' in texts[1], len(texts)] == [
        True,
        True,
        2,
    ]


def test_a_renamed_file_is_told_and_not_sent_again():
    chat = make_chat(["ok"], ["ok"])
    moved = Document("new name.md", NOTE.text)

    async def rename():
        [started, *_] = [e async for e in chat.ask(None, Question("first", (NOTE,)))]
        [_ async for _ in chat.ask(started.chat, Question("second", (moved,), ("note.md",)))]

    asyncio.run(rename())

    assert str(contents(chat.model.sent[1])).count("one two three") == 1
    assert '"event":"renamed"' in stored(chat)[1].messages[0].text


def test_a_file_that_does_not_fit_is_named_to_the_user_and_to_the_model():
    chat = make_chat(["ok"])
    large = Document("large.md", "# Heading\n" + "word " * 900)

    events = asyncio.run(talk(chat, "what is in it?", files=[large]))

    assert next(e.text for e in events if isinstance(e, Notice)).startswith("large.md is not shown")
    assert '"event":"omitted"' in contents(chat.model.sent[0])[1]


def test_a_window_learned_from_a_refusal_is_planned_for_once():
    overflow = Overflow("too long", window=120, prompt=200)
    chat = make_chat(["word " * 80], [overflow], ["fits"], window=400)

    events = asyncio.run(talk(chat, "first", "second"))

    assert [type(e).__name__ for e in events] == [
        "Started",
        "Notice",
        "Started",
        "Delta",
        "Finished",
    ]
    assert events[-1].outcome == "complete"
    assert events[-1].certificate.predicted <= 120


def test_a_model_switch_counts_and_plans_again():
    store = MemoryStore()
    words = make_chat(["word " * 30], store=store)

    class Letters(WordCounter):
        """Five tokens a word: the other model's way of counting."""

        async def count(self, texts):
            counts = await super().count(texts)
            return replace(counts, tokens=tuple(5 * n for n in counts.tokens))

        async def count_request(self, request):
            counts = await super().count_request(request)
            return replace(counts, tokens=(5 * counts.tokens[0],))

    letters = replace(
        make_chat(["fine"], store=store, window=200),
        counter=Letters(),
        sizer=Sizer(Letters(), Letters().count, "folded"),
    )

    async def switch():
        [started, *_] = [e async for e in words.ask(None, Question("first"))]
        return [e async for e in letters.ask(started.chat, Question("second"))]

    started, *_, finished = asyncio.run(switch())

    # The first turn took 34 tokens of 400 and would take 170 of 200: it leaves.
    assert [(i.kind, i.fate) for i in started.plan.items if i.kind == "turn"] == [
        ("turn", "evicted")
    ]
    assert finished.outcome == "complete"


def test_what_left_the_window_comes_back_when_a_question_needs_it():
    store = MemoryStore()
    chat = make_chat(*(["word " * 10] for _ in range(31)), window=300, store=store)
    chat.recollection = Recollection(store)
    fact = "The spare key hangs behind the beehive."
    chatter = [f"Tell me about subject number {n}." for n in range(29)]

    asyncio.run(talk(chat, fact, *chatter, "Where does the spare key hang?"))

    turns = stored(chat)
    *_, last = turns
    shown = [m.content for m in chat.model.sent[-1].messages]
    assert last.epoch.first != turns[0].id and last.epoch.number > 0
    assert fact in "".join(shown)
    assert isinstance(last.messages[0].carries, Recall)
    assert turns[0].id in last.messages[0].carries.turns
    assert all(turn.certificate.predicted <= chat.call.budget.room for turn in turns)


def test_small_talk_recalls_nothing_and_evicts_nothing():
    def epochs(recollection):
        store = MemoryStore()
        chat = make_chat(*(["word " * 10] for _ in range(40)), window=300, store=store)
        chat.recollection = Recollection(store, least=0.1, insists=0.3) if recollection else None
        said = ["The spare key hangs behind the beehive.", *("Thanks, go on." for _ in range(39))]
        asyncio.run(talk(chat, *said))
        return [turn.epoch.number for turn in stored(chat)]

    assert epochs(recollection=True) == epochs(recollection=False)


@pytest.mark.parametrize(
    "question, error, words",
    [
        pytest.param(
            Question("half \udcff a pair"), UsageError, "character 5", id="in the message"
        ),
        pytest.param(
            Question("hi", (Document("bad.md", "x\ud800"),)), FileRefused, "bad.md", id="in a file"
        ),
    ],
)
def test_half_a_surrogate_pair_is_refused_before_anything_is_written(question, error, words):
    chat = make_chat(["never"])

    async def ask():
        return [e async for e in chat.ask(None, question)]

    with pytest.raises(error, match=words):
        asyncio.run(ask())

    assert (chat.model.sent, asyncio.run(chat.store.latest_chat("w"))) == ([], None)
