"""What a client resends: its names, the moments at which the model was asked, and what cannot be planned."""

import pytest

from sill.core import masks
from sill.core.gateway import (
    Conversation,
    Malformed,
    Moment,
    Said,
    Unplannable,
    finished,
    moments,
    most_away,
    put_away,
    read_messages,
)
from sill.core.messages import Message, ToolCall, ToolCalls, ToolResult

LONG = "x" * masks.LEAST


def user(content, **more):
    return {"role": "user", "content": content, **more}


def reply(content, **more):
    return {"role": "assistant", "content": content, **more}


def call(name, arguments="{}", id="c1"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(id="c1", text="found"):
    return {"role": "tool", "tool_call_id": id, "content": text}


def conversation(*messages) -> Conversation:
    read = read_messages(list(messages))
    assert isinstance(read, Conversation)
    return read


@pytest.mark.parametrize(
    "message, expected",
    [
        pytest.param(user([{"type": "input_text", "text": "a"}]), Message("user", "a"), id="another name of text"),
        pytest.param(user([{"type": "output_text", "text": "a"}]), Message("user", "a"), id="and another"),
        pytest.param(user([{"type": "refusal", "refusal": "no"}]), Message("user", "no"), id="a refusal"),
        pytest.param(user([]), Message("user", ""), id="no parts"),
        pytest.param(user(None), Message("user", ""), id="no content"),
    ],
)  # fmt: skip
def test_one_message_is_read(message, expected):
    assert conversation(message).present.question == expected


@pytest.mark.parametrize(
    "message, expected",
    [
        pytest.param(
            user(["a"]), Malformed("a part has a type and a text", "messages[1].content[0]"), id="a part that is a text",
        ),
        pytest.param(
            user([{"type": "text", "text": "a"}, {"type": "text"}]),
            Malformed("a part has a type and a text", "messages[1].content[1]"), id="a part without a text",
        ),
        pytest.param(
            user([{"type": "input_text"}]),
            Malformed("a part has a type and a text", "messages[1].content[0]"), id="of another name",
        ),
        pytest.param(
            user([{"type": "output_text", "text": 1}]),
            Malformed("a part has a type and a text", "messages[1].content[0]"), id="or of no text",
        ),
        pytest.param(
            user([{"type": "text", "text": "\ud800"}]),
            Malformed("not Unicode text", "messages[1].content[0]"), id="half a pair in a part",
        ),
        pytest.param(
            user([{"type": "refusal", "refusal": "\ud800"}]),
            Malformed("not Unicode text", "messages[1].content[0]"), id="half a pair in a refusal",
        ),
        pytest.param(
            user([{"type": "x" * 50}]), Unplannable(f"parts of the type `{'x' * 40}` cannot be counted"), id="a long type",
        ),
        pytest.param(
            {"role": "function", "content": "a"},
            Unplannable("messages of the role `function` are not planned"), id="an old result",
        ),
        pytest.param(
            reply(None, function_call={"name": "f"}),
            Unplannable("the old `function_call` is not planned"), id="an old call",
        ),
        pytest.param(
            reply("", tool_calls={"a": 1}),
            Malformed("tool calls are a list", "messages[1].tool_calls"), id="calls are no list",
        ),
        pytest.param(
            reply("", tool_calls=[{"type": "custom" * 9, "custom": {}}]),
            Unplannable(f"tool calls of the type `{('custom' * 9)[:40]}` are not planned"), id="another kind of call",
        ),
        pytest.param(
            reply("", tool_calls=[call("f"), {"type": "function", "id": "c2"}]),
            Malformed("a tool call has an id and a function with name and arguments", "messages[1].tool_calls[1]"),
            id="half a call",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(message, expected):
    assert read_messages([user("a"), message]) == expected


def test_names_of_speakers_are_not_sent_and_that_is_told():
    read = conversation(user("a", name="Ann"), reply("b"), user("c", name=None))

    assert read.notes == ("the name of messages[0] is not sent",)
    assert conversation(user("a")).notes == ()


def test_without_a_system_message_there_is_no_system_prompt():
    empty = {"role": "system", "content": ""}

    assert (conversation(user("a")).system, conversation(empty, user("a")).system) == (None, "")
    assert read_messages([empty]) == Unplannable("no message of a user waits for an answer")


def test_results_bear_the_name_of_their_tool():
    read = conversation(
        user("a"),
        reply(None, tool_calls=[call("one", id="c1")]),
        reply(None, tool_calls=[call("two", id="c2")]),
        result("c1"),
        result("c2"),
        result("lost"),
    )

    carried = [message.carries for message in read.present.after[2:]]
    assert carried == [ToolResult("c1", "one"), ToolResult("c2", "two"), ToolResult("lost", "")]


# --- Names ----------------------------------------------------------------------------------------


CHAT = (user("a"), reply(None, tool_calls=[call("f")]), result(), reply("b"))


def names(*messages) -> tuple[str, ...]:
    return tuple(turn.id for turn in conversation(*messages, user("?")).turns)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((user("A"), *CHAT[1:]), id="the question"),
        pytest.param((CHAT[0], reply(None, tool_calls=[call("g")]), *CHAT[2:]), id="the tool"),
        pytest.param((CHAT[0], reply(None, tool_calls=[call("f", "[]")]), *CHAT[2:]), id="the arguments"),
        pytest.param((CHAT[0], reply(None, tool_calls=[call("f", id="c9")]), *CHAT[2:]), id="the call's id"),
        pytest.param((*CHAT[:2], result("c2"), CHAT[3]), id="whose result it is"),
        pytest.param((*CHAT[:2], result("c1", "lost"), CHAT[3]), id="the result"),
        pytest.param((*CHAT[:3], reply("B")), id="the reply"),
        pytest.param((user("0"), reply("1"), *CHAT), id="what came before"),
    ],
)  # fmt: skip
def test_another_history_has_another_name(other):
    assert names(*other)[-1] != names(*CHAT)[-1]


def test_names_stay_what_they_were_stored_as():
    read = conversation(*CHAT, user("?"))

    assert names(*CHAT) == names(*CHAT, user("c"), reply("d"))[:1]
    assert (read.turns[0].id, read.id) == (
        "ed72381c6ca2a330b25a728d6f1202b6",
        "f985f2b9bb77c00d6af18d589f4877e7",
    )


def test_a_chat_keeps_its_name_as_long_as_it_begins_in_the_same_way():
    system = {"role": "system", "content": "be kind"}
    chats = [(user("a"),), (user("a"), reply("b"), user("c")), (user("b"),), (system, user("a"))]

    first, longer, other, kinder = (conversation(*chat).id for chat in chats)

    assert first == longer
    assert len({first, other, kinder}) == 3


# --- Moments --------------------------------------------------------------------------------------


QUESTION = Message("user", "a")
CALLS = Message("assistant", "", ToolCalls((ToolCall("c1", "f", "{}"), ToolCall("c2", "f", "{}"))))
ONE = Message("tool", LONG, ToolResult("c1", "f"))
TWO = Message("tool", LONG, ToolResult("c2", "f"))
REPLY = Message("assistant", "b")


@pytest.mark.parametrize(
    "after, is_finished, expected",
    [
        pytest.param((), False, [0], id="the question alone"),
        pytest.param((REPLY,), True, [0], id="answered"),
        pytest.param((REPLY,), False, [0, 1], id="a reply that was begun"),
        pytest.param((CALLS, ONE, TWO), False, [0, 3], id="after all results of a round"),
        pytest.param((CALLS, ONE, TWO, CALLS, ONE, REPLY), True, [0, 3, 5], id="after each round"),
        pytest.param((CALLS, ONE, TWO, CALLS), False, [0, 3, 4], id="calls without results"),
    ],
)
def test_the_model_is_asked_once_for_the_question_and_after_each_round(
    after, is_finished, expected
):
    turn = Said("t", QUESTION, (Message("system", "s"),), after)
    found = list(moments("before", turn, is_finished=is_finished))
    elsewhere = list(moments("elsewhere", turn, is_finished=is_finished))

    assert [moment.rounds for moment in found] == [after[:at] for at in expected]
    assert len({moment.id for moment in (*found, *elsewhere)}) == 2 * len(expected)
    assert found == [Moment(moment.id, moment.rounds) for moment in found]


def test_results_that_were_put_away_are_one_line_each():
    rounds = (CALLS, ONE, TWO, CALLS, ONE)
    stub = masks.stub(ONE, ToolCall("c1", "f", "{}"))

    assert put_away(rounds, 0) == rounds
    assert put_away(rounds, 2) == (CALLS, stub, TWO, CALLS, ONE)
    assert most_away(rounds) == 3
    assert most_away((REPLY,)) == 0


def test_a_finished_turn_goes_out_with_what_stood_before_its_question():
    hidden, system = Message("user", "recalled"), Message("system", "s")
    turn = Said("t", QUESTION, (system,), (CALLS, ONE, TWO, REPLY))

    whole = finished(turn, (hidden,))
    short = finished(turn, (hidden,), 2)

    asked = Message("user", "recalled\n\na")
    assert whole == (system, asked, CALLS, ONE, TWO, REPLY)
    assert [at for at, pair in enumerate(zip(whole, short, strict=True)) if pair[0] != pair[1]] == [
        3
    ]
