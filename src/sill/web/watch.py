"""Between the guard and the routes, where several people share a server: limits, and streams that end when
whoever reads them has been sent away.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..app.running import Running, Turns, begun_here
from ..core.access import Rate
from ..errors import StoreError
from ..ports import Accounts
from .answers import error_of_gateway, problem_response
from .identity import Identity, identity_in

log = logging.getLogger("sill.web")

LOOK_EVERY = 2.0  # seconds; who is sent away is gone after this and the time of one look
PLACE_LASTS_MS = 60_000
RENEW_EVERY = 20.0
MOMENT = 0.1

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
    """``still`` says whether an identity holds, ``may_ask`` whether an owner may have answers written.

    A place among an owner's answers is held from the question to the end of the answer, which may outlive the
    request that asked for it.
    """

    app: ASGIApp
    accounts: Accounts
    still: Callable[[Identity], Awaitable[bool]]
    may_ask: Callable[[str], Awaitable[bool]]
    per_user: PerUser = field(default_factory=PerUser)
    look_every: float = LOOK_EVERY
    turns: Turns = field(default_factory=Turns)
    _open: dict[Identity, set[asyncio.Timeout]] = field(default_factory=dict)  # being answered
    _places: set[str] = field(default_factory=set)
    _tasks: set[asyncio.Future[None]] = field(default_factory=set)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        identity = identity_in(scope) if scope["type"] == "http" else None
        if identity is None:
            await self.app(scope, receive, send)
            return
        if not self._tasks:
            self._go(self._every(self.look_every, self._cut_sent_away))
            self._go(self._every(RENEW_EVERY, self._renew_places))
            self._go(self._every(STOP_EVERY, self._stop_elsewhere))
        if scope["method"] == "POST" and (stop := _STOPS.fullmatch(scope["path"])):
            # The turn may be in another worker's hands; the store tells it.
            what = _stop_of(identity.owner, stop[1])
            await self.accounts.enter(identity.owner, what, 1, STOP_LASTS_MS)
        wait = await self.accounts.take(identity.owner, "requests", self.per_user.requests)
        if wait:
            await _refuse("too many requests", wait, scope, receive, send)
        elif scope["method"] == "POST" and SPEAKS.fullmatch(scope["path"]):
            await self._answer(identity, scope, receive, send)
        else:
            await self._watch(identity, scope, receive, send)

    async def _answer(self, identity: Identity, scope: Scope, receive: Receive, send: Send) -> None:
        """A request that makes a model speak: it needs a place among the owner's answers."""
        wait = await self.accounts.take(identity.owner, "turns", self.per_user.turns)
        if wait:
            await _refuse("too many questions", wait, scope, receive, send)
            return
        place = await self._place(identity.owner)
        if place is None:
            await _refuse("too many answers at once", 5_000, scope, receive, send)
            return
        self._places.add(place)
        begun: list[Running] = []
        begun_here.set(begun)
        try:
            await self._watch(identity, scope, receive, send)
        finally:
            running = next((one for one in begun if not one.is_over), None)
            if running is None:
                await asyncio.shield(self._leave(place))
            else:
                running.when_over(lambda: self._go(self._leave(place)))

    async def _place(self, owner: str) -> str | None:
        most = self.per_user.streams
        place = await self.accounts.enter(owner, "streams", most, PLACE_LASTS_MS)
        if place is None:
            # Whoever read the end of an answer a moment ago may be quicker than its place is free.
            await asyncio.sleep(MOMENT)
            place = await self.accounts.enter(owner, "streams", most, PLACE_LASTS_MS)
        return place

    async def _leave(self, place: str) -> None:
        self._places.discard(place)
        with suppress(StoreError):  # it ends by itself, if later
            await self.accounts.leave(place)

    async def _watch(self, identity: Identity, scope: Scope, receive: Receive, send: Send) -> None:
        """The route, until it ends or whoever asked is sent away."""
        has_started = False

        async def tracked(message: Message) -> None:
            nonlocal has_started
            has_started = has_started or message["type"] == "http.response.start"
            await send(message)

        try:
            async with asyncio.timeout(None) as cut:
                self._open.setdefault(identity, set()).add(cut)
                await self.app(scope, receive, tracked)
        except TimeoutError:
            if not cut.expired():
                raise
            if has_started:
                await send({"type": "http.response.body", "body": b""})
            else:
                answer = problem_response(401, "no_credentials", "you were logged out")
                await answer(scope, receive, send)
        finally:
            if (mine := self._open.get(identity)) is not None:
                mine.discard(cut)
                if not mine:
                    del self._open[identity]

    # --- Behind the requests ----------------------------------------------------------------------

    def _go(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _every(self, seconds: float, look: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await look()
            except Exception as error:  # the next look may succeed
                log.warning("a look at the door failed: %s", type(error).__name__)

    async def _cut_sent_away(self) -> None:
        """Cut the requests of everybody who was sent away, and end answers that nobody may ask for any more.

        One look for each of them, however many requests they have.
        """
        for identity in list(self._open):
            if not await self._holds(identity):
                for cut in self._open.pop(identity, set()):
                    cut.reschedule(asyncio.get_running_loop().time())
        for owner in {one.owner for one in self.turns.running}:
            if not await self.may_ask(owner):
                self.turns.stop_all(owner)

    async def _renew_places(self) -> None:
        for place in list(self._places):
            await self.accounts.renew(place, PLACE_LASTS_MS)

    async def _stop_elsewhere(self) -> None:
        """Stop the turns of this worker whose owner said so to another one."""
        ids = {_stop_of(one.owner, id): one for one in self.turns.running for id in one.ids}
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


async def _refuse(what: str, wait_ms: int, scope: Scope, receive: Receive, send: Send) -> None:
    seconds = max(1, -(-wait_ms // 1000))
    hint = f"try again in {seconds} seconds"
    theirs = error_of_gateway(scope["path"], "rate_limit_exceeded", what, hint)
    answer = problem_response(429, "too_many", what, hint, retry_after=seconds, **theirs)
    await answer(scope, receive, send)
