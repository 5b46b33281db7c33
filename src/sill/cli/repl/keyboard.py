"""The keyboard while an answer comes: Ctrl-C stops it, and what is typed ahead waits for the next prompt."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Stop:
    """``asked`` is set by the first Ctrl-C; a second one wants to leave."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    leave: bool = False
    also: Callable[[], None] = lambda: None  # to be called by the first Ctrl-C

    def __call__(self) -> None:
        self.leave = self.asked.is_set()
        self.asked.set()
        self.also()


@asynccontextmanager
async def interruptible() -> AsyncIterator[Stop]:
    """Ctrl-C sets the stop instead of ending the program, and nothing typed shows in the answer."""
    stop = Stop()
    with interrupts(stop), unseen():
        yield stop


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C is somebody else's: of the editor that runs in the same terminal."""
    with interrupts(lambda: None):
        yield


_handlers: list[Callable[[], None]] = []


@contextmanager
def interrupts(handler: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C calls ``handler``, and afterwards whatever it called before."""
    loop = asyncio.get_running_loop()
    _handlers.append(handler)
    loop.add_signal_handler(signal.SIGINT, handler)
    try:
        yield
    finally:
        _handlers.remove(handler)
        if _handlers:
            loop.add_signal_handler(signal.SIGINT, _handlers[-1])
        else:
            loop.remove_signal_handler(signal.SIGINT)


async def unless(stop: Stop, work: Awaitable[T]) -> T | None:
    """What ``work`` gives, or None as soon as it is stopped; ``work`` goes on in the background then."""
    doing, stopped = asyncio.ensure_future(work), asyncio.ensure_future(stop.asked.wait())
    doing.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await asyncio.wait([doing, stopped], return_when=asyncio.FIRST_COMPLETED)
        return doing.result() if doing.done() else None
    finally:
        stopped.cancel()


@contextmanager
def unseen() -> Iterator[None]:
    """Typed characters are kept for whoever reads next, and not shown."""
    if not sys.stdin.isatty():
        yield
        return
    import termios

    before = termios.tcgetattr(sys.stdin)
    after = termios.tcgetattr(sys.stdin)
    after[3] &= ~(termios.ECHO | termios.ICANON)
    after[3] |= termios.NOFLSH  # Ctrl-C is no reason to forget what was typed
    termios.tcsetattr(sys.stdin, termios.TCSANOW, after)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(sys.stdin, termios.TCSANOW, before)
