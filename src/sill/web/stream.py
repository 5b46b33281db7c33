"""Server-sent events: an answer that lasts as long as its source, and never longer than its reader."""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress

from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PING = b": ping\n\n"


def sse(name: str, body: BaseModel, id: str | None = None, *, without_none: bool = False) -> bytes:
    """One event; its data is one line of minified JSON."""
    head = f"id: {id}\nevent: {name}\n" if id is not None else f"event: {name}\n"
    return f"{head}data: {body.model_dump_json(exclude_none=without_none)}\n\n".encode()


class EventStream(Response):
    """Sends what ``events`` yields as it comes, with a comment where nothing comes for a while.

    When the reader goes, ``events`` is closed; whatever it reads from goes on.
    """

    media_type = "text/event-stream"
    ping_seconds = 15.0
    send_seconds = 30.0  # a reader who takes nothing for so long has vanished

    def __init__(
        self, events: AsyncGenerator[bytes, None], headers: Mapping[str, str] | None = None
    ) -> None:
        self.events = events
        self.status_code = 200
        self.background = None
        self.init_headers({"X-Accel-Buffering": "no", **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        line = _Line(send)
        tasks = {
            asyncio.create_task(self._send_all(line)),
            asyncio.create_task(line.keep_open(self.ping_seconds, self.send_seconds)),
            asyncio.create_task(_left(receive)),
        }
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                with suppress(OSError):
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.events.aclose()

    async def _send_all(self, line: "_Line") -> None:
        raw = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        await line.send({"type": "http.response.start", "status": 200, "headers": raw})
        async for chunk in self.events:
            await line.write(chunk)
        await line.send({"type": "http.response.body", "body": b"", "more_body": False})


class _Line:
    """The connection to one reader. Knows when something was last sent, and whether it still is."""

    __slots__ = ("_sent_at", "_writing", "send")

    def __init__(self, send: Send) -> None:
        self.send = send
        self._sent_at = time.monotonic()
        self._writing = False

    async def write(self, chunk: bytes) -> None:
        self._sent_at, self._writing = time.monotonic(), True
        await self.send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._writing = False

    async def keep_open(self, ping: float, patience: float) -> None:
        """Pings a line that is silent for ``ping`` seconds; returns when the reader takes nothing any more."""
        while True:
            silent = time.monotonic() - self._sent_at
            due = patience if self._writing else ping
            if silent < due:
                await asyncio.sleep(due - silent)
            elif self._writing:
                return
            else:
                await self.write(PING)


async def _left(receive: Receive) -> None:
    """Returns when the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
