"""Turns in flight: each is a task of its own, and whoever wants may read along, leave and come back.

What a reader has seen is a ``Mark``: how much of the answer, and how many of the other events. Text is
numbered by its length, so that a mark means the same after the process has gone and only the stored text
is left.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from ..core.plan import Plan
from ..engine.asking import INTERRUPTED
from ..engine.events import Delta, Event, Finished, Notice, Refused, Started, Thought
from ..engine.streams import Stop
from ..errors import SillError

MOST_TURNS = 100  # in flight at once
MOST_READERS = 100  # of one turn
KEEP_SECONDS = 120.0  # an ended turn is still there for readers that lost their connection
TEXTS_PER_SECOND = 20
# Seconds between two pieces of text for a reader. A model that is slow enough is not slowed down further.
FAST, SLOW = 1.0 / TEXTS_PER_SECOND, 0.02


class Overloaded(SillError):
    """``retry_after`` in seconds; ``code`` is for programs."""

    code = "too_many_streams"

    def __init__(self, message: str, retry_after: int = 5) -> None:
        super().__init__(message, hint=f"try again in {retry_after} seconds")
        self.retry_after = retry_after


class ShuttingDown(Overloaded):
    code = "shutting_down"

    def __init__(self) -> None:
        super().__init__("the server is shutting down", 10)


@dataclass(frozen=True, slots=True)
class Mark:
    """``text`` characters of the answer and ``others`` other events were seen."""

    text: int = 0
    others: int = 0

    def __str__(self) -> str:
        return f"{self.text}.{self.others}"

    @classmethod
    def read(cls, written: str) -> "Mark | None":
        """None if it is not one; a plain number is a mark in the text."""
        text, _, others = written.partition(".")
        parts = (text, others or "0")
        if not all(part.isascii() and part.isdecimal() and len(part) <= 12 for part in parts):
            return None
        return cls(int(parts[0]), int(parts[1]))


@dataclass(frozen=True, slots=True)
class Failed:
    """The turn broke with an error that no event tells of."""

    error: SillError


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The program ends, and the answer with it: it is stored as interrupted, with what came."""

    finished: Finished


Told = Event | Failed | Interrupted
LAST = Finished | Refused | Failed | Interrupted
Marked = tuple[Mark, Told]


begun_here: ContextVar["list[Running] | None"] = ContextVar("begun_here", default=None)
"""Whoever sets it to a list finds there the turns that were begun in its context."""


