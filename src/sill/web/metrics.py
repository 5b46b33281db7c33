"""Numbers for Prometheus: how much, how long, how well counted. No name and no text of anybody is in them."""

import functools
import os
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.responses import PlainTextResponse

from ..app.running import Interrupted, Running, Told, Turns
from ..core.certificate import Certificate, Usage
from ..core.cost import DOLLAR, cost_of
from ..core.plan import OverBudget, Plan
from ..engine.events import Delta, Finished, Refused, Started
from ..engine.relay import Begun
from ..ports import Ended, ModelEvent
from .depend import admin

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # where several workers add up their numbers
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_TOKENS = (0, 1, 2, 5, 10, 50, 100, 500, 1000)

router = APIRouter()


@router.get("/metrics", tags=["operations"], dependencies=[admin], response_class=PlainTextResponse)
async def metrics() -> PlainTextResponse:
    """Everything that was counted since the start, in Prometheus' text form."""
    from prometheus_client import (
        CONTENT_TYPE_LATEST,
        CollectorRegistry,
        generate_latest,
        multiprocess,
    )

    registry = meters().registry
    if os.environ.get(SHARED_FOLDER):
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return PlainTextResponse(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


@dataclass(frozen=True, slots=True)
class Meters:
    """``door`` is `chat` or `gateway`; no label can take a value that somebody typed."""

    registry: "CollectorRegistry"
    turns: "Counter"
    tokens: "Counter"
    cost: "Counter"
    drift: "Histogram"
    seconds: "Histogram"
    first_word: "Histogram"
    evicted: "Counter"
    in_flight: "Gauge"

    def planned(self, door: str, plan: Plan) -> None:
        gone = sum(item.kind == "turn" and item.fate == "evicted" for item in plan.items)
        self.evicted.labels(door).inc(gone)

    def ended(self, door: str, outcome: str, seconds: float) -> None:
        self.turns.labels(door, outcome).inc()
        self.seconds.labels(door).observe(seconds)

    def billed(self, door: str, certificate: Certificate, usage: Usage | None) -> None:
        if usage is None:
            return
        for kind, tokens in (
            ("prompt", usage.prompt),
            ("cached", usage.cached or 0),
            ("completion", usage.completion),
        ):
            self.tokens.labels(door, kind).inc(max(0, tokens))
        self.drift.labels(certificate.kind).observe(abs(usage.prompt - certificate.predicted))


@functools.cache
def meters() -> Meters:
    """The process's own; made when they are first needed."""
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

    registry = CollectorRegistry()
    door = ["door"]
    return Meters(
        registry,
        Counter("sill_turns", "answers, by how they ended", ["door", "outcome"], registry=registry),
        Counter("sill_tokens", "tokens that were billed", ["door", "kind"], registry=registry),
        Counter("sill_cost_dollars", "what answers cost", door, registry=registry),
        Histogram(
            "sill_count_drift_tokens",
            "how far a prompt's count was from the bill, by kind of count",
            ["kind"],
            buckets=_TOKENS,
            registry=registry,
        ),
        Histogram(
            "sill_turn_seconds", "from question to end", door, buckets=_SECONDS, registry=registry
        ),
        Histogram(
            "sill_first_word_seconds",
            "from question to first word",
            door,
            buckets=_SECONDS,
            registry=registry,
        ),
        Counter("sill_evicted_turns", "turns that left a window", door, registry=registry),
        Gauge(
            "sill_answers_in_flight",
            "answers being written now",
            door,
            registry=registry,
            multiprocess_mode="livesum",
        ),
    )


@dataclass(slots=True)
class Observer:
    """Reads along with every turn of the workspace."""

    turns: Turns
    clock: Callable[[], float] = time.monotonic
    _begun: dict[int, float] = field(default_factory=dict)  # turns whose first word is awaited

    def __call__(self, running: Running, event: Told) -> None:
        meter = meters()
        match event:
            case Started(plan=plan):
                meter.in_flight.labels("chat").set(self.turns.in_flight)
                self._begun[id(running)] = self.clock()
                meter.planned("chat", plan)
            case Delta() if (begun := self._begun.get(id(running))) is not None:
                meter.first_word.labels("chat").observe(self.clock() - begun)
                del self._begun[id(running)]
            case Finished():
                self._ended(running, event, event.outcome)
            case Interrupted(finished=finished):
                self._ended(running, finished, "interrupted")
            case Refused():
                self._gone(running)
                meter.turns.labels("chat", "refused").inc()
            case _:
                pass

    def _ended(self, running: Running, event: Finished, outcome: str) -> None:
        meter = meters()
        self._gone(running)
        meter.ended("chat", outcome, event.took_ms / 1000)
        meter.billed("chat", event.certificate, event.usage)
        meter.cost.labels("chat").inc((event.cost or 0) / DOLLAR)

    def _gone(self, running: Running) -> None:
        self._begun.pop(id(running), None)
        meters().in_flight.labels("chat").set(max(0, self.turns.in_flight - 1))


def observe(turns: Turns) -> None:
    """From now on its turns are counted, once."""
    if not any(isinstance(one, Observer) for one in turns.observers):
        turns.observers.append(Observer(turns))


async def measured(
    events: AsyncGenerator[Begun | OverBudget | ModelEvent, None],
) -> AsyncGenerator[Begun | OverBudget | ModelEvent, None]:
    """The same events, counted for the gateway."""
    meter, started = meters(), time.monotonic()
    begun: Begun | None = None
    outcome = "failed"
    meter.in_flight.labels("gateway").inc()
    try:
        async for event in events:
            match event:
                case OverBudget():
                    outcome = "refused"
                case Begun(fitted=fitted):
                    begun, outcome = event, "cancelled"
                    meter.first_word.labels("gateway").observe(time.monotonic() - started)
                    if fitted.plan is not None:
                        meter.planned("gateway", fitted.plan)
                case Ended(usage=usage) if begun is not None:
                    outcome = event.outcome
                    meter.billed("gateway", begun.fitted.certificate, usage)
                    if usage is not None and begun.price is not None:
                        paid = cost_of(usage, begun.price)
                        meter.cost.labels("gateway").inc(paid / DOLLAR)
                case _:
                    pass
            yield event
    finally:
        await events.aclose()
        meter.in_flight.labels("gateway").dec()
        meter.ended("gateway", outcome, time.monotonic() - started)
