"""Tool rounds through the real engine: carried out, cut to fit, recorded, and over after ten."""

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core.budget import Profile
from sill.core.messages import Message, ToolCall, ToolCalls, ToolResult
from sill.core.references import Reference
from sill.core.request import ToolSchema
from sill.core.usage import plan_from_json
from sill.engine.chat import Chat
from sill.engine.events import Delta, Finished, Started, ToolUsed
from sill.engine.offering import Toolkit
from sill.engine.prepare import Call, Question
from sill.engine.sizing import Sizer
from sill.errors import Overflow, Unreachable, Unsupported
from sill.ports import Ended, ToolOutcome
from sill.testing import MemoryStore, ScriptedModel, ScriptedTools, WordCounter

READ = ToolSchema(
    "read",
    "Reads a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)


def calls(*wanted: tuple[str, dict], text: str = "") -> list:
    """A reply that asks for these tools."""
    made = tuple(
        ToolCall(f"id-{n}", name, json.dumps(args)) for n, (name, args) in enumerate(wanted)
    )
    return [*([text] if text else []), Ended("complete", "tool_calls", None, made)]


class Obedient(ScriptedModel):
    """Answers when it may not call."""

    async def stream(self, request):
        if request.tool_choice == "none":
            self._replies.insert(0, ["done"])
        async for event in super().stream(request):
            yield event


def make_chat(*replies, tools, window=400, store=None, schemas=None, core=()) -> Chat:
    counter = WordCounter()
    numbers = Profile(window=window, reply=window // 10, temperature=0.0)
    box = ScriptedTools(tools, schemas, core)
    return Chat(
        store=store or MemoryStore(),
        model=Obedient(*replies),
        counter=counter,
        sizer=Sizer(counter, counter.count, "folded"),
        call=Call("scripted", numbers, window, "be kind"),
        workspace="w",
        clock=lambda: 0.0,
        toolkit=Toolkit(box, counter),
    )


def box_of(chat: Chat) -> ScriptedTools:
    return chat.toolkit.box


async def ask(chat: Chat, text: str, id: str | None = None) -> list:
    return [event async for event in chat.ask(id, Question(text))]


def stored(chat: Chat, turn="turn-1"):
    return asyncio.run(chat.store.turn(turn))


def test_a_call_is_carried_out_and_its_result_goes_out_with_the_next_request():
    found = ToolOutcome("two lines\nof text", (Reference("read", "a.md"),))
    chat = make_chat(
        calls(("read", {"path": "a.md"}), text="Let me look."),
        ["It says two."],
        tools={"read": lambda _: found},
        schemas={"read": READ},
    )

    started, *rest = asyncio.run(ask(chat, "what does a.md say?"))

    assert isinstance(started, Started)
    *events, finished = rest
    assert events == [
        Delta("Let me look."),
        ToolUsed("read", "path=a.md", "done", 5, (Reference("read", "a.md"),)),
        Delta("\n\n"),
        Delta("It says two."),
    ]
    assert (finished.outcome, finished.text) == ("complete", "Let me look.\n\nIt says two.")
    assert Reference("read", "a.md") in finished.references
    call = ToolCall("id-0", "read", '{"path": "a.md"}')
    turn = stored(chat)
    assert turn.messages == (
        Message("user", "what does a.md say?"),
        Message("assistant", "Let me look.", ToolCalls((call,))),
        Message("tool", "two lines\nof text", ToolResult("id-0", "read")),
        Message("assistant", "It says two."),
    )
    first, second = chat.model.sent
    assert second.messages[: len(first.messages)] == first.messages
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "tool"]
    recorded = asyncio.run(chat.store.requests("turn-1"))
    assert [one.certificate.predicted for one in recorded] == [29, 40]
    plan = plan_from_json(turn.plan)
    assert plan.tokens == sum(item.tokens for item in plan.items if item.in_prompt)
    assert [item.tokens for item in plan.items if item.kind == "rounds"] == [13]


def test_the_next_turn_begins_with_the_last_request_of_the_one_before_byte_for_byte():
    chat = make_chat(
        calls(("read", {"path": "a"})), ["done"], ["and"], tools={"read": lambda _: "text"}
    )

    async def run():
        await ask(chat, "first")
        await ask(chat, "second", "chat-1")

    asyncio.run(run())
    *_, last, following = chat.model.sent
    assert following.messages[: len(last.messages)] == last.messages
    assert following.tools == last.tools


@pytest.mark.parametrize(
    "call, told",
    [
        pytest.param(("lost", {}), "there is no tool 'lost'; there are: read", id="unknown tool"),
        pytest.param(
            ("read", {"path": 3}),
            "wrong arguments for read: path: 3 is not of type 'string'",
            id="wrong type",
        ),
        pytest.param(
            ("read", {}),
            "wrong arguments for read: arguments: 'path' is a required property",
            id="missing argument",
        ),
        pytest.param(
            ("read", {"path": "broken"}), "read failed: ValueError: broken", id="an exception"
        ),
        pytest.param(
            ("read", {"path": "a", "start_line": 2}),
            "nothing is kept to go on with; call read without start_line",
            id="going on with nothing",
        ),
    ],
)
def test_a_wrong_call_gets_an_error_that_the_model_can_read(call, told):
    def read(arguments):
        raise ValueError(arguments["path"])

    chat = make_chat(calls(call), ["sorry"], tools={"read": read}, schemas={"read": READ})

    events = asyncio.run(ask(chat, "go"))

    assert [e.outcome for e in events if isinstance(e, ToolUsed)] == ["failed"]
    assert chat.model.sent[1].messages[-1].content == told
    assert events[-1].outcome == "complete"


def test_after_ten_rounds_the_model_is_asked_for_its_answer():
    again = [calls(("read", {"path": str(n)})) for n in range(10)]
    chat = make_chat(*again, tools={"read": lambda _: "x"}, window=4000)

    *_, finished = asyncio.run(ask(chat, "go"))

    assert [request.tool_choice for request in chat.model.sent] == [None] * 10 + ["none"]
    assert chat.model.sent[-1].tools == chat.model.sent[0].tools
    assert (finished.outcome, finished.text) == ("complete", "done")


def test_a_model_that_goes_on_calling_ends_its_turn():
    again = [calls(("read", {"path": str(n)})) for n in range(11)]
    chat = make_chat(tools={"read": lambda _: "x"}, window=4000)
    chat.model = ScriptedModel(*again)

    *_, finished = asyncio.run(ask(chat, "go"))

    reason = "it went on calling tools when it was asked for an answer"
    assert (finished.outcome, finished.reason) == ("partial", reason)
    assert len(box_of(chat).called) == 10


def test_calls_without_ids_of_their_own_get_some():
    same = ToolCall("x", "read", "{}")
    twice = [Ended("complete", "tool_calls", None, (same, replace(same, id="")))]
    chat = make_chat(twice, twice, ["ok"], tools={"read": lambda _: "x"})

    asyncio.run(ask(chat, "go"))

    messages = chat.model.sent[-1].messages
    made = [call.id for message in messages for call in message.tool_calls]
    assert made == ["x", "call_1", "call_2", "call_3"]
    assert made == [m.tool_call_id for m in messages if m.role == "tool"]


def test_a_long_result_is_cut_and_can_be_continued_without_calling_again():
    text = "\n".join(f"line {n} of it" for n in range(1, 101))
    chat = make_chat(
        calls(("read", {"path": "a"})),
        calls(("read", {"path": "a", "start_line": 43})),
        ["ok"],
        tools={"read": lambda _: text},
        window=400,
    )

    events = asyncio.run(ask(chat, "go"))

    first = chat.model.sent[1].messages[-1].content
    shown, note = first.rsplit("\n", 1)
    assert text.startswith(shown)
    lines = shown.count("\n") + 1
    assert note == (
        f"[lines 1 to {lines} of 100; continue at line {lines + 1}:"
        f' the same call with "start_line": {lines + 1}]'
    )
    assert chat.model.sent[2].messages[-1].content.startswith("line 43 of it\nline 44")
    assert [e.outcome for e in events if isinstance(e, ToolUsed)] == ["cut", "cut"]
    assert len(box_of(chat).called) == 1


def test_stopping_while_a_tool_works_keeps_the_rounds_that_were_done():
    stop = asyncio.Event()

    class Slow(ScriptedTools):
        async def call(self, name, arguments, caller):
            if arguments["path"] == "slow":
                stop.set()
                await asyncio.sleep(60)
            return await super().call(name, arguments, caller)

    chat = make_chat(
        calls(("read", {"path": "a"})), calls(("read", {"path": "slow"}), text="More."), tools={}
    )
    chat.toolkit = Toolkit(Slow({"read": lambda _: "x"}), chat.counter)

    async def run():
        return [event async for event in chat.ask(None, Question("go"), stop)]

    *_, finished = asyncio.run(run())

    turn = stored(chat)
    assert (finished.outcome, finished.text, turn.status) == ("cancelled", "More.", "cancelled")
    assert [message.role for message in turn.messages] == ["user", "assistant", "tool", "assistant"]
    assert turn.messages[-1] == Message("assistant", "More.")


def test_a_task_that_is_cancelled_while_a_tool_works_leaves_a_cancelled_turn():
    working = asyncio.Event()

    class Slow(ScriptedTools):
        async def call(self, name, arguments, caller):
            working.set()
            await asyncio.sleep(60)
            return ToolOutcome("too late")

    chat = make_chat(calls(("read", {"path": "a"}), text="Wait."), tools={})
    chat.toolkit = Toolkit(Slow({"read": lambda _: "x"}), chat.counter)

    async def run():
        asking = asyncio.ensure_future(ask(chat, "go"))
        await working.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    asyncio.run(run())

    turn = stored(chat)
    assert (turn.status, turn.messages) == (
        "cancelled",
        (Message("user", "go"), Message("assistant", "Wait.")),
    )


def test_a_turn_left_between_two_rounds_has_its_words_once_and_the_plan_of_what_was_sent():
    chat = make_chat(calls(("read", {"path": "a"}), text="Wait."), tools={"read": lambda _: "x"})

    async def run():
        async with aclosing(chat.ask(None, Question("go"))) as events:
            async for event in events:
                if isinstance(event, ToolUsed):
                    return

    asyncio.run(run())

    turn = stored(chat)
    call = ToolCall("id-0", "read", '{"path": "a"}')
    assert (turn.status, turn.messages) == (
        "cancelled",
        (
            Message("user", "go"),
            Message("assistant", "Wait.", ToolCalls((call,))),
            Message("tool", "x", ToolResult("id-0", "read")),
        ),
    )
    (sent,) = chat.model.sent
    assert turn.request == chat.wire(sent)
    assert plan_from_json(turn.plan).tokens == turn.certificate.predicted


def test_a_process_that_dies_in_the_fourth_round_leaves_the_first_three():
    names = ("a", "b", "c", "d")
    rounds = [calls(("read", {"path": name}), text=f"Looking at {name}.") for name in names]
    dead: list = []

    def read(given: dict) -> str:
        if given["path"] == "d":  # here it dies: what the store has now is all there ever will be
            dead.append(chat.store._turns["turn-1"])
        return f"text of {given['path']}"

    chat = make_chat(*rounds, ["done"], tools={"read": read})
    asyncio.run(ask(chat, "go"))

    (turn,) = dead
    assert [(m.role, m.text) for m in turn.messages] == [
        ("user", "go"),
        *(
            said
            for name in names[:3]
            for said in (("assistant", f"Looking at {name}."), ("tool", f"text of {name}"))
        ),
    ]


def test_a_call_that_there_is_no_room_to_keep_is_told_all_the_same():
    endless = "word " * 400
    chat = make_chat(
        calls(("read", {"path": endless}), text="Wait."), tools={"read": lambda _: "x"}
    )

    events = asyncio.run(ask(chat, "go"))

    assert [e.outcome for e in events if isinstance(e, ToolUsed)] == ["lost"]
    assert (events[-1].outcome, events[-1].text) == ("complete", "Wait.\n\ndone")
    assert stored(chat).messages == (
        Message("user", "go"),
        Message("assistant", "Wait.\n\ndone"),
    )


def test_a_failure_after_a_round_leaves_a_failed_turn_with_what_was_done():
    broken = Unreachable("nobody answers", endpoint="x")
    chat = make_chat(calls(("read", {"path": "a"})), [broken], tools={"read": lambda _: "x"})

    *_, finished = asyncio.run(ask(chat, "go"))

    turn = stored(chat)
    assert (finished.outcome, turn.status) == ("failed", "failed")
    assert [message.role for message in turn.messages] == ["user", "assistant", "tool"]


def test_an_endpoint_without_tools_is_asked_again_without_them():
    no = Unsupported("does not support tools", endpoint="x")
    chat = make_chat([no], ["hello"], tools={"read": lambda _: "x"})

    *_, finished = asyncio.run(ask(chat, "go"))

    assert (finished.outcome, finished.text) == ("complete", "hello")
    assert [bool(request.tools) for request in chat.model.sent] == [True, False]
    assert len(asyncio.run(chat.store.turns("chat-1"))) == 1


def read_thirty(window: int, words: int) -> tuple[Chat, list]:
    """Thirty files of so many words, three at a time."""
    replies = [
        calls(*(("read", {"path": f"notes/{n}.md"}) for n in range(first, first + 3)))
        for first in range(0, 30, 3)
    ]
    lines = "\n".join("ten words stand here in every line of the file" for _ in range(words // 10))
    chat = make_chat(
        *replies,
        ["done"],
        tools={"read": lambda _: lines},
        schemas={"read": READ},
        window=window,
    )
    return chat, asyncio.run(ask(chat, "read all thirty"))


def changes_of_the_prefix(chat: Chat) -> int:
    pairs = zip(chat.model.sent, chat.model.sent[1:], strict=False)
    return sum(b.messages[: len(a.messages)] != a.messages for a, b in pairs)


def test_thirty_files_at_16k_take_one_compaction_and_no_result_is_cut():
    chat, events = read_thirty(16_384, 600)

    assert events[-1].outcome == "complete"
    assert [e.outcome for e in events if isinstance(e, ToolUsed)] == ["done"] * 30
    assert changes_of_the_prefix(chat) <= 1


def test_thirty_files_over_ten_questions_at_16k_take_one_new_epoch():
    text = "\n".join("ten words stand here in every line of the file" for _ in range(60))
    replies = []
    for first in range(0, 30, 3):
        wanted = [("read", {"path": f"{n}.md"}) for n in range(first, first + 3)]
        replies += [calls(*wanted), ["read"]]
    chat = make_chat(*replies, tools={"read": lambda _: text}, window=16_384)

    async def run():
        for number in range(10):
            await ask(chat, f"read the next three, {number}", "chat-1" if number else None)
        return await chat.store.turns("chat-1")

    turns = asyncio.run(run())

    assert [turn.status for turn in turns] == ["complete"] * 10
    assert turns[-1].epoch.number <= 1
    assert changes_of_the_prefix(chat) <= 1


@pytest.mark.parametrize("window", [4096, 1024, 512])
def test_thirty_files_in_a_small_window_still_end(window):
    _, events = read_thirty(window, 600)

    assert isinstance(events[-1], Finished)
    assert (events[-1].outcome, events[-1].text) == ("complete", "done")


texts = st.builds(
    lambda words, lines, glue: glue.join(["w " * words + "end"] * lines),
    st.integers(0, 60),
    st.integers(1, 40),
    st.sampled_from(["\n", " ", "\n\n"]),
)
rounds = st.lists(st.lists(texts, min_size=1, max_size=4), min_size=1, max_size=12)


@settings(max_examples=300, deadline=None)
@given(rounds, st.sampled_from([60, 100, 200, 400, 1000, 4000]), st.lists(texts, max_size=3))
def test_no_request_of_a_tool_loop_is_larger_than_the_room(played, window, talk):
    results = {f"{n}-{m}": text for n, one in enumerate(played) for m, text in enumerate(one)}
    replies = [
        calls(*(("read", {"path": f"{n}-{m}"}) for m in range(len(one))), text="so " * (n % 3))
        for n, one in enumerate(played)
    ]
    chat = make_chat(
        *([one] for one in talk),
        *replies,
        *[["done"]] * 12,
        tools={"read": lambda arguments: results[arguments["path"]]},
        window=window,
    )

    async def run():
        id, last = None, []
        for number in range(len(talk) + 1):
            last = await ask(chat, f"q {number}", id)
            id = "chat-1" if await chat.store.chat("chat-1") else None
        return last

    last = asyncio.run(run())[-1]

    room = chat.call.budget.room
    counts = [asyncio.run(chat.counter.count_request(r)).tokens[0] for r in chat.model.sent]
    assert all(count <= room for count in counts)
    if isinstance(last, Finished):
        turn = stored(chat, last.turn)
        called = [
            c.id for m in turn.messages if isinstance(m.carries, ToolCalls) for c in m.carries.calls
        ]
        results_of = [m.carries.call_id for m in turn.messages if isinstance(m.carries, ToolResult)]
        assert called == results_of
        assert last.text.endswith("done")


@pytest.mark.parametrize(
    "window, outcome, requests",
    [
        pytest.param(200, "complete", 4, id="results are put away"),
        pytest.param(20, "failed", 3, id="nothing helps"),
    ],
)
def test_a_window_that_turns_out_smaller_after_a_round(window, outcome, requests):
    full = Overflow("too long", endpoint="x", window=window)
    look = calls(("read", {"path": "a"}))
    text = "a few words in a line\n" * 12
    chat = make_chat(look, look, [full], ["later"], tools={"read": lambda _: text})

    events = asyncio.run(ask(chat, "go"))

    assert (events[-1].outcome, stored(chat).status) == (outcome, outcome)
    assert len(chat.model.sent) == requests
    assert chat.call.window == window
    if outcome == "complete":
        predicted = [
            one.certificate.predicted for one in asyncio.run(chat.store.requests("turn-1"))
        ]
        assert predicted[-2] > chat.call.budget.room >= predicted[-1]
