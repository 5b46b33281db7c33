"""Every way a server can fail: no half answer is ever called complete, and no request goes unreported."""

import asyncio
import gzip
import json
from dataclasses import dataclass, replace

import pytest

from sill.adapters.models.openai import OpenAIModel
from sill.adapters.models.retry import Clocks, RetryPolicy
from sill.adapters.models.transport import AttemptEnded, AttemptStarted
from sill.core.request import ChatRequest, WireMessage, encode
from sill.errors import ProviderError
from sill.ports import Ended, TextDelta

from .fault_provider import (
    CHUNKED,
    DONE,
    END,
    USAGE,
    FaultProvider,
    Hang,
    Pause,
    Repeat,
    Reset,
    Taken,
    answer,
    chunked,
    completion,
    delta,
    event,
    finished,
    head,
    ok,
    said,
    zipped,
)

KEY = "sk-canary-4f2a"
STREAMING = ChatRequest("m", (WireMessage("user", "hi"),), max_tokens=9)
AS_A_WHOLE = replace(STREAMING, stream=False)
both_ways = pytest.mark.parametrize(
    "request_",
    [pytest.param(STREAMING, id="streaming"), pytest.param(AS_A_WHOLE, id="as a whole")],
)
SLOW = Clocks(connect=60, first=60, idle=60, total=300)  # never runs out, also on a busy machine
AT_ONCE = RetryPolicy(base=0.01, longest=0.02, patience=1, loading=60)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: an error's class name, or ``complete`` or ``partial``, with the text that came."""

    how: str
    text: str = ""
    requests: int = 1


async def ask(model: OpenAIModel, request: ChatRequest = STREAMING) -> Outcome:
    text = ""
    try:
        async for event in model.stream(request):
            if isinstance(event, TextDelta):
                text += event.text
            if isinstance(event, Ended):
                ended = event
        return Outcome(ended.outcome, text)
    except ProviderError as error:
        assert KEY not in f"{error} {error!r} {error.__cause__!r} {error.__context__!r}"
        return Outcome(type(error).__name__, text)


def clocks_for(script, expected: Outcome, request: ChatRequest) -> Clocks:
    """Short clocks only where a script waits for one of them to run out."""
    if not any(isinstance(step, Hang | Repeat) for step in script):
        return SLOW
    if (
        expected.how == "TimedOut"
    ):  # a whole answer has only one clock: nothing comes before its end
        return replace(SLOW, first=0.4) if request.stream else replace(SLOW, total=0.4)
    return replace(SLOW, idle=0.3)


def run(
    provider: FaultProvider, clocks: Clocks = SLOW, request: ChatRequest = STREAMING
) -> Outcome:
    """Ask once; the provider must have seen exactly the attempts that were reported."""
    reports: list[AttemptStarted | AttemptEnded] = []

    async def report(event):
        if isinstance(event, AttemptStarted):
            assert len(provider.seen) == len([r for r in reports if isinstance(r, AttemptStarted)])
        reports.append(event)

    model = OpenAIModel(provider.url, "m", KEY, clocks=clocks, retries=AT_ONCE, on_attempt=report)
    found = asyncio.run(ask(model, request))
    started = [r for r in reports if isinstance(r, AttemptStarted)]
    ended = [r for r in reports if isinstance(r, AttemptEnded)]
    assert [r.id for r in started] == [r.id for r in ended]
    assert len(started) == len(provider.seen)
    assert all(seen.body == encode(request.body()) for seen in provider.seen)
    return Outcome(found.how, found.text, len(provider.seen))


def stream(*events: bytes) -> list:
    """A well-framed stream of these events."""
    return [CHUNKED, *(chunked(one) for one in events), END]


def error(message: str = "boom", **fields: object) -> dict[str, object]:
    return {"error": {"message": message, **fields}}


def call(arguments: str) -> dict[str, object]:
    return {"index": 0, "id": "t1", "function": {"name": "read", "arguments": arguments}}


