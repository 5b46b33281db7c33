"""What happens on the socket: what is sent, when it is closed, where it never goes."""

import asyncio
import contextlib
import logging

import httpx
import pytest

from sill.adapters.models.openai import OpenAIModel
from sill.core.certificate import Usage
from sill.core.request import ChatRequest, ToolSchema, WireMessage, encode
from sill.errors import ProviderError, Unreachable
from sill.ports import Ended, TextDelta

from .fault_provider import CHUNKED, FaultProvider, Hang, Repeat, answer, chunked, head, ok, said

KEY = "sk-canary-77aa"
REQUEST = ChatRequest("m", (WireMessage("user", "hï"),), max_tokens=9)


async def collect(model: OpenAIModel, request: ChatRequest = REQUEST) -> list:
    return [event async for event in model.stream(request)]


def test_a_reply_streams_in_and_ends_with_its_usage():
    with FaultProvider(ok("Hel", "lo")) as provider:
        events = asyncio.run(collect(OpenAIModel(provider.url, "m")))

    assert events == [TextDelta("Hel"), TextDelta("lo"), Ended("complete", "stop", Usage(5, 2))]


def test_the_bytes_sent_are_the_bytes_recorded():
    tool = ToolSchema("read", "Read a file", {"type": "object", "properties": {}})
    request = ChatRequest(
        "m", REQUEST.messages, 9, temperature=0.2, tools=(tool,), extra={"top_k": 1}
    )
    with FaultProvider(ok("x")) as provider:
        asyncio.run(collect(OpenAIModel(provider.url, "m", KEY), request))
        [seen] = provider.seen

    assert seen.body == encode(request.body())
    assert seen.headers["authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent():
    with FaultProvider(ok("x")) as provider:
        asyncio.run(collect(OpenAIModel(provider.url, "m")))

    assert "authorization" not in provider.seen[0].headers


@pytest.mark.parametrize(
    "suffix, path",
    [
        pytest.param("", "/v1/chat/completions", id="bare"),
        pytest.param("/", "/v1/chat/completions", id="slash"),
        pytest.param("/v1", "/v1/chat/completions", id="v1"),
        pytest.param("/v1//", "/v1/chat/completions", id="v1 and slashes"),
        pytest.param("/v1/chat/completions", "/v1/chat/completions", id="the whole path"),
        pytest.param("/api/v1", "/api/v1/chat/completions", id="a prefix"),
    ],
)
def test_a_base_url_is_taken_with_or_without_v1(suffix, path):
    with FaultProvider(ok("x")) as provider:
        asyncio.run(collect(OpenAIModel(provider.url + suffix, "m")))

    assert provider.seen[0].path == path


async def take_one_and_close(model: OpenAIModel) -> object:
    stream = model.stream(REQUEST)
    first = await anext(stream)
    await stream.aclose()
    return first


async def take_one_and_be_cancelled(model: OpenAIModel) -> None:
    arrived = asyncio.Event()

    async def read() -> None:
        async for _ in model.stream(REQUEST):
            arrived.set()

    task = asyncio.create_task(read())
    await arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


STREAMING = [
    pytest.param([CHUNKED, chunked(said("Hel")), Hang()], id="a silent server"),
    pytest.param([head(), Repeat(said("Hel"), 0.001)], id="a server that goes on"),
]


@pytest.mark.parametrize("script", STREAMING)
@pytest.mark.parametrize("leave", [take_one_and_close, take_one_and_be_cancelled])
def test_leaving_hangs_up_on_the_server_and_is_reported(script, leave):
    outcomes = []

    async def report(event):
        outcomes.append(getattr(event, "outcome", "started"))

    with FaultProvider(script) as provider:
        asyncio.run(leave(OpenAIModel(provider.url, "m", on_attempt=report)))

        assert provider.hung_up.wait(60)
    assert outcomes == ["started", "cancelled"]


def test_cancelling_before_the_answer_begins_hangs_up_too():
    outcomes = []

    async def report(event):
        outcomes.append(getattr(event, "outcome", "started"))

    async def give_up(url: str) -> None:
        task = asyncio.create_task(collect(OpenAIModel(url, "m", on_attempt=report)))
        await asyncio.to_thread(provider.asked.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with FaultProvider([Hang()]) as provider:
        asyncio.run(give_up(provider.url))

        assert provider.hung_up.wait(60)
    assert outcomes == ["started", "cancelled"]


def test_attempts_of_one_turn_can_be_told_from_those_of_another():
    seen = {"first": [], "second": []}

    def note(turn):
        async def report(event):
            seen[turn].append(event.number)

        return report

    async def two_turns(url):
        model = OpenAIModel(url, "m")
        turns = [collect(model.reporting_to(note(turn))) for turn in seen]
        return await asyncio.gather(*turns)

    with FaultProvider(ok("x")) as provider:
        replies = asyncio.run(two_turns(provider.url))

    assert replies[0] == replies[1]
    assert seen == {"first": [1, 1], "second": [1, 1]}


def test_one_model_serves_many_event_loops_and_a_restarted_server():
    with FaultProvider(ok("one")) as provider:
        model = OpenAIModel(provider.url, "m")
        first = asyncio.run(collect(model))
        second = asyncio.run(collect(model))

    assert first == second
    assert len(provider.seen) == 2


def test_a_kept_connection_serves_the_next_call():
    opened, closed = [], asyncio.Event()

    async def serve(reader, writer):
        opened.append(writer)
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().split(b"content-length:")[1].split()[0]))
                for step in ok("Hello"):
                    writer.write(step.replace(b"connection: close\r\n", b""))
                    await writer.drain()
        writer.close()
        await writer.wait_closed()
        closed.set()

    async def two_turns():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with httpx.AsyncClient() as client:
            model = OpenAIModel(f"http://127.0.0.1:{port}", "m", client=client)
            turns = [await collect(model), await collect(model)]
        await closed.wait()
        server.close()
        return turns

    first, second = asyncio.run(two_turns())

    assert first == second
    assert len(opened) == 1


