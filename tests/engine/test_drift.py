"""What bills teach: read from the ledger, used by the next estimate."""

import asyncio

import pytest

from sill.cli.doctor import _examine_drift
from sill.core.certificate import Usage
from sill.core.drift import HIGHEST, Drift, learn
from sill.engine.drift import REMEMBERED_MS, drift_of
from sill.records import Attempt, Settlement
from sill.testing import MemoryStore
from tests.models.fault_provider import FaultProvider

from .workspace import ask, endpoint, says

CALL = Attempt("main", "m", "http://a", predicted=10, tokenizer="words")
PAID = Settlement("complete", 200, Usage(12, 1))
LEARNED = learn(Drift(), 10, 12)


@pytest.mark.parametrize(
    "attempt, settlement, later, drift",
    [
        pytest.param(CALL, PAID, 0, LEARNED, id="its own call"),
        pytest.param(CALL, None, 0, Drift(), id="a call in flight"),
        pytest.param(CALL, Settlement("failed", 500), 0, Drift(), id="a call without a bill"),
        pytest.param(CALL, PAID, REMEMBERED_MS + 1, Drift(), id="long ago"),
        pytest.param(Attempt("main", "m", "http://b", predicted=10, tokenizer="words"), PAID, 0, Drift(), id="elsewhere"),
        pytest.param(Attempt("main", "n", "http://a", predicted=10, tokenizer="words"), PAID, 0, Drift(), id="another model"),
        pytest.param(Attempt("main", "m", "http://a", predicted=10, tokenizer="bytes"), PAID, 0, Drift(), id="another way of counting"),
        pytest.param(Attempt("main", "m", "http://a", tokenizer="words"), PAID, 0, Drift(), id="not predicted"),
    ],
)  # fmt: skip
def test_the_ledger_has_the_drift(attempt, settlement, later, drift):
    async def run():
        store = MemoryStore(clock=lambda: 1_000)
        id = await store.open_attempt(attempt)
        if settlement is not None:
            await store.settle_attempt(id, settlement)
        return await drift_of(store, "http://a", "m", "words", 1_000 + later)

    assert asyncio.run(run()) == drift


def estimating(provider: FaultProvider) -> str:
    return endpoint(provider).replace("base_url", 'profile.chat.tokenizer = "estimate"\nbase_url')


def test_the_next_session_estimates_with_what_the_last_one_learned(workspace):
    async def session(provider, times):
        async with workspace.open(estimating(provider)) as app:
            ends = [(await ask(app, "hi"))[-1] for _ in range(times)]
            return ends[-1].certificate, app.chat.call.ratio, await _examine_drift(app)

    async def run(provider):
        return [await session(provider, times) for times in (6, 1)]

    with FaultProvider(says("Hello", prompt=3_000)) as provider:
        [(first, before, _), (second, after, told)] = asyncio.run(run(provider))

    assert (first.kind, first.tokenizer, before) == ("estimate", "estimate", 1.0)
    assert after == pytest.approx(HIGHEST)
    assert 1.5 * first.predicted < second.predicted <= HIGHEST * first.predicted
    assert told[:2] == ("drift", "note")
    assert told[2].startswith("7 calls, 0 billed to the token; mean difference +")
    assert told[2].endswith(" and 0 too many; estimates are scaled by 2.00")


def test_an_exact_count_is_not_scaled(workspace):
    async def run(provider):
        for _ in range(2):
            async with workspace.open(endpoint(provider)) as app:
                certificate = (await ask(app, "hi"))[-1].certificate
                told = await _examine_drift(app)
                ratio = app.chat.call.ratio
        return certificate, told, ratio

    with FaultProvider(says("Hello", prompt=1)) as provider:
        certificate, told, ratio = asyncio.run(run(provider))

    assert (certificate.tokenizer.startswith("o200k_base"), ratio) == (True, 1.0)
    over = certificate.predicted - 1
    assert told == (
        "drift",
        "good",
        f"2 calls, 0 billed to the token; mean difference -{over:,}.0 tokens,"
        f" at worst 0 too few and {over:,} too many",
    )