HALF_TOOL = event(delta(tool_calls=[call('{"path": "a')]))
STOPS = event(delta("stop", content="Hel"))
LONG = b"data: " + b"x" * 10_000_000 + b"\n\n"
SPLIT = event(json.dumps(delta(content="Hellö"), ensure_ascii=False).encode())
SPLIT_AT = SPLIT.index("ö".encode()) + 1
WHOLE = Outcome("complete", "Hello")
HALF = Outcome("partial", "Hel")

STREAMED = [
    pytest.param(ok("Hel", "lo"), WHOLE, id="all is well"),
    pytest.param(stream(said("Hello"), finished()), WHOLE, id="a clean end after the finish reason"),
    pytest.param(stream(said("Hel")), HALF, id="a clean end before the finish reason"),
    pytest.param([CHUNKED, chunked(said("Hel"))], HALF, id="cut before the finish reason"),
    pytest.param([CHUNKED, chunked(said("Hel") + finished())], HALF, id="cut after the finish reason"),
    pytest.param([CHUNKED, chunked(said("Hel")), Taken(), Reset()], HALF, id="reset in the middle"),
    pytest.param(
        [CHUNKED, chunked(said("Hel") + finished()), Taken(), Reset()],
        HALF,
        id="reset after the finish reason",
    ),
    pytest.param([head() + said("Hel")[:-9]], Outcome("BadAnswer"), id="cut inside the first event"),
    pytest.param([head() + said("Hel") + said("lo")[:-9]], HALF, id="cut inside a later event"),
    pytest.param(stream(said("Hel"), DONE), HALF, id="done without a finish reason"),
    pytest.param(stream(DONE), Outcome("BadAnswer"), id="done and nothing else"),
    pytest.param(stream(), Outcome("BadAnswer"), id="an empty stream"),
    pytest.param(stream(event(delta(content=""))), Outcome("BadAnswer"), id="empty delta, then the end"),
    pytest.param(
        stream(said("Hel"), event(delta(content=""))), HALF, id="empty delta in the middle, then the end"
    ),
    pytest.param(stream(event(error())), Outcome("BadAnswer"), id="an error inside a 200"),
    pytest.param(
        stream(event(error("maximum context length is 8 tokens"))),
        Outcome("Overflow"),
        id="an overflow inside a 200",
    ),
    pytest.param(stream(event(error()), DONE), Outcome("BadAnswer"), id="an error, then done"),
    pytest.param(stream(said("Hel"), event(error()), DONE), HALF, id="an error in the middle, then done"),
    pytest.param(
        stream(said("Hel"), finished(), event(error())), HALF, id="an error after the finish reason"
    ),
    pytest.param(
        stream(said("Hel"), b"event: error\n" + event({"message": "overloaded"})), HALF, id="an error event"
    ),
    pytest.param(stream(said("Hel"), finished("error")), HALF, id="finish reason error"),
    pytest.param(stream(said("Hel"), finished("length"), DONE), HALF, id="finish reason length"),
    pytest.param(stream(said("Hel"), finished("content_filter")), HALF, id="finish reason content filter"),
    pytest.param(stream(said("Hel"), finished("whatever")), HALF, id="unknown finish reason"),
    pytest.param(stream(HALF_TOOL, finished("tool_calls"), DONE), Outcome("partial"), id="half tool JSON"),
    pytest.param(stream(HALF_TOOL, finished("stop"), DONE), Outcome("partial"), id="half tool JSON, stop"),
    pytest.param(stream(said("Hel"), finished("tool_calls")), HALF, id="a tool call that never came"),
    pytest.param(
        stream(said("Hel"), finished("length"), finished("stop"), DONE), HALF, id="length, then stop"
    ),
    pytest.param(stream(STOPS, STOPS, DONE), Outcome("complete", "HelHel"), id="stop in every chunk"),
    pytest.param(stream(STOPS, STOPS), Outcome("partial", "HelHel"), id="stop in every chunk, cut"),
    pytest.param(stream(said("Hel"), event(b"{nonsense")), HALF, id="a chunk that is not JSON"),
    pytest.param(stream(event(b"[" * 100_000)), Outcome("BadAnswer"), id="JSON nested without end"),
    pytest.param(
        stream(said("Hel"), event({"choices": None}), said("lo"), finished()), WHOLE, id="null choices"
    ),
    pytest.param(
        stream(event(7), event("x"), event([1]), said("Hello"), finished()), WHOLE, id="odd JSON values"
    ),
    pytest.param(stream(said("Hello"), finished(), finished(), USAGE, DONE), WHOLE, id="finished twice"),
    pytest.param(stream(said("Hel"), b"data: \xff\xfe\n\n", finished()), HALF, id="invalid UTF-8"),
    pytest.param([head() + SPLIT[:SPLIT_AT], Pause(0.05), SPLIT[SPLIT_AT:] + finished()], Outcome("complete", "Hellö"), id="a character in two packets"),
    pytest.param(stream(said("Hel"), LONG, finished(), DONE), HALF, id="a line of 10 MB"),
    pytest.param([CHUNKED, Hang()], Outcome("TimedOut"), id="no first payload"),
    pytest.param([Hang()], Outcome("TimedOut"), id="no response head"),
    pytest.param([CHUNKED, chunked(said("Hel")), Hang()], HALF, id="silence in the middle"),
    pytest.param([head(), Repeat(b": keep-alive\n\n")], Outcome("TimedOut"), id="comments for ever"),
    pytest.param(
        [head() + said("Hel"), Repeat(b": keep-alive\n\n")], HALF, id="comments for ever in the middle"
    ),
    pytest.param([head(), Repeat(b"\n")], Outcome("TimedOut"), id="blank lines for ever"),
    pytest.param([head() + b"data: ", Repeat(b" ")], Outcome("TimedOut"), id="slow loris"),
    pytest.param([head() + said("Hel") + b"data: ", Repeat(b"x")], HALF, id="slow loris in the middle"),
    pytest.param(
        [head() + said("Hel"), Repeat(event({"type": "ping"}))], HALF, id="pings for ever in the middle"
    ),
    pytest.param([Reset()], Outcome("BadAnswer"), id="reset before the head"),
    pytest.param([], Outcome("BadAnswer"), id="closed before the head"),
    pytest.param([b"220 smtp.example ESMTP\r\n"], Outcome("BadAnswer"), id="not HTTP"),
    pytest.param(zipped(said("Hello") + finished() + DONE), WHOLE, id="gzip"),
    pytest.param(
        [head(content_encoding="gzip") + gzip.compress(said("Hello") * 99)[:40]],
        Outcome("BadAnswer"),
        id="gzip cut off",
    ),
    pytest.param([head(content_encoding="gzip") + said("Hello")], Outcome("BadAnswer"), id="false gzip"),
    pytest.param([head(type="text/plain") + said("Hello") + finished()], WHOLE, id="wrong content type"),
    pytest.param(
        [head(type="text/html") + b"<html>sign in</html>"], Outcome("BadAnswer"), id="a page with status 200"
    ),
    pytest.param(
        [head() + "data: é".encode()[:-1], Pause(0.05), event(delta(content="x"))], Outcome("BadAnswer"),
        id="a broken character",
    ),
]  # fmt: skip

