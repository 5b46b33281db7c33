"""An event loop of its own in a thread, so that plain code can use the engine, also inside a notebook."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import aclosing, suppress
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Loop:
    """Runs coroutines from any thread until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sill", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of ``work``. An interrupt of the caller cancels it and waits until it has ended."""
        task = self._begin(work)
        try:
            return task.result()
        except BaseException:
            task.end()
            raise

    def iterate(self, events: AsyncGenerator[T, None]) -> Iterator[T]:
        """The items of ``events`` as they come; leaving the loop early closes it and waits for that."""
        came: SimpleQueue[T | _End] = SimpleQueue()

        async def pump() -> None:
            try:
                async with aclosing(events):
                    async for event in events:
                        came.put(event)
            finally:
                came.put(_END)

        task = self._begin(pump())
        try:
            while not isinstance(event := came.get(), _End):
                yield event
            task.result()
        finally:
            task.end()

    def _begin(self, work: Coroutine[Any, Any, T]) -> "_Task[T]":
        return _Task(work, self._loop)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _End:
    """Nothing comes any more."""


_END = _End()


class _Task(Generic[T]):
    """Work in the loop's thread that can be ended from here."""

    def __init__(self, work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self._ended = threading.Event()
        self._future = asyncio.run_coroutine_threadsafe(self._noted(work), loop)

    async def _noted(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        finally:
            self._ended.set()

    def result(self) -> T:
        return self._future.result()

    def end(self) -> None:
        if self._future.cancel() or not self._ended.is_set():
            # A turn that is cancelled still writes down how far it came.
            with suppress(Exception):
                self._ended.wait()
