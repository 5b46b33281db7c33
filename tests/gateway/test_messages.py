"""A client's messages as turns."""

import pytest

from sill.core.gateway import (
    Conversation,
    Malformed,
    Said,
    Unplannable,
    finished,
    moments,
    read_messages,
)
from sill.core.messages import Message, ToolCall, ToolCalls, ToolResult


def system(text):
    return {"role": "system", "content": text}


def user(text):
    return {"role": "user", "content": text}


def reply(text):
    return {"role": "assistant", "content": text}


def calls(*names):
    listed = [
        {"id": f"c{name}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for name in names
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def result(name, text="found"):
    return {"role": "tool", "tool_call_id": f"c{name}", "content": text}


def shown(messages):
    """Each turn as the roles and texts in it, the present one last."""
    read = read_messages(messages)
    assert isinstance(read, Conversation)
    return [
        " ".join(m.role[0] + ":" + m.text for m in t.messages) for t in (*read.turns, read.present)
    ]


@pytest.mark.parametrize(
    "messages, expected",
    [
        pytest.param([user("a")], ["u:a"], id="one question"),
        pytest.param([user("a"), reply("b"), user("c")], ["u:a a:b", "u:c"], id="two turns"),
        pytest.param([user("a"), user("b")], ["u:a\n\nb"], id="questions in a row are one"),
        pytest.param(
            [reply("hi"), user("a"), reply("b"), user("c")],
            ["a:hi", "u:a a:b", "u:c"],
            id="a greeting is a turn of its own",
        ),
        pytest.param(
            [user("a"), calls("x", "y"), result("x"), result("y"), reply("b"), user("c")],
            ["u:a a: t:found t:found a:b", "u:c"],
            id="tool rounds stay with their question",
        ),
        pytest.param(
            [user("a"), calls("x"), result("x")], ["u:a a: t:found"], id="results wait for a reply"
        ),
        pytest.param(
            [user("a"), reply("b"), system("be brief"), user("c")],
            ["u:a a:b", "s:be brief u:c"],
            id="a later system message goes with the next question",
        ),
        pytest.param([user("a"), reply("b")], ["u:a a:b"], id="a begun reply is gone on with"),
        pytest.param(
            [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
            ["u:a\n\nb"],
            id="text parts are paragraphs",
        ),
    ],
)  # fmt: skip
def test_messages_become_turns(messages, expected):
    assert shown(messages) == expected


def test_leading_system_messages_are_the_system_prompt():
    read = read_messages([system("one"), {"role": "developer", "content": "two"}, user("a")])

    assert read == Conversation("one\n\ntwo", (), Said(read.present.id, Message("user", "a")))


@pytest.mark.parametrize(
    "messages, expected",
    [
        pytest.param("hello", Malformed("a list of at least one message is needed", "messages"), id="no list"),
        pytest.param([], Malformed("a list of at least one message is needed", "messages"), id="empty"),
        pytest.param(["a"], Malformed("a message is an object", "messages[0]"), id="no object"),
        pytest.param(
            [{"role": "king", "content": "a"}],
            Malformed("the role is one of system, user, assistant, tool", "messages[0].role"),
            id="unknown role",
        ),
        pytest.param([user(5)], Malformed("the content is a text or a list of parts", "messages[0].content"), id="number"),
        pytest.param([user("\ud800")], Malformed("not Unicode text", "messages[0].content"), id="half a pair"),
        pytest.param(
            [user([{"type": "image_url", "image_url": {"url": "data:"}}])],
            Unplannable("parts of the type `image_url` cannot be counted"),
            id="image",
        ),
        pytest.param([system("a")], Unplannable("no message of a user waits for an answer"), id="system only"),
        pytest.param(
            [{"role": "tool", "content": "a"}],
            Malformed("a tool's result names the call it answers", "messages[0].tool_call_id"),
            id="result without a call",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(messages, expected):
    assert read_messages(messages) == expected


def test_a_moment_has_the_same_name_while_it_is_present_and_when_it_is_past():
    first, second = [user("a"), calls("x"), result("x")], [reply("b"), user("c")]
    present = read_messages(first)
    later = read_messages(first + second)

    now = list(moments("", present.present, is_finished=False))
    then = list(moments("", later.turns[0], is_finished=True))

    assert now == then
    assert [len(moment.rounds) for moment in now] == [0, 2]


def test_what_was_said_before_changes_every_later_name():
    one = read_messages([user("a"), reply("b"), user("c")])
    other = read_messages([user("a"), reply("x"), user("c")])

    assert one.present.id != other.present.id
    assert one.id == other.id


def test_a_finished_turn_keeps_calls_and_results_together():
    turn = read_messages([user("a"), calls("x"), result("x"), reply("b"), user("c")]).turns[0]

    assert finished(turn, ()) == (
        Message("user", "a"),
        Message("assistant", "", ToolCalls((ToolCall("cx", "x", "{}"),))),
        Message("tool", "found", ToolResult("cx", "x")),
        Message("assistant", "b"),
    )