UNSTREAMED = [
    pytest.param(answer(200, completion(content="Hello")), WHOLE, id="all is well"),
    pytest.param(answer(200, completion("length", content="Hel")), HALF, id="finish reason length"),
    pytest.param(answer(200, completion(None, content="Hel")), HALF, id="no finish reason"),
    pytest.param(answer(200, completion("error", content="Hel")), HALF, id="finish reason error"),
    pytest.param(
        answer(200, {**completion(content="Hel"), **error()}), HALF, id="an error beside the text"
    ),
    pytest.param(answer(200, error()), Outcome("BadAnswer"), id="an error inside a 200"),
    pytest.param(answer(200, [error()]), Outcome("BadAnswer"), id="a list of errors inside a 200"),
    pytest.param(answer(200, {"error": "boom"}), Outcome("BadAnswer"), id="an error that is a string"),
    pytest.param(
        answer(200, completion("tool_calls", tool_calls=[call('{"path": "a')])),
        Outcome("partial"),
        id="half tool JSON",
    ),
    pytest.param(answer(200, completion("tool_calls")), Outcome("partial"), id="no tool call"),
    pytest.param(
        [head(type="application/json") + json.dumps(completion(content="Hello")).encode()[:-3]],
        Outcome("BadAnswer"),
        id="JSON cut off, clean end",
    ),
    pytest.param(
        [head(type="application/json", content_length="999") + b'{"choices":'],
        Outcome("BadAnswer"),
        id="JSON cut off, length known",
    ),
    pytest.param(answer(200, b""), Outcome("BadAnswer"), id="an empty body"),
    pytest.param(answer(200, b'{"choices": "\xff"}'), Outcome("BadAnswer"), id="invalid UTF-8"),
    pytest.param(answer(200, {"choices": []}), Outcome("BadAnswer"), id="no choices"),
    pytest.param(answer(200, b"<html>"), Outcome("BadAnswer"), id="a page"),
    pytest.param(
        [head(type="application/json"), Repeat(b"[")], Outcome("TimedOut"), id="slow loris"
    ),
    pytest.param(
        [head(type="application/json") + b'{"a":"' + b"x" * 20_000_000], Outcome("BadAnswer"), id="20 MB"
    ),
    pytest.param([head(type="application/json"), Hang()], Outcome("TimedOut"), id="no body"),
    pytest.param(
        [head(type="application/json") + b"{", Taken(), Reset()], Outcome("BadAnswer"), id="reset"
    ),
    pytest.param(
        [head(type="text/event-stream") + json.dumps(completion(content="Hello")).encode()],
        WHOLE,
        id="wrong content type",
    ),
    pytest.param(
        [head(content_encoding="gzip") + gzip.compress(json.dumps(completion(content="Hello")).encode())],
        WHOLE,
        id="gzip",
    ),
]  # fmt: skip


