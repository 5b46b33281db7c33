"""What the library gives back: plain values."""

from dataclasses import dataclass
from typing import Literal

from ..core.certificate import Certificate, Usage
from ..core.cost import DOLLAR
from ..core.plan import Item, Plan
from ..core.references import Reference
from ..core.usage import breakdown
from ..engine.events import Finished, Refused

AnswerOutcome = Literal["complete", "partial", "failed", "cancelled", "refused"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question. ``refused`` means that nothing was sent and nothing is stored.

    ``cost`` is in dollars; None where the model's price is unknown. ``reason`` says why it is not complete.
    """

    text: str
    outcome: AnswerOutcome
    reason: str = ""
    chat: str | None = None
    turn: str | None = None
    model: str = ""
    certificate: Certificate | None = None
    usage: Usage | None = None
    cost: float | None = None
    references: tuple[Reference, ...] = ()

    @property
    def ok(self) -> bool:
        return self.outcome == "complete"


def answer_of(event: Finished | Refused) -> Answer:
    cost = None if event.cost is None else event.cost / DOLLAR
    if isinstance(event, Refused):
        return Answer("", "refused", event.reason, cost=cost)
    return Answer(
        text=event.text,
        outcome=event.outcome,
        reason=event.reason,
        chat=event.chat,
        turn=event.turn,
        model=event.model,
        certificate=event.certificate,
        usage=event.usage,
        cost=cost,
        references=event.references,
    )


@dataclass(frozen=True, slots=True)
class Window:
    """What a request holds or would hold: every item in and out, and how full that makes the window."""

    items: tuple[Item, ...]
    tokens: int
    room: int
    window: int
    shares: dict[str, int]
    certificate: Certificate | None = None
    request: bytes = b""  # the exact body, where one was sent

    @property
    def left(self) -> int:
        return self.room - self.tokens


def window_of(plan: Plan, certificate: Certificate | None, request: bytes = b"") -> Window:
    return Window(
        items=plan.items,
        tokens=plan.tokens,
        room=plan.budget.room,
        window=plan.budget.window,
        shares={row.share: row.used for row in breakdown(plan).rows},
        certificate=certificate,
        request=request,
    )


@dataclass(frozen=True, slots=True)
class Spent:
    """Dollars over all calls; ``unknown`` calls had no known price and are not in ``total``."""

    total: float
    calls: int
    unknown: int
