"""What Prometheus is told, and what it is never told."""

import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sill.web.metrics import meters
from tests.engine.workspace import says
from tests.models.fault_provider import FaultProvider
from tests.users.shared import run, shared

PEOPLE = {"adelheid": "admin", "bartholomew": "contributor", "cordelia": "viewer"}
FLAGS = {
    "probe": False,
    "tokenizer": "o200k_base",
    "model": "first-secret-model",
    "window": 8192,
    "embedder": "none",
    "prices.first-secret-model.prompt": 1.0,
    "prices.first-secret-model.completion": 2.0,
    "profile.chat.tools": "false",
}
CANARY = "heliotrope"


@pytest.fixture(autouse=True)
def fresh():
    """The process counts from its start: here from the test's."""
    meters.cache_clear()
    yield
    meters.cache_clear()


async def use(place):
    """One answer in the workspace, one through the gateway; then what each person sees of the numbers."""
    async with place.client("bartholomew") as client:
        started = (await client.post("/api/v1/turns", json={"text": f"Tell me of {CANARY}"})).json()
        async with asyncio.timeout(60):
            await client.get(f"/api/v1/turns/{started['turn']}/events")
        wanted = {"messages": [{"role": "user", "content": CANARY}]}
        await client.post("/v1/chat/completions", json=wanted)
        await client.post("/v1/chat/completions", json={**wanted, "max_tokens": 0})
    answers = {}
    for name in PEOPLE:
        async with place.client(name) as client:
            answers[name] = await client.get("/metrics")
    return answers


def seen(text: str) -> dict[tuple[str, ...], float]:
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_answers_tokens_cost_and_drift_are_counted_without_names(tmp_path):
    async def check(provider):
        flags = {**FLAGS, "base_url": provider.url + "/v1"}
        async with shared(tmp_path, PEOPLE, flags) as place:
            return await use(place)

    with FaultProvider(says("Blue.", prompt=1_000_000, completion=10)) as provider:
        answers = run(check(provider))

    assert {name: answer.status_code for name, answer in answers.items()} == {
        "adelheid": 200,
        "bartholomew": 403,
        "cordelia": 403,
    }
    text = answers["adelheid"].text
    found = seen(text)
    assert found["sill_turns_total", "chat", "complete"] == 1
    assert found["sill_turns_total", "gateway", "complete"] == 1
    assert found["sill_tokens_total", "chat", "prompt"] == 1_000_000
    assert found["sill_tokens_total", "gateway", "completion"] == 10
    assert found["sill_cost_dollars_total", "gateway"] == pytest.approx(1.00002)
    assert found["sill_cost_dollars_total", "chat"] == pytest.approx(1.00002)
    assert found["sill_turn_seconds_count", "chat"] == 1
    assert found["sill_first_word_seconds_count", "gateway"] == 1
    assert (
        sum(count for name, count in found.items() if name[0] == "sill_count_drift_tokens_count")
        == 2
    )
    assert (
        found["sill_answers_in_flight", "chat"] == found["sill_answers_in_flight", "gateway"] == 0
    )
    for word in (CANARY, "secret", *PEOPLE, str(tmp_path), "127.0.0.1"):
        assert word not in text
