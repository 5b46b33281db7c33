"""A server in vLLM's shape, counting with a real vocabulary."""

import asyncio

import httpx
import pytest

from sill.adapters.tokens import Endpoint, Probes, counter_for
from sill.adapters.tokens._vocabularies import vocabulary as packaged
from sill.core.certificate import Counts
from sill.core.request import ChatRequest, WireMessage
from sill.ports import Overhead

from .servers import Endpointlike

encode = packaged("llama3").encode


def answer(path, body):
    """What vLLM documents for ``/tokenize``: a text, or a chat through its template."""
    if path != "/tokenize":
        return 404, {}
    if "messages" in body:
        # One token before each message and one after it, one to open the reply.
        texts = [message["content"] or "" for message in body["messages"]]
        count = 1 + sum(2 + len(encode(text)) for text in texts)
        return 200, {"count": count, "max_model_len": 4096, "tokens": [0] * count}
    tokens = encode(body["prompt"])
    return 200, {"count": len(tokens), "max_model_len": 4096, "tokens": tokens}


def with_counter(work, answering=answer):
    async def run():
        async with Endpointlike(answering).running() as server, httpx.AsyncClient() as client:
            endpoint = Endpoint(server.base_url, client)
            chosen = await counter_for("a-model", endpoint=endpoint, probes=Probes())
            return await work(chosen, server)

    return asyncio.run(run())


def test_it_is_recognised():
    async def work(chosen, server):
        return chosen.reason, chosen.window, len(server.asked)

    assert with_counter(work) == ("the endpoint counts for itself (vLLM)", 4096, 1)


@pytest.mark.parametrize("window", [0, -1, True, "4096", None])
def test_a_window_that_is_none_is_not_told(window):
    def answering(path, body):
        status, said = answer(path, body)
        return status, said | {"max_model_len": window}

    async def work(chosen, server):
        return chosen.window

    assert with_counter(work, answering) is None


@pytest.mark.parametrize("count", [-1, True, "3", None, 2.0])
def test_an_answer_that_is_no_count_leaves_estimates(count):
    def answering(path, body):
        status, said = answer(path, body)
        return status, said if "content" in body else said | {"count": count}

    async def work(chosen, server):
        return await chosen.counter.count(["some words"])

    assert with_counter(work, answering).kind == "estimate"


def test_texts_and_requests_are_counted_at_the_server():
    async def work(chosen, server):
        request = ChatRequest("a-model", (WireMessage("user", "hello world"),), 1)
        texts = await chosen.counter.count(["hello world", "", "<|eot_id|>", "\ud800"])
        return texts, await chosen.counter.count_request(request)

    special, replaced = len(encode("<|eot_id|>")), len(encode("\ufffd"))
    assert with_counter(work) == (
        Counts((2, 0, special, replaced), "exact"),
        Counts((1 + 2 + 2,), "exact"),
    )


def test_the_overhead_is_read_off_the_template():
    async def work(chosen, server):
        return await chosen.counter.overhead()

    roles = dict.fromkeys(("system", "user", "assistant", "tool"), 2)
    assert with_counter(work) == Overhead(message=roles, request=1)


def test_a_server_that_fails_later_leaves_estimates():
    async def work(chosen, server):
        server._answer = lambda path, body: (500, {})
        request = ChatRequest("a-model", (WireMessage("user", "hello"),), 1)
        return [
            (await chosen.counter.count(["hello"])).kind,
            (await chosen.counter.count_request(request)).kind,
        ]

    assert with_counter(work) == ["estimate", "estimate"]
