"""Between the guard and the routes, where several people share a server: limits, and streams that end when
whoever reads them has been sent away.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..app.running import Turns
from ..core.access import Rate
from ..errors import StoreError
from ..ports import Accounts
from .answers import error_of_gateway, problem_response
from .identity import Identity, identity_in

log = logging.getLogger("sill.web")

LOOK_EVERY = 2.0  # seconds; who is sent away is gone after this and the time of one look
PLACE_LASTS_MS = 60_000
RENEW_EVERY = 20.0

# Every way to make a model speak; all of them are POSTs.
SPEAKS = re.compile(
    r"/v1/(?:chat/completions|embeddings)"
    r"|/api/v1/editor/(?:tools/[^/]+/chat|edit-ops|completions|edits)"
    r"|/api/v1/(?:turns|turns/[^/]+/(?:regenerate|edit)|proposals)"
)


_STOPS = re.compile(r"/api/v1/turns/([^/]{1,64})/stop")
STOP_EVERY = 0.5  # seconds between looks for turns that were stopped through another worker
STOP_LASTS_MS = 60_000


@dataclass(frozen=True, slots=True)
class PerUser:
    """What one user may have."""

    turns: Rate = field(default_factory=lambda: Rate(per_minute=20, burst=20))
    requests: Rate = field(default_factory=lambda: Rate(per_minute=600, burst=300))
    streams: int = 3


@dataclass(slots=True)
class Watched:
    """``still`` says whether an identity holds; ``sent_away`` is told of one that no longer does.

    ``open_turns`` is how many of an owner's turns are in flight, in this process or another.
    """

    app: ASGIApp
    accounts: Accounts
    still: Callable[[Identity], Awaitable[bool]]
    sent_away: Callable[[Identity], Awaitable[None]]
    open_turns: Callable[[str], Awaitable[int]]
    per_user: PerUser = field(default_factory=PerUser)
    look_every: float = LOOK_EVERY
    turns: Turns = field(default_factory=Turns)
    _stopping: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        identity = identity_in(scope) if scope["type"] == "http" else None
        if identity is None:
            await self.app(scope, receive, send)
            return
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop_elsewhere())
        if scope["method"] == "POST" and (stop := _STOPS.fullmatch(scope["path"])):
            # The turn may be in another worker's hands; the store tells it.
            what = _stop_of(identity.owner, stop[1])
            await self.accounts.enter(identity.owner, what, 1, STOP_LASTS_MS)
        wait = await self.accounts.take(identity.owner, "requests", self.per_user.requests)
        if wait:
            await _refuse("too many requests", wait, scope, receive, send)
            return
        if scope["method"] != "POST" or not SPEAKS.fullmatch(scope["path"]):
            await self._watch(identity, None, scope, receive, send)
            return
        wait = await self.accounts.take(identity.owner, "turns", self.per_user.turns)
        if wait:
            await _refuse("too many questions", wait, scope, receive, send)
            return
        most = self.per_user.streams
        is_full = await self.open_turns(identity.owner) >= most
        place = (
            None
            if is_full
            else await self.accounts.enter(identity.owner, "streams", most, PLACE_LASTS_MS)
        )
        if place is None:
            await _refuse("too many answers at once", 5_000, scope, receive, send)
            return
        try:
            await self._watch(identity, place, scope, receive, send)
        finally:
            await asyncio.shield(self.accounts.leave(place))

    async def _watch(
        self, identity: Identity, place: str | None, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """The route's own task, looked after until it ends."""
        has_started = False

        async def tracked(message: Message) -> None:
            nonlocal has_started
            has_started = has_started or message["type"] == "http.response.start"
            await send(message)

        task = asyncio.ensure_future(self.app(scope, receive, tracked))
        waited = 0.0
        try:
            while not (await asyncio.wait({task}, timeout=self.look_every))[0]:
                waited += self.look_every
                if place is not None and waited >= RENEW_EVERY:
                    waited = 0.0
                    await self.accounts.renew(place, PLACE_LASTS_MS)
                if not await self._holds(identity):
                    await _ended(task)
                    await self.sent_away(identity)
                    if has_started:
                        await send({"type": "http.response.body", "body": b""})
                    else:
                        await problem_response(401, "no_credentials", "you were logged out")(
                            scope, receive, send
                        )
                    return
            await task
        finally:
            await _ended(task)

    async def _stop_elsewhere(self) -> None:
        """Stop the turns of this worker whose owner said so to another one."""
        while True:
            await asyncio.sleep(STOP_EVERY)
            ids = {_stop_of(one.owner, id): one for one in self.turns.running for id in one.ids}
            if not ids:
                continue
            with suppress(StoreError):
                for what in await self.accounts.taken(list(ids)):
                    ids[what].stop.set()

    async def _holds(self, identity: Identity) -> bool:
        try:
            return await self.still(identity)
        except StoreError as error:
            # A database that is away for a moment is no reason to cut everybody off.
            log.warning("a look at the door failed: %s", type(error).__name__)
            return True


def _stop_of(owner: str, turn: str) -> str:
    """Nobody can stop what is not theirs, even if they know its name."""
    return f"stop:{owner}:{turn}"


async def _ended(task: "asyncio.Future[None]") -> None:
    if not task.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _refuse(what: str, wait_ms: int, scope: Scope, receive: Receive, send: Send) -> None:
    seconds = max(1, -(-wait_ms // 1000))
    hint = f"try again in {seconds} seconds"
    theirs = error_of_gateway(scope["path"], "rate_limit_exceeded", what, hint)
    answer = problem_response(429, "too_many", what, hint, retry_after=seconds, **theirs)
    await answer(scope, receive, send)
