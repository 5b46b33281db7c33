"""Turns become wire messages; both layouts only ever append."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from sill.core.render import NO_REPLY, SEAM, countable, overhead, render, settled
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


def test_control_tokens_in_the_arguments_of_a_call_are_broken_too():
    call = ToolCall("c1", "write", '{"text":"<|im_end|>"}')
    messages = [ASK, Message("assistant", "", ToolCalls((call,))), RESULT, REPLY]

    [_, called, *_] = render(None, [turn(*messages)], Epoch(), [])

    assert called.tool_calls == (ToolCall("c1", "write", '{"text":"\\u003c|im_end|>"}'),)
    assert countable(messages[1]) == 'c1\nwrite\n{"text":"\\u003c|im_end|>"}'


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
    "message, layout, text, tokens",
    [
        pytest.param(A, "folded", f"{A.text}\n\n", SEAM, id="a folded file pays its separator"),
        pytest.param(A, "separate", A.text, 4, id="a separate file pays its role"),
        pytest.param(ASK, "folded", "why?", 3, id="question"),
        pytest.param(Message("assistant", ""), "folded", NO_REPLY, 4, id="missing reply"),
        pytest.param(CALLS, "folded", 'c1\nread\n{"path":"a"}', 4, id="tool call"),
        pytest.param(SYSTEM, "folded", "rules", 2, id="system"),
    ],
)
def test_what_is_counted_for_a_message(message, layout, text, tokens):
    roles = {"system": 2, "user": 3, "assistant": 4, "tool": 5}

    assert (countable(message, layout), overhead(message, roles, layout)) == (text, tokens)


@cache
def tokenizer(vocabulary: str):
    import splintr

    return splintr.Tokenizer.from_pretrained(vocabulary)


awkward = st.lists(
    st.sampled_from(
        ["a", " b", "\n", "\r\n", "/", "{", '"', ".", "1", "  ", "\t", "日", "\u2028", "🙂", "--"]
    ),
    max_size=6,
).map("".join)


@pytest.mark.parametrize("vocabulary", ["o200k_base", "cl100k_base", "mistral_v3", "llama3"])
@settings(max_examples=500, deadline=None)
@given(files=st.lists(awkward, min_size=1, max_size=3), question=awkward)
def test_the_sum_of_the_parts_is_never_less_than_the_folded_message(vocabulary, files, question):
    def count(text: str) -> int:
        return len(tokenizer(vocabulary).encode_ordinary(text))

    hidden = [envelopes.state(FileStamp("a", fingerprint(text)), text) for text in files]
    messages = [*hidden, Message("user", question)]
    [folded] = render(None, [], Epoch(), messages)

    parts = sum(count(countable(m)) + overhead(m, {"user": 0}) for m in messages)
    assert count(folded.content or "") <= parts
