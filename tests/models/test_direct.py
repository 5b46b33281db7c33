"""The short way to a local server: what a general client does, without what a local call has no use for."""

import asyncio
import json
import socket
import threading

import pytest

from sill.adapters.models.openai import OpenAIModel
from sill.adapters.models.retry import Clocks, RetryPolicy
from sill.core.request import ChatRequest, WireMessage
from sill.errors import Overflow, ProviderError, Unreachable
from sill.ports import Ended, TextDelta

from .fault_provider import FaultProvider, Pause, answer, completion, finished, head, ok, said

ONCE = RetryPolicy(attempts=1)
REQUEST = ChatRequest("m", (WireMessage("user", "hi"),), max_tokens=9)


def ask(url: str, request: ChatRequest = REQUEST) -> list:
    async def collect():
        model = OpenAIModel(url, "m", clocks=Clocks(connect=60, first=60), retries=ONCE)
        return [event async for event in model.stream(request)]

    return asyncio.run(collect())


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(ok("Hello"), id="in chunks"),
        pytest.param([head() + said("Hello") + finished()], id="to the end of the connection"),
        pytest.param(answer(200, completion(content="Hello")), id="of known length"),
        pytest.param([CONTINUE, *ok("Hello")], id="after an interim answer"),
        pytest.param([b"HTTP/1.1 2", Pause(0.05), b"00 OK\r\n\r\n" + said("Hello") + finished()], id="a head in two pieces"),
        pytest.param([b"HTTP/1.0 200 OK\r\n\r\n" + said("Hello") + finished()], id="HTTP/1.0"),
    ],
)  # fmt: skip
def test_an_answer_may_be_framed_in_every_way(script):
    with FaultProvider(script) as provider:
        *events, ended = ask(provider.url)

    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hello"]
    assert isinstance(ended, Ended) and ended.outcome == "complete"


def test_every_request_has_a_connection_of_its_own():
    with FaultProvider(ok("Hello")) as provider:
        ask(provider.url)

    [seen] = provider.seen
    assert (seen.headers["connection"], seen.headers["content-type"]) == (
        "close",
        "application/json",
    )
    assert seen.headers["host"] == f"127.0.0.1:{provider.port}"


def test_a_name_is_looked_up_and_each_of_its_addresses_tried():
    """Many machines have ::1 for localhost first, where this server does not listen."""
    with FaultProvider(ok("Hello")) as provider:
        events = ask(f"http://localhost:{provider.port}")

    assert events[-1].outcome == "complete"


def test_a_refused_connection_is_called_that():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(Unreachable) as caught:
        ask(f"http://localhost:{port}")

    assert "connection refused" in str(caught.value)


def test_an_answer_before_the_request_is_read_is_heard():
    """A server refuses a request that is too large after its head, and hangs up on the rest of it."""
    body = json.dumps({"error": {"message": "too large"}}).encode()
    refusal = b"HTTP/1.1 413 X\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)

    def refuse(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1_000)
            connection.sendall(refusal)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(1 << 20):  # read on, so that the answer is not lost to a reset
                pass

    large = ChatRequest("m", (WireMessage("user", "word " * 2_000_000),), max_tokens=9)
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=refuse, args=(server,))
        thread.start()
        with pytest.raises(ProviderError) as caught:
            ask(f"http://127.0.0.1:{server.getsockname()[1]}", large)
        thread.join()

    assert isinstance(caught.value, Overflow)
