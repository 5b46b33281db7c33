"""Server-sent events: an answer that lasts as long as its source, and never longer than its reader."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

log = logging.getLogger("sill.web")
PING = b": ping\n\n"
_HANDED = "sill.streams"


def sse(name: str, body: BaseModel, id: str | None = None, *, without_none: bool = False) -> bytes:
    """One event; its data is one line of minified JSON."""
    head = f"id: {id}\nevent: {name}\n" if id is not None else f"event: {name}\n"
    try:
        data = body.model_dump_json(exclude_none=without_none)
    except (
        PydanticSerializationError
    ):  # half of a surrogate pair is no reason to end somebody's answer
        data = json.dumps(
            body.model_dump(mode="python", exclude_none=without_none),
            ensure_ascii=False,
            separators=(",", ":"),
        )
    return f"{head}data: {data}\n\n".encode(errors="replace")


class Events(Protocol):
    """An asynchronous generator of events, or whatever closes more than one."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class EventStream(Response):
    """Sends what ``events`` yields as it comes, with a comment where nothing comes for a while.

    When the reader goes, ``events`` is closed; whatever it reads from goes on. A thousand readers may wait at
    once, so each has one task beside its request's own, and keeps nothing of what it was sent.
    """

    media_type = "text/event-stream"
    ping_seconds = 15.0
    send_seconds = 30.0  # a reader who takes nothing for so long has vanished

    def __init__(self, events: "Events", headers: Mapping[str, str] | None = None) -> None:
        self.events = events
        self.status_code = 200
        self.background = None
        self.init_headers({"X-Accel-Buffering": "no", **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        handed: list[EventStream] | None = scope.get(_HANDED)
        if handed is None:
            await self.stream(receive, send)
        else:
            handed.append(self)

    async def stream(self, receive: Receive, send: Send) -> None:
        """Until the events end or the reader goes."""
        leaving = asyncio.ensure_future(_left(receive))
        try:
            with suppress(OSError):
                await self._while_read(_Line(send), leaving)
        finally:
            leaving.cancel()
            await self.events.aclose()

    async def _while_read(self, line: "_Line", leaving: "asyncio.Future[None]") -> None:
        """Send everything, unless the reader goes first or takes nothing any more."""
        raw = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        try:
            async with asyncio.timeout(None) as cut:
                line.hold(cut, self.ping_seconds, self.send_seconds)
                leaving.add_done_callback(line.cut_off)
                await line.send({"type": "http.response.start", "status": 200, "headers": raw})
                async for chunk in self.events:
                    await line.write(chunk)
                    del chunk
                await line.send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            if not cut.expired():
                raise
        finally:
            line.let_go()


class Streams:
    """An application whose streams begin when it has returned: what its routing held is free by then."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        before, handed = frozenset(scope), list[EventStream]()
        scope[_HANDED] = handed
        await self.app(scope, receive, send)
        if handed:
            for key in scope.keys() - before:
                del scope[key]
            del before
            try:
                await handed[0].stream(receive, send)
            except Exception as error:
                # The connection is closed without an end, so that the reader comes back for the rest.
                log.error("a stream broke: %s", type(error).__name__, exc_info=error)


class _Line:
    """The connection to one reader. Knows when something was last sent, and whether it still is."""

    __slots__ = ("_cut", "_patience", "_ping", "_pinging", "_sent_at", "_timer", "_writing", "send")

    def __init__(self, send: Send) -> None:
        self.send = send
        self._writing = False
        self._sent_at = 0.0
        self._cut: asyncio.Timeout | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pinging: asyncio.Future[None] | None = None

    async def write(self, chunk: bytes) -> None:
        self._sent_at, self._writing = asyncio.get_running_loop().time(), True
        await self.send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._writing = False

    def hold(self, cut: asyncio.Timeout, ping: float, patience: float) -> None:
        """Ping whenever nothing was sent for ``ping`` seconds; ``cut`` a reader who takes nothing for ``patience``."""
        self._cut, self._ping, self._patience = cut, ping, patience
        self._sent_at = asyncio.get_running_loop().time()
        self._look()

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        due = self._patience if self._writing else self._ping
        if loop.time() - self._sent_at >= due:
            if self._writing:
                self.cut_off()
                return
            self._sent_at, due = loop.time(), self._ping
            self._pinging = asyncio.ensure_future(self._send_ping())
        self._timer = loop.call_at(self._sent_at + due, self._look)

    async def _send_ping(self) -> None:
        with suppress(OSError):
            await self.write(PING)

    def cut_off(self, left: "asyncio.Future[None] | None" = None) -> None:
        if left is not None and not left.cancelled():
            left.exception()  # whatever ended the connection, it has ended
        if self._cut is not None:
            self._cut.reschedule(asyncio.get_running_loop().time())
            self._cut = None

    def let_go(self) -> None:
        self._cut = None
        for one in (self._timer, self._pinging):
            if one is not None:
                one.cancel()


async def _left(receive: Receive) -> None:
    """Returns when the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def while_connected(request: Request, stop: asyncio.Event) -> AsyncIterator[None]:
    """Within it, ``stop`` is set when the caller hangs up."""
    watching = asyncio.ensure_future(_left(request.receive))
    watching.add_done_callback(lambda done: None if done.cancelled() else stop.set())
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