@dataclass(slots=True)
class Running:
    """One turn, from its first event on. ``ids`` are all turns it was stored as, the last one holds."""

    owner: str
    stop: Stop = field(default_factory=Stop)
    ids: list[str] = field(default_factory=list)
    chat: str = ""
    text: str = ""
    tokens: int | None = None  # of the text when it was last counted
    is_ended: bool = False
    ended_at: float = 0.0
    readers: int = 0
    clock: Callable[[], float] = time.monotonic
    _arrivals: deque[float] = field(default_factory=lambda: deque(maxlen=TEXTS_PER_SECOND + 1))
    _others: list[tuple[int, Told]] = field(default_factory=list)  # where in the text, and what
    _waiting: set[asyncio.Future[None]] = field(default_factory=set)
    _after: list[Callable[[], None]] = field(default_factory=list)
    is_over: bool = False  # its last event was told

    def take(self, event: Told) -> None:
        match event:
            case Delta(text=text, tokens=tokens):
                self.text += text
                self.tokens = tokens if tokens is not None else self.tokens
            case _:
                if isinstance(event, Started):
                    self.ids.append(event.turn)
                    self.chat = event.chat
                self._others.append((len(self.text), event))
        if isinstance(event, Delta | Thought):
            self._arrivals.append(self.clock())
        if isinstance(event, LAST):
            self._be_over()
        self._wake()

    def when_over(self, call: Callable[[], None]) -> None:
        """Call it once the last event is told; at once if it was."""
        if self.is_over:
            call()
        else:
            self._after.append(call)

    def _be_over(self) -> None:
        self.is_over = True
        while self._after:
            self._after.pop()()

    @property
    def plan(self) -> Plan | None:
        """Of the request that was begun last."""
        plans = (event.plan for _, event in reversed(self._others) if isinstance(event, Started))
        return next(plans, None)

    @property
    def mark(self) -> Mark:
        """Of somebody who has seen everything so far."""
        return Mark(len(self.text), len(self._others))

    def end(self, now: float) -> None:
        self.is_ended, self.ended_at = True, now
        self._be_over()
        self._wake()

    def since(self, mark: Mark) -> list[Marked]:
        """Everything after the mark, in order; text and thoughts joined as far as nothing stands between."""
        found: list[Marked] = []
        position, number = mark.text, mark.others
        for place, event in self._others[mark.others :]:
            if place > position:
                found.append((Mark(place, number), Delta(self.text[position:place])))
                position = place
            number += 1
            before = found[-1][1] if found else None
            if isinstance(event, Thought) and isinstance(before, Thought):
                found[-1] = (Mark(position, number), Thought(before.text + event.text))
            else:
                found.append((Mark(position, number), event))
        if len(self.text) > position:
            found.append((Mark(len(self.text), number), Delta(self.text[position:], self.tokens)))
        return found

    async def follow(self, mark: Mark) -> AsyncGenerator[Marked, None]:
        """Everything after the mark until the turn has ended; text at most twenty times a second."""
        self.readers += 1
        told_at = 0.0
        try:
            while True:
                is_last = self.is_ended
                for seen, event in self.since(mark):
                    mark = seen
                    if isinstance(event, Delta | Thought):
                        told_at = self.clock()
                    is_last = is_last or isinstance(event, LAST)
                    yield seen, event
                    del seen, event  # who waits for long holds nothing
                if is_last:
                    return
                if self.mark == mark and not self.is_ended:
                    await self._news()
                pause = FAST if self._is_fast(self.clock()) else SLOW
                if (wait := told_at + pause - self.clock()) > 0 and not self.is_ended:
                    await asyncio.sleep(wait)
        finally:
            self.readers -= 1

    def _is_fast(self, now: float) -> bool:
        """More than twenty pieces came within a second: readers get several at a time."""
        return len(self._arrivals) > TEXTS_PER_SECOND and now - self._arrivals[0] < 1.0

    async def _news(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await future
        finally:
            self._waiting.discard(future)

    def _wake(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)


@dataclass(slots=True)
class Turns:
    """All turns in flight, and those that ended a moment ago."""

    most: int = MOST_TURNS
    clock: Callable[[], float] = time.monotonic
    is_closing: bool = False
    observers: list[Callable[[Running, Told], None]] = field(default_factory=list)
    _by_id: dict[str, Running] = field(default_factory=dict)
    _tasks: dict[asyncio.Task[None], Running] = field(default_factory=dict)
    _guests: set[Stop] = field(default_factory=set)
    _one_less: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def in_flight(self) -> int:
        return len(self._tasks)

    def busy_chats(self, owner: str) -> frozenset[str]:
        return frozenset(one.chat for one in self._tasks.values() if one.owner == owner)

    def in_chat(self, owner: str, chat: str) -> Running | None:
        """The turn that is in flight in this chat."""
        mine = (one for one in self._tasks.values() if one.owner == owner and one.chat == chat)
        return next(mine, None)

    @property
    def running(self) -> list[Running]:
        return list(self._tasks.values())

    def stop_all(self, owner: str) -> None:
        """End every answer that is being written for this owner, and keep what came."""
        for one in self._tasks.values():
            if one.owner == owner:
                one.stop.set()

    def find(self, owner: str, turn: str) -> Running | None:
        """The turn if it is this owner's and was in flight here a moment ago."""
        self._forget()
        found = self._by_id.get(turn)
        return found if found is not None and found.owner == owner else None

    async def start(
        self, owner: str, ask: Callable[[asyncio.Event], AsyncGenerator[Event, None]]
    ) -> Running | Refused:
        """The turn once it is stored and on its way; or why it is not. Errors of the start are raised.

        It goes on whether anybody reads or not; its ``stop`` ends it.
        """
        if self.is_closing:
            raise ShuttingDown
        if self.in_flight >= self.most:
            raise Overloaded("too many answers are being written at once")
        self._forget()
        running = Running(owner)
        begun: asyncio.Future[Refused | None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._run(running, ask(running.stop), begun))
        self._tasks[task] = running
        task.add_done_callback(self._gone)
        refused = await asyncio.shield(begun)
        if refused is None and (here := begun_here.get()) is not None:
            here.append(running)
        return running if refused is None else refused

    def _gone(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        self._one_less.set()

    async def _run(
        self,
        running: Running,
        events: AsyncGenerator[Event, None],
        begun: asyncio.Future[Refused | None],
    ) -> None:
        try:
            async with aclosing(events):
                async for told in events:
                    event = _as_ended(told, running.stop)
                    running.take(event)
                    for observe in self.observers:
                        observe(running, event)
                    if isinstance(event, Started):
                        self._by_id[event.turn] = running
                        if not begun.done():
                            begun.set_result(None)
                    elif isinstance(event, Refused) and not begun.done():
                        begun.set_result(event)
                    elif isinstance(event, Finished | Interrupted) and not begun.done():
                        begun.set_result(None)
        except Exception as error:
            if not begun.done():
                begun.set_exception(error)
            elif isinstance(error, SillError):
                running.take(Failed(error))
            else:
                running.take(Failed(SillError(f"unexpected {type(error).__name__}")))
                raise
        finally:
            if not begun.done():
                begun.set_exception(SillError("the turn ended before it began"))
            running.end(self.clock())

    @contextmanager
    def guest(self, stop: Stop) -> Iterator[None]:
        """An answer that is no turn and lives as long as its request; ``stop`` is set when it has to end."""
        if self.is_closing:
            raise ShuttingDown
        self._guests.add(stop)
        try:
            yield
        finally:
            self._guests.discard(stop)
            self._one_less.set()

    def hurry(self) -> None:
        """Interrupt whatever is in flight, for everybody."""
        for stop in (*(running.stop for running in self._tasks.values()), *self._guests):
            stop.interrupt()

    def _forget(self) -> None:
        old = self.clock() - KEEP_SECONDS
        gone = [id for id, one in self._by_id.items() if one.is_ended and one.ended_at < old]
        for id in gone:
            del self._by_id[id]

    async def wind_down(self, grace: float) -> None:
        """Start no more; wait for those in flight, and stop them when the time is over."""
        self.is_closing = True
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while self._tasks or self._guests:
                    self._one_less.clear()
                    await self._one_less.wait()
        for running in self._tasks.values():
            running.take(Notice("the server is shutting down; what came is kept", "warning"))
        self.hurry()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=10.0)
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


def _as_ended(event: Event, stop: Stop) -> Told:
    if isinstance(event, Finished) and event.outcome == "cancelled" and stop.is_interrupt:
        return Interrupted(replace(event, reason=INTERRUPTED))
    return event
