"""A real server that goes away and comes back, and one that was started for embeddings."""

import asyncio
import math

import pytest

from sill.adapters.models.embeddings import embed
from sill.adapters.models.endpoints import parse_endpoint
from sill.adapters.models.openai import OpenAIModel
from sill.adapters.models.retry import RetryPolicy
from sill.adapters.models.transport import Transport
from sill.core.request import ChatRequest, WireMessage
from sill.errors import ProviderError
from sill.ports import Ended

from .own_server import KEY, serving

pytestmark = pytest.mark.slow


def request(max_tokens: int) -> ChatRequest:
    extra = {"ignore_eos": True}
    return ChatRequest("any", (WireMessage("user", "hi"),), max_tokens, extra=extra)


async def last_event(model: OpenAIModel, max_tokens: int = 2) -> str:
    try:
        events = [event async for event in model.stream(request(max_tokens))]
    except ProviderError as error:
        return type(error).__name__
    assert isinstance(events[-1], Ended)
    return events[-1].finish_reason or events[-1].outcome


def test_one_model_outlives_its_server(tiny_weights):
    async def turns() -> list[str]:
        quick = RetryPolicy(base=0.01)
        seen = []
        with serving(tiny_weights) as url:
            model = OpenAIModel(url, "any", KEY, retries=quick)
            seen.append(await last_event(model))
        seen.append(await last_event(model))
        with serving(tiny_weights, port=int(url.rpartition(":")[2])):
            seen.append(await last_event(model))
        await model.close()
        return seen

    assert asyncio.run(turns()) == ["length", "Unreachable", "length"]


def test_a_server_that_dies_in_the_middle_leaves_a_partial_reply(tiny_weights):
    async def turn() -> Ended:
        with serving(tiny_weights) as url:
            model = OpenAIModel(url, "any", KEY)
            stream = model.stream(request(8000))  # far more than comes before the server is gone
            await anext(stream)
        events = [event async for event in stream]
        return events[-1]

    ended = asyncio.run(turn())

    assert (ended.outcome, ended.finish_reason) == ("partial", None)


def test_embeddings_of_a_server_started_for_them(tiny_weights):
    with serving(tiny_weights, "embeddings") as url:
        transport = Transport(parse_endpoint(url), KEY)
        found = asyncio.run(embed(transport, "any", ["a hen", "a hen", "the sea at night"]))

    first, same, other = found.vectors
    assert len(first) == 576
    assert math.dist(first, same) < 1e-3 < math.dist(first, other)
