"""Server-sent events: an answer that lasts as long as its source, and never longer than its reader."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress

from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PING_SECONDS = 15.0
SEND_SECONDS = 30.0  # a reader who has vanished is noticed by this at the latest
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

    def __init__(
        self, events: AsyncGenerator[bytes, None], headers: Mapping[str, str] | None = None
    ) -> None:
        self.events = events
        self.status_code = 200
        self.background = None
        self.init_headers({"X-Accel-Buffering": "no", **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reading = asyncio.create_task(self._send_all(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({reading, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
        finally:
            for task in (reading, leaving):
                task.cancel()
            await asyncio.gather(reading, leaving, return_exceptions=True)
            await self.events.aclose()

    async def _send_all(self, send: Send) -> None:
        raw = [(name, value) for name, value in self.raw_headers if name != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        with suppress(OSError, TimeoutError):
            async for chunk in with_pings(self.events):
                body = {"type": "http.response.body", "body": chunk, "more_body": True}
                async with asyncio.timeout(SEND_SECONDS):
                    await send(body)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def with_pings(
    events: AsyncGenerator[bytes, None], every: float = PING_SECONDS
) -> AsyncGenerator[bytes, None]:
    """The same, with a ping after every so many seconds of silence."""
    following: asyncio.Task[bytes] | None = None
    try:
        while True:
            if following is None:
                following = asyncio.ensure_future(anext(events))
            await asyncio.wait({following}, timeout=every)
            if not following.done():
                yield PING
                continue
            try:
                chunk = following.result()
            except StopAsyncIteration:
                return
            following = None
            yield chunk
    finally:
        if following is not None:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


async def _left(receive: Receive) -> None:
    """Returns when the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
