"""Ollama's own API, in the lines its server writes. No Ollama runs here: the shapes are recorded ones."""

import asyncio
import json
from dataclasses import replace

import pytest

from sill.adapters.models.ollama import OllamaModel, ollama_body
from sill.adapters.models.retry import Clocks, RetryPolicy
from sill.core.certificate import Usage
from sill.core.messages import ToolCall
from sill.core.request import ChatRequest, JsonFormat, ToolSchema, WireMessage, encode
from sill.errors import Overflow, ProviderError
from sill.ports import Ended, ReasoningDelta, TextDelta, ToolCallDelta

from .fault_provider import FaultProvider, Hang, Repeat, Reset, answer, head

REQUEST = ChatRequest("qwen3:8b", (WireMessage("user", "hi"),), max_tokens=9)
SLOW = Clocks(connect=10, first=30, idle=30, total=60)
AT_ONCE = RetryPolicy(base=0.01, longest=0.02)


def line(**fields: object) -> bytes:
    body = {"model": "qwen3:8b", "created_at": "2026-01-01T00:00:00Z", "done": False, **fields}
    return json.dumps(body).encode() + b"\n"


def says(content: str = "", **fields: object) -> bytes:
    return line(message={"role": "assistant", "content": content, **fields})


def done(reason: str | None = "stop") -> bytes:
    counts = {"total_duration": 5, "prompt_eval_count": 26, "eval_count": 3}
    why = {"done_reason": reason} if reason else {}
    return line(message={"role": "assistant", "content": ""}, **{"done": True, **why, **counts})


LINES = head(type="application/x-ndjson")
FINISHED = Ended("complete", "stop", Usage(26, 3))


def ask(*script, clocks: Clocks = SLOW):
    async def collect(url: str) -> list:
        model = OllamaModel(url, "qwen3:8b", clocks=clocks, retries=AT_ONCE)
        return [event async for event in model.stream(REQUEST)]

    with FaultProvider(list(script)) as provider:
        try:
            return asyncio.run(collect(provider.url))
        except ProviderError as error:
            return type(error).__name__


def partial(reason: str, finish: str | None = None, usage: Usage | None = None) -> Ended:
    return Ended("partial", finish, usage, reason=reason)


CALL = {"function": {"index": 0, "name": "read", "arguments": {"path": "a"}}}
OTHER = {"id": "call_x", "function": {"index": 0, "name": "now", "arguments": {}}}
READ = ToolCall("call_0", "read", '{"path": "a"}')
NOW = ToolCall("call_x", "now", "{}")

REPLIES = [
    pytest.param(
        [LINES + says("Hel") + says("lo") + done()],
        [TextDelta("Hel"), TextDelta("lo"), FINISHED],
        id="a reply",
    ),
    pytest.param(
        [LINES + says(thinking="hm") + says("yes") + done()],
        [ReasoningDelta("hm"), TextDelta("yes"), FINISHED],
        id="thinking",
    ),
    pytest.param(
        [LINES + says(tool_calls=[CALL]) + says(tool_calls=[OTHER]) + done()],
        [
            ToolCallDelta(0, "read", READ.arguments),
            ToolCallDelta(1, "now", "{}"),
            Ended("complete", "stop", Usage(26, 3), (READ, NOW)),
        ],
        id="tool calls in two lines",
    ),
    pytest.param(
        [LINES + says(tool_calls=[CALL, OTHER]) + done()],
        [
            ToolCallDelta(0, "read", READ.arguments),
            ToolCallDelta(1, "now", "{}"),
            Ended("complete", "stop", Usage(26, 3), (READ, NOW)),
        ],
        id="tool calls in one line",
    ),
    pytest.param(
        [LINES + says("Hel") + done("length")],
        [TextDelta("Hel"), partial("the reply reached its token limit", "length", Usage(26, 3))],
        id="length",
    ),
    pytest.param(
        [LINES + says("Hel") + done(None)],
        [
            TextDelta("Hel"),
            partial("the server stopped for the reason 'unknown'", "unknown", Usage(26, 3)),
        ],
        id="done without a reason",
    ),
    pytest.param(
        [LINES + says("Hel")],
        [TextDelta("Hel"), partial("the stream ended before the reply did")],
        id="cut off",
    ),
    pytest.param(
        [LINES + says("Hel") + b'{"error":"llama runner process has terminated"}\n'],
        [
            TextDelta("Hel"),
            partial(
                "the server reported an error in the middle of the reply: llama runner process has terminated"
            ),
        ],
        id="an error in the middle",
    ),
    pytest.param(
        [LINES + says("Hel") + b"{nonsense\n"],
        [TextDelta("Hel"), partial("the reply was cut off: a line that is not JSON")],
        id="a line that is not JSON",
    ),
    pytest.param(
        [LINES + says("Hel") + done()[:-20]],
        [TextDelta("Hel"), partial("the reply was cut off: a line that is not JSON")],
        id="cut off inside the last line",
    ),
    pytest.param([LINES + done()], [FINISHED], id="an empty reply"),
    pytest.param([LINES], "BadAnswer", id="nothing"),
    pytest.param([LINES + b'{"error":"boom"}\n'], "BadAnswer", id="an error first"),
    pytest.param(answer(404, {"error": "model 'x' not found"}), "ModelMissing", id="no such model"),
    pytest.param(answer(500, {"error": "boom"}), "BadAnswer", id="500"),
    pytest.param(answer(200, b"<html>"), "BadAnswer", id="a page"),
    pytest.param([Reset()], "BadAnswer", id="reset"),
]


