"""One question, several models: when one does not answer, the next one is asked, and the user is told."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from ..core.failover import Breaker, Stuck, order
from ..errors import (
    BadAnswer,
    LocalModelError,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    SillError,
    TimedOut,
    Unreachable,
)
from .asking import Asking, closed
from .chat import Chat
from .events import Delta, Event, Finished, Notice, Refused, Thought, ToolUsed
from .prepare import Question


@dataclass(slots=True)
class Place:
    """One model that can be asked, with its own window and its own way of counting.

    It is opened when it is first needed. ``barred`` says why it must not be asked; empty where it may.
    """

    name: str
    open: Callable[[], Awaitable[Chat]]
    barred: str = ""
    chat: Chat | None = None
    breaker: Breaker = field(default_factory=Breaker)

    async def ready(self) -> Chat:
        if self.chat is None:
            self.chat = await self.open()
        return self.chat


@dataclass(slots=True)
class Failover:
    """Asks the first place, and the others in their order while one before them does not answer.

    Only before anything was shown; each place plans the question anew for itself. ``current`` answered last.
    """

    places: Sequence[Place]
    clock: Callable[[], float] = time.monotonic
    current: int = 0
    _stuck: dict[str | None, Stuck] = field(default_factory=dict)  # None: every chat not named

    @property
    def chat(self) -> Chat:
        """Of the place that answered last; there is one after ``open``."""
        chat = self.places[self.current].chat
        assert chat is not None
        return chat

    async def open(self, tell: Callable[[str], None]) -> None:
        """Open the first place that can be; if none can, the first one's error is raised."""
        errors: list[SillError] = []
        for number, place in enumerate(self.places):
            if place.barred:
                tell(_passed_over(place))
                continue
            try:
                await place.ready()
            except (ProviderError, LocalModelError) as error:
                place.breaker = place.breaker.failed(self.clock())
                errors.append(error)
                if len(self.places) > 1:
                    tell(str(error))
                continue
            if number > 0:
                tell(f"{place.name} is asked instead")
                self._stick(None, number)
            self.current = number
            return
        raise errors[0]

    async def ask(
        self, chat: str | None, question: Question, stop: asyncio.Event | None = None
    ) -> AsyncGenerator[Event, None]:
        """As ``Chat.ask``. Every turn and its ledger name the model that was really asked."""
        asking = Asking(self.chat.store, self.chat.workspace, question, chat, stop)
        async with closed(asking), aclosing(self._answer(asking)) as events:
            async for event in events:
                if isinstance(event, Finished | Refused):
                    await asking.close()
                yield event

    async def _answer(self, asking: Asking) -> AsyncGenerator[Event, None]:
        ended: Finished | Refused | None = None  # how the first place failed
        for number in self.order(asking.chat):
            place = self.places[number]
            if ended is not None and asking.is_stopped:
                break
            try:
                asked = await place.ready()
            except (ProviderError, LocalModelError) as error:
                place.breaker = place.breaker.failed(self.clock())
                ended = ended or Refused(0, 0, str(error))
                yield Notice(str(error), "warning")
                continue
            if number != self.current:
                yield Notice(f"{place.name} is asked {'instead' if number else 'again'}")
                self.current = number
            shown, last = False, None
            async with aclosing(asked.answer(asking)) as events:
                async for event in events:
                    if isinstance(event, Finished | Refused):
                        last = event
                    else:
                        shown = shown or isinstance(event, Delta | Thought | ToolUsed)
                        yield event
            assert last is not None
            if isinstance(last, Refused) and ended is not None:
                yield Notice(f"{place.name}: {last.reason}", "warning")
                if asking.turn is None:
                    ended = replace(last, reason=ended.reason)
                continue
            if isinstance(last, Refused) or shown or not has_failed(last):
                self._settle(last, number)
                yield last
                return
            place.breaker = place.breaker.failed(self.clock())
            if ended is None:
                for notice in self._after_failure(last):
                    yield notice
            # The first failure is told; the turn that is stored is the last one.
            told = ended if isinstance(ended, Finished) else last
            ended = replace(told, chat=last.chat, turn=last.turn, cost=last.cost)
        assert ended is not None
        yield ended

    def order(self, chat: str | None) -> tuple[int, ...]:
        """The numbers of the places to ask, first to last; never none."""
        now = self.clock()
        self._stuck = {key: stuck for key, stuck in self._stuck.items() if stuck.holds(now)}
        stuck = self._stuck.get(chat) or self._stuck.get(None)
        return order(
            [not place.barred for place in self.places],
            [place.breaker for place in self.places],
            stuck,
            now,
        )

    def _settle(self, last: Finished | Refused, number: int) -> None:
        if isinstance(last, Refused) or last.outcome not in ("complete", "partial"):
            return
        self.answered(number, last.chat)

    @property
    def barred(self) -> list[str]:
        """Who is not asked instead, and why."""
        return [_passed_over(place) for place in self.places if place.barred]

    def missed(self, number: int) -> None:
        """The place did not answer."""
        self.places[number].breaker = self.places[number].breaker.failed(self.clock())

    def answered(self, number: int, chat: str | None) -> None:
        """The place works, and a chat that had to change to it stays there for a while."""
        self.places[number].breaker = Breaker()
        if number > 0:
            self._stick(chat, number)

    def _stick(self, chat: str | None, number: int) -> None:
        """From the first answer on: a chat that stays with a fallback goes back all the same."""
        known = self._stuck.get(chat)
        if known is None or known.place != number:
            self._stuck[chat] = Stuck(number, self.clock())

    def _after_failure(self, failed: Finished) -> list[Notice]:
        if len(self.places) == 1:
            return []
        return [Notice(text, "warning") for text in (failed.reason, *self.barred)]


def _passed_over(place: Place) -> str:
    return f"{place.name} is not asked instead: {place.barred}"


def has_failed(finished: Finished) -> bool:
    """Nothing came, for a reason that another model may not have."""
    return finished.outcome == "failed" and is_theirs(finished.error)


def is_theirs(error: SillError | None) -> bool:
    """Whether another model may do better."""
    if isinstance(error, BadAnswer):
        # A refused request or a wrong address is a mistake to be seen, not to be worked around.
        return error.status is None or error.status in (200, 408, 409) or error.status >= 500
    return isinstance(error, Unreachable | TimedOut | RateLimited | QuotaExhausted)
