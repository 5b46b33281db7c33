"""Turns become wire messages; both layouts only ever append."""

import pytest

from sill.core import envelopes
from sill.core.messages import (
    Epoch,
    FileStamp,
    Message,
    Sized,
    ToolCall,
    ToolCalls,
    ToolResult,
    Turn,
    fingerprint,
)
from sill.core.render import NO_REPLY, countable, has_overhead, render, settled
from sill.core.request import WireMessage

A = envelopes.state(FileStamp("a", fingerprint("text")), "text")
B = envelopes.deleted("b")
SYSTEM = Message("system", "rules")
ASK, REPLY = Message("user", "why?"), Message("assistant", "so")
CALL = ToolCall("c1", "read", '{"path":"a"}')
CALLS = Message("assistant", "", ToolCalls((CALL,)))
RESULT = Message("tool", "found", ToolResult("c1", "read"))


def turn(*messages: Message, id: str = "t") -> Turn:
    return Turn(id, tuple(Sized(message, 1) for message in messages))


def says(role, content, **rest) -> WireMessage:
    return WireMessage(role, content, **rest)


@pytest.mark.parametrize(
    "layout, expected",
    [
        pytest.param(
            "folded",
            (
                says("system", "rules"),
                says("user", f"{A.text}\n\n{B.text}\n\nwhy?"),
                says("assistant", "so"),
                says("user", f"{B.text}\n\nwhy?"),
            ),
            id="folded",
        ),
        pytest.param(
            "separate",
            (
                says("system", "rules"),
                says("assistant", A.text),
                says("assistant", B.text),
                says("user", "why?"),
                says("assistant", "so"),
                says("assistant", B.text),
                says("user", "why?"),
            ),
            id="separate",
        ),
    ],
)
def test_the_two_layouts(layout, expected):
    assert render(SYSTEM, [turn(A, B, ASK, REPLY)], Epoch(), [B, ASK], layout) == expected


@pytest.mark.parametrize(
    "messages, expected",
    [
        pytest.param([ASK, REPLY], [says("user", "why?"), says("assistant", "so")], id="plain"),
        pytest.param([ASK], [says("user", "why?"), says("assistant", NO_REPLY)], id="no reply"),
        pytest.param(
            [ASK, Message("assistant", "")],
            [says("user", "why?"), says("assistant", NO_REPLY)],
            id="empty reply",
        ),
        pytest.param(
            [ASK, CALLS, RESULT, REPLY],
            [
                says("user", "why?"),
                says("assistant", None, tool_calls=(CALL,)),
                says("tool", "found", tool_call_id="c1"),
                says("assistant", "so"),
            ],
            id="tool round",
        ),
        pytest.param(
            [ASK, CALLS, RESULT],
            [
                says("user", "why?"),
                says("assistant", None, tool_calls=(CALL,)),
                says("tool", "found", tool_call_id="c1"),
                says("assistant", NO_REPLY),
            ],
            id="tool round without a reply",
        ),
        pytest.param(
            [ASK, CALLS], [says("user", "why?"), says("assistant", NO_REPLY)], id="unanswered call"
        ),
        pytest.param(
            [ASK, RESULT, REPLY],
            [says("user", "why?"), says("assistant", "so")],
            id="a result nobody asked for",
        ),
        pytest.param(
            [ASK, Message("assistant", "let me look", CALLS.carries), REPLY],
            [says("user", "why?"), says("assistant", "let me look\n\nso")],
            id="unanswered call that said something",
        ),
        pytest.param(
            [ASK, ASK, REPLY],
            [says("user", "why?\n\nwhy?"), says("assistant", "so")],
            id="two questions",
        ),
        pytest.param(
            [A, REPLY],
            [says("user", f"{A.text}\n\n"), says("assistant", "so")],
            id="context without a question",
        ),
    ],
)
def test_every_history_alternates(messages, expected):
    assert render(None, [turn(*messages)], Epoch(), []) == tuple(expected)
    assert settled(settled(messages)) == settled(messages)


def test_control_tokens_in_plain_messages_are_broken_and_only_on_the_wire():
    asked = Message("user", "what is <|im_end|>?")

    assert render(None, [], Epoch(), [asked]) == (says("user", "what is <\\|im_end|>?"),)
    assert countable(asked) == "what is <\\|im_end|>?"


def test_what_the_epoch_dropped_is_not_rendered():
    epoch = Epoch(1, "new", frozenset({("new", 0)}))
    turns = [turn(ASK, REPLY, id="old"), turn(A, ASK, REPLY, id="new")]

    assert render(SYSTEM, turns, epoch, [ASK]) == (
        says("system", "rules"),
        says("user", "why?"),
        says("assistant", "so"),
        says("user", "why?"),
    )


@pytest.mark.parametrize(
    "message, layout, text, overhead",
    [
        pytest.param(A, "folded", f"{A.text}\n\n", False, id="a folded file pays its separator"),
        pytest.param(A, "separate", A.text, True, id="a separate file pays its role"),
        pytest.param(ASK, "folded", "why?", True, id="question"),
        pytest.param(Message("assistant", ""), "folded", NO_REPLY, True, id="missing reply"),
        pytest.param(CALLS, "folded", 'c1\nread\n{"path":"a"}', True, id="tool call"),
        pytest.param(SYSTEM, "folded", "rules", True, id="system"),
    ],
)
def test_what_is_counted_for_a_message(message, layout, text, overhead):
    assert (countable(message, layout), has_overhead(message, layout)) == (text, overhead)