@pytest.mark.parametrize("script, expected", REPLIES)
def test_a_reply_is_complete_only_when_it_is(script, expected):
    assert ask(*script) == expected


def test_a_whole_reply_is_read_by_the_same_rules():
    reply = {**json.loads(done()), "message": {"role": "assistant", "content": "Hello"}}
    request = replace(REQUEST, stream=False)

    async def collect(url: str) -> list[object]:
        return [event async for event in OllamaModel(url, "m").stream(request)]

    with FaultProvider(answer(200, reply)) as provider:
        events = asyncio.run(collect(provider.url))

    assert events == [TextDelta("Hello"), FINISHED]
    assert json.loads(provider.seen[0].body)["stream"] is False


@pytest.mark.parametrize(
    "script, clocks, expected",
    [
        pytest.param([LINES, Hang()], Clocks(first=0.4), "TimedOut", id="at once"),
        pytest.param([LINES, Repeat(b"\n")], Clocks(first=0.4), "TimedOut", id="blank lines"),
        pytest.param(
            [LINES + says("Hel"), Hang()],
            Clocks(first=30, idle=0.3),
            [TextDelta("Hel"), "partial"],
            id="in the middle",
        ),
    ],
)
def test_silence_is_noticed(script, clocks, expected):
    seen = ask(*script, clocks=clocks)

    if isinstance(seen, list):
        seen = [*seen[:-1], seen[-1].outcome]
    assert seen == expected


def test_an_overlong_prompt_is_an_overflow_and_never_cut():
    message = "the prompt is longer than the context length currently available to the model"

    async def collect(url: str) -> None:
        async for _ in OllamaModel(url, "m").stream(REQUEST):
            pass

    with FaultProvider(answer(400, {"error": message})) as provider, pytest.raises(Overflow):
        asyncio.run(collect(provider.url + "/v1"))

    [seen] = provider.seen
    assert seen.path == "/api/chat"
    assert seen.body == encode(ollama_body(REQUEST))


def test_a_request_in_ollamas_words():
    tool = ToolSchema("read", "Read a file", {"type": "object"})
    request = ChatRequest(
        "m",
        (
            WireMessage("user", "hi"),
            WireMessage("assistant", None, (ToolCall("t1", "read", '{"path":"a"}'),)),
            WireMessage("tool", "text of a", tool_call_id="t1"),
        ),
        max_tokens=9,
        temperature=0.2,
        tools=(tool,),
        response_format=JsonFormat("ops", {"type": "object"}),
        extra={"options": {"top_k": 1}, "keep_alive": "5m"},
    )

    assert ollama_body(request, 4096) == {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "read", "arguments": {"path": "a"}}}],
            },
            {"role": "tool", "content": "text of a", "tool_name": "read"},
        ],
        "options": {"num_predict": 9, "num_ctx": 4096, "temperature": 0.2, "top_k": 1},
        "tools": [tool.body()],
        "format": {"type": "object"},
        "keep_alive": "5m",
        "stream": True,
        "truncate": False,
        "shift": False,
    }


def test_what_openai_has_beside_the_messages_is_an_option_here():
    extra = {
        "seed": 3,
        "stop": ["END"],
        "top_p": 0.5,
        "response_format": {"type": "json_object"},
        "options": {"seed": 4},
        "think": False,
    }
    body = ollama_body(replace(REQUEST, extra=extra))

    assert body["options"] == {
        **ollama_body(REQUEST)["options"],
        "seed": 4,
        "stop": ["END"],
        "top_p": 0.5,
    }
    assert (body["format"], body["think"]) == ("json", False)
    assert not {"seed", "stop", "top_p", "response_format"} & body.keys()
