"""A real llama.cpp server: what is predicted is what it bills."""

import asyncio
import contextlib
import random

import httpx
import pytest

from sill.adapters.tokens import Endpoint, Probes, counter_for, llamacpp
from sill.core.certificate import Counts
from sill.core.messages import ToolCall
from sill.core.request import ChatRequest, WireMessage
from sill.engine.sizes import Remembered

from .test_local import sum_of_parts
from .texts import hard_texts

pytestmark = pytest.mark.slow


@contextlib.asynccontextmanager
async def opened(server, transport=None):
    """A client of the server and its counter."""
    async with httpx.AsyncClient(timeout=60, transport=transport, trust_env=False) as client:
        endpoint = Endpoint(server.base_url, client, server.api_key)
        yield endpoint, await counter_for("any", endpoint=endpoint, probes=Probes())


def message_lists(count, seed):
    """System or none, empty and long, calls and results, an answer to continue; every kind of text."""
    rng = random.Random(seed)
    texts = [text[: rng.choice((3, 12, 30))] for text in hard_texts(600, seed)]
    texts += ["", "\r\n" * 20, "word " * 300, '{"a": 1}', "def f(x):\r\n\treturn x\r\n"]
    for _ in range(count):
        messages = [WireMessage("system", rng.choice(texts))] if rng.random() < 0.5 else []
        for _ in range(rng.choice((1, 1, 2, 4))):
            messages.append(WireMessage("user", rng.choice(texts)))
            if rng.random() < 0.3:
                call = ToolCall(f"call{rng.randrange(99)}", "read_file", '{"path": "a.md"}')
                said = rng.choice((None, "", rng.choice(texts)))
                messages.append(WireMessage("assistant", said, tool_calls=(call,)))
                messages.append(WireMessage("tool", rng.choice(texts), tool_call_id=call.id))
            if rng.random() < 0.5:
                messages.append(WireMessage("assistant", rng.choice(texts)))
        if rng.random() < 0.7:
            messages.append(WireMessage("user", rng.choice(texts)))
        yield tuple(messages)


async def billed(endpoint, request):
    body = request.body() | {"stream": False, "stream_options": None, "cache_prompt": True}
    headers = {"Authorization": f"Bearer {endpoint.key}"}
    url = f"{endpoint.root}/v1/chat/completions"
    response = await endpoint.client.post(url, json=body, headers=headers)
    return response.json()["usage"]["prompt_tokens"]


def test_a_thousand_requests_are_billed_as_predicted_and_never_above_their_parts(tiny_server):
    async def compare():
        differences, short = [], []
        async with opened(tiny_server) as (endpoint, chosen):
            remembered = Remembered(chosen.counter, cuts=chosen.cuts)
            remembering = Remembering(chosen.counter, remembered)
            for messages in message_lists(1_000, seed=12):
                request = ChatRequest("any", messages, max_tokens=1)
                predicted = await chosen.counter.count_request(request)
                actual = await billed(endpoint, request)
                if predicted != Counts((actual,), "exact"):
                    differences.append((predicted, actual, messages))
                if await sum_of_parts(remembering, messages) < actual:
                    short.append(messages)
        return differences, short

    assert asyncio.run(compare()) == ([], [])


class Remembering:
    """The server's counter, with counts that are taken once."""

    def __init__(self, counter, remembered):
        self.overhead = counter.overhead
        self.count = remembered.count


def test_a_batch_is_counted_in_one_call(tiny_server):
    texts = list(hard_texts(60, seed=13))

    async def compare():
        async with opened(tiny_server) as (_, chosen):
            together = await chosen.counter.count(texts)
            alone = [(await chosen.counter.count([text])).tokens[0] for text in texts]
        return together, Counts(tuple(alone), "exact")

    together, alone = asyncio.run(compare())

    assert together == alone


def test_edits_of_a_large_text_are_counted_exactly_at_the_server(tiny_server):
    text = "".join(hard_texts(200, seed=14))

    async def compare():
        rng, new, wrong = random.Random(17), text, []
        async with opened(tiny_server) as (_, chosen):
            assert chosen.cuts
            remembered = Remembered(chosen.counter, cuts=True)
            await remembered.count([new])
            for _ in range(12):
                at = rng.randrange(len(new))
                new = new[:at] + rng.choice(("\nnew line\n", " ", "é", "東京")) + new[at + 3 :]
                if await remembered.count([new]) != await chosen.counter.count([new]):
                    wrong.append(new)
        return wrong

    assert asyncio.run(compare()) == []


