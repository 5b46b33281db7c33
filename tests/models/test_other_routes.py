"""Inline completion, embeddings and reply formats, in recorded shapes over real sockets."""

import asyncio
import json

import pytest

from sill.adapters.models.completion import Completer, Gap, completion_body, infill_body
from sill.adapters.models.embeddings import Embedded, embed
from sill.adapters.models.endpoints import parse_endpoint
from sill.adapters.models.formats import FormatMemory, with_format
from sill.adapters.models.retry import RetryPolicy
from sill.adapters.models.transport import Transport
from sill.core.certificate import Usage
from sill.core.request import ChatRequest, JsonFormat, WireMessage, encode
from sill.errors import ProviderError
from sill.ports import Ended, TextDelta

from .fault_provider import FaultProvider, Reset, answer, event, head

TIMINGS = {"cache_n": 2, "prompt_n": 3, "predicted_n": 1}
LAST = {"content": "", "stop": True, "stop_type": "eos", "timings": TIMINGS}


def infilled(*chunks: object) -> list:
    return [head() + b"".join(event(chunk) for chunk in chunks)]


def transport(provider: FaultProvider) -> Transport:
    return Transport(parse_endpoint(provider.url), retries=RetryPolicy(attempts=1))


def complete(provider: FaultProvider, times: int = 1) -> list:
    async def collect():
        completer = Completer(transport(provider), "m")
        for _ in range(times):
            events = [event async for event in completer.stream(Gap("a = ", "\n", 9))]
        return events

    return asyncio.run(collect())


@pytest.mark.parametrize(
    "chunks, expected",
    [
        pytest.param(
            [{"content": "1", "stop": False}, LAST],
            [TextDelta("1"), Ended("complete", "stop", Usage(5, 1, 2))],
            id="to its own end",
        ),
        pytest.param(
            [{"content": "1", "stop": False}, {**LAST, "stop_type": "limit"}],
            [
                TextDelta("1"),
                Ended(
                    "partial", "length", Usage(5, 1, 2), reason="the reply reached its token limit"
                ),
            ],
            id="to the limit",
        ),
        pytest.param(
            [{"content": "1", "stop": False}],
            [
                TextDelta("1"),
                Ended("partial", None, None, reason="the stream ended before the reply did"),
            ],
            id="cut off",
        ),
    ],
)
def test_infill_is_complete_only_when_it_is(chunks, expected):
    with FaultProvider(routes={"/infill": infilled(*chunks)}) as provider:
        assert complete(provider) == expected
        assert provider.seen[0].body == encode(infill_body(Gap("a = ", "\n", 9)))


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_without_infill_is_asked_for_it_once(status):
    plain = infilled({"choices": [{"text": "1", "finish_reason": "stop"}]})
    refused = answer(status, {"error": {"message": "no"}})
    routes = {"/infill": refused, "/v1/completions": plain}
    with FaultProvider(routes=routes) as provider:
        assert complete(provider, times=2) == [TextDelta("1"), Ended("complete", "stop", None)]

    assert [seen.path for seen in provider.seen] == [
        "/infill",
        "/v1/completions",
        "/v1/completions",
    ]
    assert provider.seen[1].body == encode(completion_body(Gap("a = ", "\n", 9), "m"))


def test_another_refusal_is_not_taken_for_a_missing_route():
    with FaultProvider(answer(401, {"error": "no"})) as provider, pytest.raises(ProviderError):
        complete(provider)

    assert len(provider.seen) == 1


def vectors(*items: object, **more: object) -> list:
    return answer(200, {"data": list(items), "usage": {"prompt_tokens": 4}, **more})


def item(index: int, *numbers: object) -> dict[str, object]:
    return {"index": index, "object": "embedding", "embedding": list(numbers)}


@pytest.mark.parametrize(
    "script, expected",
    [
        pytest.param(
            vectors(item(1, 3, 4), item(0, 1.5, 2)),
            Embedded(((1.5, 2.0), (3.0, 4.0)), Usage(4, 0)),
            id="put in order",
        ),
        pytest.param(vectors(item(0, 1)), "BadAnswer", id="one is missing"),
        pytest.param(vectors(item(0, 1), item(0, 1)), "BadAnswer", id="one comes twice"),
        pytest.param(vectors(item(0, 1), item(1, 1), item(2, 1)), "BadAnswer", id="one too many"),
        pytest.param(vectors(item(0, 1), item(1, 1, 2)), "BadAnswer", id="different lengths"),
        pytest.param(vectors(item(0, 1), item(1, None)), "BadAnswer", id="not numbers"),
        pytest.param(vectors(item(0, 1), item(1, float("nan"))), "BadAnswer", id="not a number"),
        pytest.param(
            answer(200, {"error": {"message": "boom"}}), "BadAnswer", id="an error in a 200"
        ),
        pytest.param(answer(200, [1]), "BadAnswer", id="something else"),
        pytest.param(answer(200, b'{"data":['), "BadAnswer", id="cut off"),
        pytest.param([head(type="application/json"), Reset()], "BadAnswer", id="reset"),
        pytest.param(
            answer(501, {"error": {"message": "start with --embeddings"}}), "Unsupported", id="501"
        ),
    ],
)
def test_embeddings_are_all_there_or_none(script, expected):
    outcomes = []

    async def report(event):
        outcomes.append(getattr(event, "outcome", "started"))

    with FaultProvider(script) as provider:
        try:
            found: object = asyncio.run(embed(transport(provider), "m", ["a", "b"], report))
        except ProviderError as error:
            found = type(error).__name__

    assert found == expected
    assert len(provider.seen) == 1
    assert (outcomes[-1] == "complete") == isinstance(expected, Embedded)


def test_no_texts_need_no_request():
    with FaultProvider() as provider:
        assert asyncio.run(embed(transport(provider), "m", [])) == Embedded(())

    assert provider.seen == []


SHAPE = JsonFormat("ops", {"type": "object"})
ASKED = ChatRequest("m", (WireMessage("system", "Be kind."), WireMessage("user", "hi")), 9)
TOLD = 'Answer with one JSON object and nothing else. It must match this JSON schema:\n{"type":"object"}'


def test_a_format_is_asked_for_in_three_ways():
    by_schema = with_format(ASKED, SHAPE, "json schema").body()
    by_grammar = with_format(ASKED, SHAPE, "grammar", "root ::= x").body()
    told = with_format(ASKED, SHAPE, "instructions")

    assert by_schema["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "ops", "schema": {"type": "object"}},
    }
    assert by_grammar["grammar"] == "root ::= x"
    assert told.messages == (WireMessage("system", f"Be kind.\n\n{TOLD}"), ASKED.messages[1])
    assert json.loads(encode(told.body())) == told.body()


def test_instructions_need_no_system_message():
    asked = ChatRequest("m", ASKED.messages[1:], 9)

    assert with_format(asked, SHAPE, "instructions").messages == (
        WireMessage("system", TOLD),
        *asked.messages,
    )


def test_a_refused_way_is_not_tried_again_at_that_endpoint():
    memory = FormatMemory()
    here, there = ("http://a/v1", "m"), ("http://b/v1", "m")
    ways = [memory.best_way(*here, has_grammar=True)]
    while memory.refuse(*here, ways[-1]):
        ways.append(memory.best_way(*here, has_grammar=True))

    assert ways == ["json schema", "grammar", "instructions"]
    assert memory.best_way(*here) == "instructions"
    assert memory.best_way(*there) == "json schema"
