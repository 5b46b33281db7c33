"""The client against llama.cpp's own server. The tiny model's words are nonsense; its wire is not."""

import asyncio
import json
from dataclasses import replace

import pytest

from sill.adapters.local.supervise import LocalServer
from sill.adapters.models.completion import Completer, Gap
from sill.adapters.models.discover import discover
from sill.adapters.models.embeddings import embed
from sill.adapters.models.endpoints import parse_endpoint
from sill.adapters.models.openai import OpenAIModel
from sill.adapters.models.transport import Transport
from sill.core.request import ChatRequest, JsonFormat, WireMessage
from sill.errors import BadAnswer, KeyRefused, Overflow, Unsupported
from sill.ports import Ended, TextDelta

pytestmark = pytest.mark.slow


def request(text: str = "Say hello.", max_tokens: int = 12, **options) -> ChatRequest:
    return ChatRequest("any", (WireMessage("user", text),), max_tokens, temperature=0.0, **options)


def ask(server: LocalServer, asked: ChatRequest, key: str | None = None) -> tuple[str, Ended]:
    async def collect():
        model = OpenAIModel(server.base_url, "any", key or server.api_key)
        return [event async for event in model.stream(asked)]

    *events, ended = asyncio.run(collect())
    assert isinstance(ended, Ended)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), ended


def test_a_reply_that_reaches_its_limit_is_partial_and_billed_to_the_token(tiny_server):
    text, ended = ask(tiny_server, request(max_tokens=5))

    assert text
    assert (ended.outcome, ended.finish_reason) == ("partial", "length")
    assert ended.usage is not None
    assert ended.usage.completion == 5
    assert ended.usage.cached is not None


def test_a_whole_reply_is_the_streamed_one(tiny_server):
    """The same words and the same bill, whichever way they come."""
    asked = request("Count the eggs.", max_tokens=6, extra={"cache_prompt": False})

    streamed, whole = ask(tiny_server, asked), ask(tiny_server, replace(asked, stream=False))

    assert whole == streamed


def test_the_second_request_finds_its_prefix_in_the_cache(tiny_server):
    asked = request("Count the hens in the garden, slowly and one by one.", max_tokens=2)
    ask(tiny_server, asked)

    usage = ask(tiny_server, asked)[1].usage

    assert usage is not None
    assert usage.cached == usage.prompt - 1


def test_a_grammar_constrains_the_reply(tiny_server):
    text, ended = ask(tiny_server, request(extra={"grammar": 'root ::= "yes" | "no"'}))

    assert text in ("yes", "no")
    assert (ended.outcome, ended.finish_reason) == ("complete", "stop")


def test_a_schema_constrains_the_reply(tiny_server):
    colour = {"type": "string", "enum": ["red", "green"]}
    schema = {"type": "object", "properties": {"colour": colour}, "required": ["colour"]}

    text, ended = ask(tiny_server, request(max_tokens=60, response_format=JsonFormat("x", schema)))

    assert json.loads(text)["colour"] in ("red", "green")
    assert ended.outcome == "complete"


def test_a_bad_grammar_is_unsupported(tiny_server):
    with pytest.raises(Unsupported):
        ask(tiny_server, request(extra={"grammar": "root ::= ((("}))


def test_a_prompt_that_is_too_long_tells_the_window(tiny_server):
    with pytest.raises(Overflow) as caught:
        ask(tiny_server, request("word " * (tiny_server.window + 10)))

    assert caught.value.window == tiny_server.window
    assert caught.value.prompt is not None
    assert caught.value.prompt > tiny_server.window


def test_a_wrong_key_is_refused(tiny_server):
    with pytest.raises(KeyRefused):
        ask(tiny_server, request(), key="wrong")


def test_a_wrong_path_is_named(tiny_server):
    async def collect():
        model = OpenAIModel(f"{tiny_server.base_url}/nowhere/v1", "any", tiny_server.api_key)
        return [event async for event in model.stream(request())]

    with pytest.raises(BadAnswer) as caught:
        asyncio.run(collect())

    assert caught.value.hint == "is the base URL right? it usually ends in /v1"


def test_stopping_in_mid_stream_frees_the_server(tiny_server):
    async def stop_and_ask_again():
        model = OpenAIModel(tiny_server.base_url, "any", tiny_server.api_key)
        stream = model.stream(request(max_tokens=2000, extra={"ignore_eos": True}))
        first = [await anext(stream) for _ in range(3)]
        await stream.aclose()
        # One slot: a generation that went on would keep this one waiting for its two thousand tokens.
        again = [event async for event in model.stream(request(max_tokens=2))]
        return first, again[-1]

    first, ended = asyncio.run(stop_and_ask_again())

    assert [type(event) for event in first] == [TextDelta] * 3
    assert (ended.outcome, ended.finish_reason) == ("partial", "length")


def test_the_endpoint_tells_what_it_is(tiny_server):
    found = asyncio.run(discover(tiny_server.base_url, tiny_server.api_key, seconds=10))

    assert found.server == "llama.cpp"
    assert found.window is not None
    assert (found.window.tokens, found.window.source) == (tiny_server.window, "the server's /props")
    assert found.trained == 8192
    assert found.abilities == {"json schema", "system role"}


def transport(server: LocalServer) -> Transport:
    return Transport(parse_endpoint(server.base_url), server.api_key)


def test_completion_falls_back_where_the_model_cannot_fill_in(tiny_server):
    completer = Completer(transport(tiny_server), "any")

    async def complete():
        return [event async for event in completer.stream(Gap("The sea is", " and cold.", 4))]

    *texts, ended = asyncio.run(complete())

    assert "".join(event.text for event in texts)
    assert (ended.outcome, ended.finish_reason) == ("partial", "length")
    assert completer.routes == ("completions",)


def test_embeddings_a_server_was_not_started_for_are_unsupported(tiny_server):
    with pytest.raises(Unsupported):
        asyncio.run(embed(transport(tiny_server), "any", ["a", "b"]))
