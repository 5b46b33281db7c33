"""A model's reply, as long as somebody wants it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

from ..ports import Ended, ModelEvent, TextDelta


class Stop(asyncio.Event):
    """Ends an answer. ``is_interrupt`` says that the program ends, and not that somebody wished so."""

    is_interrupt = False

    def interrupt(self) -> None:
        if not self.is_set():
            self.is_interrupt = True
            self.set()


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


async def until(
    stop: asyncio.Event | None, events: AsyncIterator[ModelEvent]
) -> AsyncGenerator[ModelEvent, None]:
    """``events`` until they end, ``stop`` is set or the task is cancelled; then they are closed at once."""
    stopped = asyncio.ensure_future((stop or asyncio.Event()).wait())
    following: asyncio.Future[ModelEvent | None] | None = None
    try:
        while True:
            following = asyncio.ensure_future(anext(events, None))
            await asyncio.wait({following, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if stopped.done() and not following.done():
                return
            upcoming = await following
            if upcoming is None:
                return
            yield upcoming
    finally:
        stopped.cancel()
        if following is not None and not following.done():
            # A generator that still runs cannot be closed: it has to be interrupted first.
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        if (close := getattr(events, "aclose", None)) is not None:
            await close()
