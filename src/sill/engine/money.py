"""Money around one call: what it can cost at most, whether that may be spent, what was spent in the end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import ceil
from typing import assert_never

from ..core.certificate import Certificate
from ..core.cost import (
    OverLimit,
    Price,
    PriceUnknown,
    Reserved,
    Scope,
    Spending,
    dollars,
    reserve,
    worst_case,
)
from ..core.request import ChatRequest
from ..errors import LimitReached
from ..ports import Model, Store
from ..records import Attempt, Cap, StoredAttempt

Booked = Callable[[Attempt, Sequence[Cap]], Model]
"""A model that writes every attempt of one call into the ledger, and makes none that could cross a cap."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be spent, in billionths of a dollar; None is without limit."""

    request: int | None = None
    chat: int | None = None
    day: int | None = None
    user: int | None = None
    warn_at: float = 0.8
    allows_unknown: bool = False

    def caps(self, chat: str | None, today_ms: int) -> dict[Scope, Cap]:
        """The limits that other calls may use up at the same time, as the store keeps them.

        The one per request is not among them: the calls for one question follow each other.
        """
        caps: dict[Scope, Cap] = {}
        if self.chat is not None and chat is not None:
            caps["chat"] = Cap(self.chat, chat=chat)
        if self.day is not None:
            caps["day"] = Cap(self.day, since_ms=today_ms)
        if self.user is not None:
            caps["user"] = Cap(self.user)
        return caps


@dataclass(frozen=True, slots=True)
class Afforded:
    """The call may be made; ``reserved`` is the most it can cost. What costs nothing is not ``capped``."""

    reserved: int | None
    capped: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class Purse:
    """One user's limits over all models. Warns of each limit once."""

    store: Store
    limits: Limits = field(default_factory=Limits)
    now: Callable[[], datetime] = datetime.now
    _warned: set[tuple[Scope, str | None]] = field(default_factory=set)

    def caps(self, chat: str | None) -> dict[Scope, Cap]:
        return self.limits.caps(chat, start_of_day(self.now()))

    async def spendings(self, chat: str | None, so_far: int) -> list[Spending]:
        """What has gone against every limit; ``so_far`` on this very question."""
        found = [
            Spending(scope, cap.limit, await self.store.spent(cap))
            for scope, cap in self.caps(chat).items()
        ]
        if self.limits.chat is not None and chat is None:
            found.insert(0, Spending("chat", self.limits.chat))
        if self.limits.request is not None:
            found.insert(0, Spending("request", self.limits.request, so_far))
        return found

    async def afford(
        self, worst: int | None, model: str, chat: str | None = None, so_far: int = 0
    ) -> Afforded | OverLimit | PriceUnknown:
        """Whether a call of ``model`` that can cost ``worst`` (None: nobody knows) may be made.

        ``chat`` None is a new one. Nothing is written: the reservation is made with the call.
        """
        if worst == 0 or (worst is None and self.limits.allows_unknown):
            return Afforded(worst)
        spendings = await self.spendings(chat, so_far)
        decided = reserve(worst, spendings, model, self.limits.warn_at)
        if not isinstance(decided, Reserved):
            return decided
        warnings = self.warnings(chat, decided, spendings)
        return Afforded(worst, capped=True, warnings=tuple(warnings))

    def booking(self, attempt: Attempt, afforded: Afforded) -> tuple[Attempt, tuple[Cap, ...]]:
        """What the ledger is to hold of the call, and the limits that no attempt of it may cross."""
        caps = self.caps(attempt.chat or None) if afforded.capped else {}
        return replace(attempt, reserved=afforded.reserved), tuple(caps.values())

    async def attempts(self, turns: Sequence[str]) -> list[StoredAttempt]:
        """What the ledger holds of these turns."""
        return [row for turn in turns for row in await self.store.attempts(turn=turn)]

    def warnings(
        self, chat: str | None, reserved: Reserved, spendings: Sequence[Spending]
    ) -> list[str]:
        """One sentence for each limit that comes near and was not warned of before."""
        told = []
        for one in spendings:
            key = (one.scope, chat if one.scope == "chat" else None)
            if one.scope in reserved.warnings and key not in self._warned:
                self._warned.add(key)
                most = dollars(one.spent + (reserved.amount or 0))
                limit = dollars(one.limit)
                told.append(
                    f"this call may bring the cost to {most} of the {limit} allowed {_PER[one.scope]}"
                )
        return told


_PER: dict[Scope, str] = {
    "request": "per question",
    "chat": "per chat",
    "day": "per day",
    "user": "altogether",
}


@dataclass(frozen=True, slots=True)
class Till:
    """What calls to one model cost. ``price`` None is unknown."""

    purse: Purse
    price: Price | None
    booked: Booked

    async def afford(
        self, request: ChatRequest, prompt: int, chat: str | None = None, so_far: int = 0
    ) -> Afforded | OverLimit | PriceUnknown:
        """Whether ``request`` can be paid if its prompt is billed as ``prompt`` tokens and the reply is long.

        ``chat`` None is a new one.
        """
        price = self.price
        worst = None if price is None else worst_case(prompt, request.max_tokens, price)
        return await self.purse.afford(worst, request.model, chat, so_far)

    async def payable(self, request: ChatRequest, attempt: Attempt, shortfall: float) -> Model:
        """The model for one call beside a chat's turns; ``LimitReached`` where it could cost too much."""
        prompt = ceil((attempt.predicted or 0) * (1 + shortfall))
        decided = await self.afford(request, prompt, attempt.chat or None)
        if isinstance(decided, Afforded):
            return self.model(attempt, decided)
        raise refusal(decided)

    def model(self, attempt: Attempt, afforded: Afforded) -> Model:
        """The model for one call: every attempt is written down, and none is made that could cross a limit."""
        return self.booked(*self.purse.booking(attempt, afforded))


def refusal(decided: OverLimit | PriceUnknown) -> LimitReached:
    """Why a call is not made, and what to do about it."""
    match decided:
        case OverLimit(spending=one, wanted=wanted):
            hint = f"raise `limits.{one.scope}` in the settings, or send less"
            return LimitReached(
                decided.words, limit=one.limit, spent=one.spent, wanted=wanted, hint=hint
            )
        case PriceUnknown():
            return LimitReached(decided.words, limit=0, spent=0, wanted=None)
        case never:
            assert_never(never)


def at_most(certificate: Certificate, shortfall: float) -> int:
    """The most prompt tokens the server can bill, by this count."""
    return ceil(certificate.predicted * (1 + shortfall))


def paid(rows: Sequence[StoredAttempt]) -> int | None:
    """What these attempts cost together; None if nobody knows it of one of them."""
    costs = [row.settlement.cost if row.settlement else None for row in rows]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def held(rows: Sequence[StoredAttempt]) -> int:
    """What these attempts count for against limits: their cost, or their worst case until it is known."""
    return sum(
        row.settlement.cost
        if row.settlement and row.settlement.cost is not None
        else row.attempt.reserved or 0
        for row in rows
    )


def start_of_day(now: datetime) -> int:
    """Midnight before ``now``, in its time zone, as milliseconds since 1970."""
    return round(now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)
