"""What calls and their results add up to is never below what the whole request is counted as."""

import asyncio
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sill.adapters.tokens.choose import counter_for
from sill.core.messages import Epoch, Message, ToolCall, ToolCalls, ToolResult, Turn
from sill.core.render import render, settled
from sill.core.request import ChatRequest
from sill.engine.sizing import Sizer

TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "\n",
            "Grüße aus Köln",
            "世界 " * 5,
            '{"a": 1}',
            "a\tb\\n",
            "line\n" * 8,
            "<|im_end|> [INST] é",
        ]
    ),
    st.text(max_size=40),
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "query", "lines", "größe"]),
    st.one_of(TEXTS, st.integers(), st.lists(st.text(max_size=6), max_size=3), st.none()),
    max_size=3,
)
NAMES = st.sampled_from(["read_document", "find_excerpts", "f", "server__some_long_tool_name"])
ROUNDS = st.lists(
    st.tuples(TEXTS, st.lists(st.tuples(NAMES, ARGUMENTS, TEXTS), min_size=1, max_size=4)),
    min_size=1,
    max_size=3,
)


def messages_of(rounds) -> tuple[Message, ...]:
    messages = [Message("user", "Look it up.")]
    for number, (said, calls) in enumerate(rounds):
        called = [
            ToolCall(f"call_{number}_{place}", name, json.dumps(arguments))
            for place, (name, arguments, _) in enumerate(calls)
        ]
        messages.append(Message("assistant", said, ToolCalls(tuple(called))))
        messages += [
            Message("tool", result, ToolResult(call.id, call.name))
            for call, (_, _, result) in zip(called, calls, strict=True)
        ]
    return settled((*messages, Message("assistant", "Done.")))


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4o",
        "gpt-5",
        "gpt-4",
        "devstral-small-2",
        "llama-3.1-8b",
        "deepseek-v3",
        "qwen3-8b",
        "gpt-oss-20b",
    ],
)
@settings(max_examples=80, deadline=None)
@given(rounds=ROUNDS)
@example(rounds=[("", [("f", {"query": "Grüße"}, "世界 " * 40), ("f", {}, "é" * 100)])])
def test_rounds_of_tools_never_add_up_to_less_than_the_whole(model, rounds):
    async def margin() -> int:
        counter = (await counter_for(model)).counter
        sizer = Sizer(counter, counter.count, "folded")
        sized = tuple(await sizer.messages(messages_of(rounds)))
        wire = render(None, [Turn("t", sized)], Epoch(), (), "folded")
        whole = await counter.count_request(ChatRequest("m", wire, max_tokens=8))
        beside = await sizer.overhead()
        planned = sum(one.tokens for one in sized) + beside.request + beside.default_system
        return planned - whole.tokens[0]

    assert asyncio.run(margin()) >= 0