def test_a_very_large_text_is_counted_in_several_calls_and_the_same(tiny_server, monkeypatch):
    texts = ["".join(hard_texts(60, seed=18)), "short", "", "two words"]

    async def counts():
        async with opened(tiny_server) as (_, chosen):
            return await chosen.counter.count(texts)

    whole = asyncio.run(counts())
    monkeypatch.setattr(llamacpp, "BATCH", 500)

    assert asyncio.run(counts()) == whole


class Older(httpx.AsyncBaseTransport):
    """The same server as it was before it could count whole requests or take lists of texts."""

    def __init__(self):
        self._inner = httpx.AsyncHTTPTransport()
        self.asked = []

    async def handle_async_request(self, request):
        self.asked.append(request.url.path)
        if request.url.path.endswith("/input_tokens"):
            return httpx.Response(404, json={"error": {"code": 404}})
        if request.url.path == "/tokenize" and b'"content":[' in await request.aread():
            return httpx.Response(400, json={"error": {"code": 400}})
        return await self._inner.handle_async_request(request)

    async def aclose(self):
        await self._inner.aclose()


def test_an_older_server_renders_and_tokenizes_instead(tiny_server):
    requests = [ChatRequest("any", messages, 1) for messages in message_lists(40, seed=15)]
    texts = list(hard_texts(20, seed=16))

    async def compare():
        async with opened(tiny_server) as (_, new), opened(tiny_server, Older()) as (_, old):
            assert old.counter.tokenizer == new.counter.tokenizer
            assert await old.counter.count(texts) == await new.counter.count(texts)
            return [
                (await old.counter.count_request(request), await new.counter.count_request(request))
                for request in requests
            ]

    assert [pair for pair in asyncio.run(compare()) if pair[0] != pair[1]] == []


class Cutting(httpx.AsyncBaseTransport):
    """Lets the first requests through; then nobody answers any more."""

    def __init__(self):
        self._inner = httpx.AsyncHTTPTransport()
        self.cut = False

    async def handle_async_request(self, request):
        if self.cut:
            raise httpx.ConnectError("gone")
        return await self._inner.handle_async_request(request)


def test_a_server_that_goes_away_leaves_estimates(tiny_server):
    async def lose():
        transport = Cutting()
        async with opened(tiny_server, transport) as (_, chosen):
            transport.cut = True
            counter = chosen.counter
            request = ChatRequest("any", (WireMessage("user", "hello there"),), 1)
            return [
                await counter.count(["hello there", ""]),
                await counter.count_request(request),
                await counter.overhead(),
            ]

    texts, whole, overhead = asyncio.run(lose())

    assert [texts.kind, whole.kind] == ["estimate", "estimate"]
    assert texts.tokens[0] > 0
    assert texts.tokens[1] == 0
    assert whole.tokens[0] > 0
    assert min(overhead.message.values()) > 0


@pytest.mark.parametrize(
    "text, kind",
    [
        pytest.param("a" * 200_000, "bound", id="one word without an end"),
        pytest.param("many words " * 15_000, "exact", id="many words"),
        pytest.param("lone \ud800 surrogate", "exact", id="not Unicode"),
        pytest.param("", "exact", id="nothing"),
    ],
)
def test_long_and_odd_texts_are_counted_or_bounded(tiny_server, text, kind):
    async def count():
        async with opened(tiny_server) as (_, chosen):
            return await chosen.counter.count([text])

    counts = asyncio.run(count())

    assert counts.kind == kind
    assert 0 <= counts.tokens[0] <= len(text.encode(errors="replace")) + 2


def test_the_window_and_the_template_are_the_servers(tiny_server):
    async def look():
        async with opened(tiny_server) as (_, chosen):
            return chosen.window, chosen.counter.tokenizer

    window, tokenizer = asyncio.run(look())

    assert window == tiny_server.window
    assert tokenizer.kind == "exact"
    assert tokenizer.template is not None