def refused(status: int, message: str = "no", **fields: object) -> list:
    return answer(status, error(message, **fields))


PAGE = b"<html><title>Bad gateway</title></html>"
REFUSED = [
    pytest.param([refused(429), ok("Hello")], Outcome("complete", "Hello", 2), id="429, then well"),
    pytest.param(
        [answer(429, error(), retry_after="0.05"), ok("Hello")],
        Outcome("complete", "Hello", 2),
        id="429 with Retry-After, then well",
    ),
    pytest.param([refused(429)], Outcome("RateLimited", requests=3), id="429 for ever"),
    pytest.param(
        [answer(429, error(), retry_after="3600")], Outcome("RateLimited"), id="429 for an hour"
    ),
    pytest.param(
        [refused(429, "You exceeded your current quota", code="insufficient_quota")],
        Outcome("QuotaExhausted"),
        id="insufficient quota",
    ),
    pytest.param([refused(402)], Outcome("QuotaExhausted"), id="402"),
    pytest.param([refused(503, "Loading model"), ok("Hello")], Outcome("complete", "Hello", 2), id="loading"),
    *(
        pytest.param([refused(status)], Outcome("BadAnswer", requests=3), id=f"{status} for ever")
        for status in (408, 409, 500, 502, 503, 504, 529)
    ),
    *(
        pytest.param([refused(status), ok("Hello")], Outcome("complete", "Hello", 2), id=f"{status} once")
        for status in (500, 502, 503, 529)
    ),
    *(
        pytest.param([refused(status)], Outcome(how), id=str(status))
        for status, how in [
            (400, "BadAnswer"),
            (401, "KeyRefused"),
            (403, "KeyRefused"),
            (404, "BadAnswer"),
            (405, "BadAnswer"),
            (413, "Overflow"),
            (422, "BadAnswer"),
        ]
    ),
    pytest.param([answer(502, PAGE)], Outcome("BadAnswer", requests=3), id="502 with a page"),
    pytest.param([answer(404, PAGE)], Outcome("BadAnswer"), id="404 with a page"),
    pytest.param([answer(500, b"")], Outcome("BadAnswer", requests=3), id="500 with nothing"),
    pytest.param(
        [refused(401, f"Incorrect API key provided: {KEY}")], Outcome("KeyRefused"), id="it quotes the key"
    ),
    pytest.param(
        [refused(400, f"bad header Bearer {KEY}")], Outcome("BadAnswer"), id="it quotes the key elsewhere"
    ),
    pytest.param(
        [refused(404, "The model `m` does not exist", code="model_not_found")],
        Outcome("ModelMissing"),
        id="no such model",
    ),
    pytest.param(
        [[head(500, "application/json", content_length="99") + b'{"error"', Reset()]],
        Outcome("BadAnswer", requests=3),
        id="an error body that breaks off",
    ),
]  # fmt: skip


