"""One question per endpoint: a no is remembered, silence is asked again, opting out asks nothing."""

import asyncio

import httpx
import pytest

from sill.adapters.tokens import Endpoint, Probes, counter_for
from sill.adapters.tokens.probe import LATER_SECONDS, NO_SECONDS, CannotCount

from .servers import Endpointlike


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def probing(answer, *moments, model="any"):
    """What the probe says at each moment, and how often the endpoint was asked by then."""

    async def work():
        clock, seen = Clock(), []
        is_silent = answer("/tokenize", {}) is None
        probes = Probes(clock, seconds=0.5 if is_silent else 60)
        async with Endpointlike(answer).running() as server, httpx.AsyncClient() as client:
            for moment in moments:
                clock.now = moment
                found = await probes.ask(Endpoint(server.base_url, client), model)
                seen.append((found, len(server.asked)))
        return seen

    return asyncio.run(work())


def test_a_404_means_no_for_a_long_while():
    assert probing(lambda path, body: (404, {}), 0, 1, NO_SECONDS - 1, NO_SECONDS + 1) == [
        (CannotCount(later=False), 1),
        (CannotCount(later=False), 1),
        (CannotCount(later=False), 1),
        (CannotCount(later=False), 2),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param((503, {}), id="loading"),
        pytest.param((429, {}), id="busy"),
        pytest.param(None, id="no answer in time"),
    ],
)
def test_silence_means_later(answer):
    seen = probing(lambda path, body: answer, 0, LATER_SECONDS - 1, LATER_SECONDS + 1)

    assert seen == [(CannotCount(later=True), 1), (CannotCount(later=True), 1), (CannotCount(later=True), 2)]  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param((200, {"tokens": []}), id="no tokens"),
        pytest.param((200, {"tokens": ["a"]}), id="tokens that are no numbers"),
        pytest.param((200, {"tokens": [True]}), id="tokens that are truths"),
        pytest.param((200, {"tokens": [7, 8], "count": -5}), id="a count below nothing"),
        pytest.param((200, {"tokens": [7, 8], "count": 3}), id="a count that is not of the tokens"),
        pytest.param((200, {"tokens": [7], "count": True}), id="a count that is a truth"),
        pytest.param((200, {"tokens": [], "count": 0}), id="a count of nothing"),
        pytest.param((200, {"tokens": [7, 8], "count": "2"}), id="a count in words"),
        pytest.param((200, {"ok": True}), id="something else"),
        pytest.param((200, [1, 2]), id="a list"),
        pytest.param((200, b"<html>"), id="a page"),
        pytest.param((401, {}), id="no key"),
    ],
)
def test_what_is_no_tokenizer_is_no(answer):
    assert probing(lambda path, body: answer, 0) == [(CannotCount(later=False), 1)]


def test_an_endpoint_that_is_not_there_means_later():
    async def work():
        async with httpx.AsyncClient() as client:
            return await Probes().ask(Endpoint("http://127.0.0.1:9/v1", client), "any")

    assert asyncio.run(work()) == CannotCount(later=True)


def test_opting_out_asks_nothing():
    async def work():
        async with (
            Endpointlike(lambda path, body: (200, {})).running() as server,
            httpx.AsyncClient() as client,
        ):
            endpoint = Endpoint(server.base_url, client)
            chosen = await counter_for("gpt-5", endpoint=endpoint, probes=None)
            return chosen.reason, server.asked

    assert asyncio.run(work()) == ("known name: GPT-5, o200k_base", [])


def test_a_silent_endpoint_is_named_in_the_reason():
    async def work():
        async with httpx.AsyncClient() as client:
            endpoint = Endpoint("http://127.0.0.1:9/v1", client)
            return (await counter_for("gpt-5", endpoint=endpoint, probes=Probes())).reason

    assert asyncio.run(work()) == (
        "known name: GPT-5, o200k_base; the endpoint did not answer, it is asked again later"
    )


def test_the_key_is_sent_and_never_shown():
    seen = []

    def note(request):
        seen.append(request.headers.get("authorization"))
        return httpx.Response(404)

    async def work():
        async with httpx.AsyncClient(transport=httpx.MockTransport(note)) as client:
            endpoint = Endpoint("http://host/v1", client, "sk-secret")
            await Probes().ask(endpoint, "any")
            return repr(endpoint)

    shown = asyncio.run(work())

    assert seen == ["Bearer sk-secret"]
    assert "secret" not in shown
