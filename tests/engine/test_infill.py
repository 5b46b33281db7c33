"""Completion by filling a hole, through a whole application, over a server that speaks llama.cpp's ``/infill``."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest

from sill.app.complete import open_writer
from sill.core.certificate import Certificate, Usage
from sill.engine.complete import Spot, Suggested
from tests.models.fault_provider import FaultProvider, answer, event, head

MODELS = {"object": "list", "data": [{"id": "coder", "owned_by": "llamacpp"}]}
PROPS = {"default_generation_settings": {"n_ctx": 2048}, "total_slots": 1}
SPOT = Spot("sum.py", "def add(a, b):\n    return ", "\n\nprint(add(1, 2))\n")
LAST = {
    "content": "",
    "stop": True,
    "stop_type": "eos",
    "timings": {"cache_n": 2, "prompt_n": 18, "predicted_n": 3},
}


def filled(*chunks: object) -> list:
    return [head() + b"".join(event(chunk) for chunk in chunks)]


def server(infill: list, chat: list) -> FaultProvider:
    return FaultProvider(
        routes={
            "/v1/models": answer(200, MODELS),
            "/props": answer(200, PROPS),
            "/infill": infill,
            "/v1/completions": answer(501, {"error": {"message": "no"}}),
            "/v1/chat/completions": chat,
        }
    )


def complete(workspace, provider: FaultProvider):
    async def run():
        toml = f'base_url = "{provider.url}/v1"\n'
        async with (
            workspace.open(toml, profile="completion", SILL_PROBE="true") as app,
            AsyncExitStack() as stack,
        ):
            writer = open_writer(app, workspace.settings, "completion", stack)
            found = await writer.complete(SPOT)
            return found, [row.attempt.category for row in await app.store.attempts()]

    return asyncio.run(run())


def test_a_model_made_for_it_is_given_the_hole(workspace):
    with server(filled({"content": "a + b", "stop": False}, LAST), []) as provider:
        found, booked = complete(workspace, provider)

    asked = [json.loads(seen.body) for seen in provider.seen if seen.path == "/infill"]
    assert found == Suggested(
        "complete",
        "a + b",
        certificate=Certificate("bound", "o200k_base", found.certificate.predicted, actual=20),
        usage=Usage(20, 3, 2),
    )
    assert found.certificate.predicted >= 20
    assert [(body["input_prefix"], body["input_suffix"]) for body in asked] == [
        ("a", "b"),  # can it at all?
        (SPOT.prefix, SPOT.suffix),
    ]
    assert booked == ["probe", "completion"]


@pytest.mark.parametrize(
    "chunks, outcome, text",
    [
        pytest.param([{"content": "a +", "stop": False}, {**LAST, "stop_type": "limit"}], "complete", "a +", id="the limit is usual"),
        pytest.param([{"content": "a +", "stop": False}], "upstream_error", "", id="cut off"),
        pytest.param([LAST], "nothing", "", id="nothing to add"),
    ],
)  # fmt: skip
def test_how_a_hole_can_stay_open(workspace, chunks, outcome, text):
    with server(filled(*chunks), []) as provider:
        found, _ = complete(workspace, provider)

    assert (found.outcome, found.text) == (outcome, text)


def test_a_model_that_cannot_fill_is_asked_in_words(workspace):
    cannot = answer(501, {"error": {"code": 501, "message": "Infill is not supported by this model", "type": "not_supported_error"}})  # fmt: skip
    reply = {"choices": [{"index": 0, "message": {"content": "a + b"}, "finish_reason": "stop"}]}
    with server(cannot, answer(200, reply)) as provider:
        found, booked = complete(workspace, provider)

    assert (found.outcome, found.text) == ("complete", "a + b")
    assert [seen.path for seen in provider.seen if seen.method == "POST"].count("/infill") == 1
    assert booked[-1] == "completion"