@both_ways
@pytest.mark.parametrize("script, expected", STREAMED)
def test_a_streamed_answer_is_complete_only_when_it_is(script, expected, request_):
    with FaultProvider(script) as provider:
        assert run(provider, clocks_for(script, expected, request_), request_) == expected


@both_ways
@pytest.mark.parametrize("script, expected", UNSTREAMED)
def test_an_unstreamed_answer_is_complete_only_when_it_is(script, expected, request_):
    with FaultProvider(script) as provider:
        assert run(provider, clocks_for(script, expected, request_), request_) == expected


@both_ways
@pytest.mark.parametrize("scripts, expected", REFUSED)
def test_a_refusal_is_retried_only_where_that_can_help(scripts, expected, request_):
    with FaultProvider(*scripts) as provider:
        assert run(provider, request=request_) == expected


@pytest.mark.parametrize(
    "request_, streams, sent",
    [
        pytest.param(STREAMING, True, STREAMING, id="a stream"),
        pytest.param(STREAMING, False, AS_A_WHOLE, id="the endpoint cannot stream"),
        pytest.param(AS_A_WHOLE, True, AS_A_WHOLE, id="a whole reply is wanted"),
    ],
)
def test_a_reply_is_asked_for_as_a_stream_or_as_a_whole(request_, streams, sent):
    with FaultProvider(answer(200, completion(content="Hello"))) as provider:
        model = OpenAIModel(provider.url, "m", KEY, clocks=SLOW, streams=streams)
        found = asyncio.run(ask(model, request_))

    body = json.loads(provider.seen[0].body)
    assert found == WHOLE
    assert provider.seen[0].body == encode(sent.body()) == model.wire(request_)
    assert ("stream_options" in body) == body["stream"] == sent.stream


def test_a_whole_reply_may_take_longer_than_a_first_word():
    slow = [Pause(0.5), *answer(200, completion(content="Hello"))]
    with FaultProvider(slow) as provider:
        found = run(provider, replace(SLOW, first=0.2), AS_A_WHOLE)

    assert found == WHOLE


def test_a_redirect_never_takes_the_key_elsewhere():
    with FaultProvider(ok("Hello")) as other:
        moved = answer(307, b"", location=f"{other.url}/v1/chat/completions")
        with FaultProvider(moved) as provider:
            assert run(provider) == Outcome("BadAnswer")
        assert other.seen == []


@pytest.mark.parametrize(
    "url, how",
    [
        pytest.param("http://no-such-host.invalid/v1", "Unreachable", id="DNS failure"),
        pytest.param("http://127.0.0.1:1", "Unreachable", id="nobody listens"),
    ],
)
def test_an_address_without_a_server_is_tried_three_times(url, how):
    reports = []

    async def report(event):
        reports.append(event)

    model = OpenAIModel(url, "m", KEY, clocks=SLOW, retries=AT_ONCE, on_attempt=report)

    assert asyncio.run(ask(model)) == Outcome(how)
    assert [r.outcome for r in reports if isinstance(r, AttemptEnded)] == ["unreachable"] * 3
