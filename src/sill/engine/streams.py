"""A model's reply, as long as somebody wants it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from ..ports import Ended, ModelEvent, TextDelta

T = TypeVar("T")


class Stop(asyncio.Event):
    """Ends an answer. ``is_interrupt`` says that the program ends, and not that somebody wished so."""

    is_interrupt = False

    def interrupt(self) -> None:
        if not self.is_set():
            self.is_interrupt = True
            self.set()


def is_interrupt(stop: asyncio.Event | None) -> bool:
    return isinstance(stop, Stop) and stop.is_interrupt


@dataclass(frozen=True, slots=True)
class Whole:
    """Everything that came; ``ended`` is None if it was stopped before the end."""

    text: str
    ended: Ended | None


async def collect(stop: asyncio.Event | None, events: AsyncIterator[ModelEvent]) -> Whole:
    text, ended = "", None
    async with aclosing(until(stop, events)) as stream:
        async for event in stream:
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, Ended):
                ended = event
    return Whole(text, ended)


async def until(stop: asyncio.Event | None, events: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    """``events`` until they end, ``stop`` is set or the task is cancelled; then they are closed at once."""
    waiting = _Waiting()
    stopped = asyncio.ensure_future((stop or asyncio.Event()).wait())
    stopped.add_done_callback(waiting.cut)
    try:
        while stop is None or not stop.is_set():
            upcoming = await waiting.for_next(events)
            if upcoming is None:
                return
            yield upcoming
    finally:
        stopped.cancel()
        if (close := getattr(events, "aclose", None)) is not None:
            await close()


class _Waiting:
    """For the next of many events, without a task for each of them: whoever cuts it cancels the waiting one."""

    __slots__ = ("_is_cut", "_task")

    def __init__(self) -> None:
        self._task: asyncio.Task[object] | None = None
        self._is_cut = False

    def cut(self, _: object) -> None:
        if self._task is not None:
            self._is_cut = True
            self._task.cancel()

    async def for_next(self, events: AsyncIterator[T]) -> T | None:
        """The next one; None after the last one, and where the waiting was cut."""
        task = self._task = asyncio.current_task()
        assert task is not None
        try:
            return await anext(events, None)
        except asyncio.CancelledError:
            if not self._is_cut or task.cancelling() > 1:
                raise  # somebody wants the whole task to end
            return None
        finally:
            self._task = None
            if self._is_cut:
                task.uncancel()