def test_a_proxy_from_the_environment_never_sees_local_traffic(monkeypatch):
    with FaultProvider(ok("proxied")) as proxy, FaultProvider(ok("direct")) as provider:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        events = asyncio.run(collect(OpenAIModel(provider.url, "m", KEY)))

    assert events[0] == TextDelta("direct")
    assert proxy.seen == []


def test_a_remote_endpoint_does_go_through_the_proxy(monkeypatch):
    with FaultProvider(ok("proxied")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        events = asyncio.run(collect(OpenAIModel("http://models.invalid/v1", "m")))

    assert events[0] == TextDelta("proxied")


def test_the_key_is_in_no_log_error_or_repr(caplog):
    caplog.set_level(logging.DEBUG)
    quoted = {"error": {"message": f"wrong key {KEY} in Authorization: Bearer {KEY}"}}
    said_later = b"data: " + b'{"error":{"message":"' + KEY.encode() + b'"}}\n\n'
    scripts = [
        answer(401, quoted),
        answer(400, quoted),
        [head() + said("x") + said_later],
        ok("fine"),
    ]
    spoken = []
    with FaultProvider(*scripts) as provider:
        model = OpenAIModel(provider.url, "m", KEY)
        for _ in scripts:
            try:
                spoken += asyncio.run(collect(model))
            except ProviderError as error:
                spoken += [error, error.__dict__, error.hint]
        spoken += [model, model._transport, model._transport._client]

    assert len(provider.seen) == 4
    assert KEY not in caplog.text
    assert KEY not in " ".join(f"{item} {item!r}" for item in spoken)


def test_a_cut_reply_says_that_it_was_cut():
    with FaultProvider([CHUNKED, chunked(said("Hel"))]) as provider:
        events = asyncio.run(collect(OpenAIModel(provider.url, "m")))

    assert events[-1] == Ended(
        "partial", None, None, reason="the reply was cut off: the connection closed early"
    )


def test_nobody_there_is_said_in_one_line_with_what_to_do():
    with pytest.raises(Unreachable) as caught:
        asyncio.run(collect(OpenAIModel("http://127.0.0.1:1", "m")))

    assert str(caught.value) == (
        "nobody answers at http://127.0.0.1:1/v1: connection refused"
        " (is the server running, and is the base URL right?)"
    )
