"""The store: every call one transaction, on either database."""

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from ...core.certificate import Certificate
from ...errors import Fenced, StoreError
from ...ports import Closing, History, Opening, SoFar, StoredTurn
from ...records import Recorded
from . import chats, codec, drafts, leases, loose, reading, recordings, turns, words
from .database import Database, Transaction
from .drafts import Recent, remember
from .leases import Held, LeaseTimes
from .loose import Last, Loose
from .shelf import Shelf, new_id

# Sizes, counts, ids and outcomes; never a text.
log = logging.getLogger("sill.store")

T = TypeVar("T")

FLUSH_CHARACTERS = 256
FLUSH_SECONDS = 0.75


@dataclass(slots=True)
class _Open:
    """An open turn of this store, and how much of its answer is kept."""

    chat: str
    held: Held
    partial: str = ""
    kept: str = ""
    kept_at: float = 0.0
    timer: asyncio.Task[None] | None = None
    # What could not be written yet.
    end: Callable[[Transaction], Awaitable[Mapping[bytes, int] | None]] | None = None

    def hush(self) -> None:
        """Nothing of the answer so far is to be kept as its part."""
        self.partial = self.kept = ""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class DatabaseStore(Shelf):
    """One owner's chats. Made by ``open_store``; belongs to the event loop that first used it."""

    def __init__(self, database: Database, times: LeaseTimes | None = None) -> None:
        super().__init__(database, times)
        self._open: dict[str, _Open] = {}
        self._recent: OrderedDict[str, Recent] = OrderedDict()
        self._last: OrderedDict[str, Last] = OrderedDict()
        self._heart: asyncio.TimerHandle | None = None
        self._beating: asyncio.Task[None] | None = None
        self._finished = 0

    async def history(self, chat: str) -> History:
        async def script(transaction: Transaction) -> History:
            return await reading.history(transaction, await chats.key_of(transaction, chat))

        return await self._database.read(script)

    async def history_at(self, turn: str) -> History:
        return await self._database.read(lambda t: reading.history_at(t, turn))

    async def turn(self, turn: str) -> StoredTurn | None:
        return await self._database.read(lambda t: reading.turn(t, turn))

    async def turn_ids(self, beginning: str) -> list[str]:
        return await self._database.read(lambda t: reading.ids(t, beginning))

    async def turns(self, chat: str, limit: int | None = None) -> list[StoredTurn]:
        async def script(transaction: Transaction) -> list[StoredTurn]:
            key = await chats.key_of(transaction, chat)
            return await reading.turns(transaction, key, limit)

        return await self._database.read(script)

    async def requests(self, turn: str) -> list[Recorded]:
        return await self._database.read(lambda t: reading.requests(t, turn))

    async def partial(self, turn: str) -> str:
        return await self._database.read(lambda t: reading.partial(t, turn))

    async def keep(self, turn: str) -> bool:
        return await self._database.write(lambda t: turns.keep(t, turn, self._holder, self._times))

    # --- One turn --------------------------------------------------------------------------------

    async def begin(self, chat: str, opening: Opening) -> str:
        await self._finish_late(chat)
        turn = new_id()
        held = await self._begin(chat, turn, opening.begun_by(turn))
        self._open[turn] = _Open(chat, held, kept_at=time.monotonic())
        if self._heart is None:
            self._beat_later()
        log.debug(
            "begun turn=%s messages=%d request_bytes=%d fence=%d",
            turn,
            len(opening.messages),
            len(opening.request),
            held.fence,
        )
        return turn

    async def _begin(self, chat: str, turn: str, opening: Opening) -> Held:
        place = self._database.loose
        if place is not None:
            now = time.time_ns() // 1_000_000
            new = loose.New(chat, turn, opening, self._holder, self._times, now)
            return await self._begin_loosely(place, new)
        draft = drafts.draft(turn, opening, await self._recall(chat))
        writing = self._database.start(
            lambda t: turns.begin(t, chat, draft, self._holder, self._times), short=True
        )
        try:
            held, recent = await self._begun(writing)
        except turns.Outdated:
            del self._recent[chat]
            return await self._begin(chat, turn, opening)
        remember(self._recent, chat, recent)
        return held

    async def _begin_loosely(self, place: Loose, new: loose.New) -> Held:
        last = self._last.get(new.chat)
        begun = None
        if last is not None and new.opening.instead_of is None:
            with contextlib.suppress(turns.Outdated):
                begun = await self._begun(
                    self._database.start(
                        lambda t: loose.begin_next(t, new, last), short=True, loosely=True
                    )
                )
        if begun is None:
            begun = await self._begun(
                self._database.start(lambda t: loose.begin(t, new, last), short=True)
            )
        held, left = begun
        place.begun(new.turn)
        remember(self._last, new.chat, left)
        return held

    async def _begun(self, writing: "asyncio.Future[tuple[Held, T]]") -> tuple[Held, T]:
        if writing.done():
            return writing.result()
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            await self._give_up(writing)
            raise

    async def _give_up(self, writing: "asyncio.Future[tuple[Held, T]]") -> None:
        """Nobody will ever hear of the turn: it must not stay open."""
        with contextlib.suppress(Exception):
            held, _ = await writing
            closing = Closing("cancelled", (), "stopped before the model was called")
            if self._database.loose is not None:
                await self._database.write(lambda t: loose.finish(t, held, closing))
            else:
                await self._database.write(lambda t: turns.finish(t, held, closing, {}))

    async def checkpoint(self, turn: str, partial: str) -> None:
        """May be called with every piece: written when 256 characters or 0.75 s have come together."""
        state = self._held(turn)
        state.partial = partial
        waited = time.monotonic() - state.kept_at
        grown = len(partial) - len(state.kept)
        is_new = not partial.startswith(state.kept)
        if is_new or grown >= FLUSH_CHARACTERS or waited >= FLUSH_SECONDS:
            await self._flush(state)
        elif state.timer is None:
            state.timer = asyncio.ensure_future(self._flush_later(state, FLUSH_SECONDS - waited))

    async def _flush_later(self, state: _Open, seconds: float) -> None:
        await asyncio.sleep(seconds)
        state.timer = None
        # A failed checkpoint costs nothing yet; the next write of the turn says what is wrong.
        with contextlib.suppress(Exception):
            await self._flush(state)

    async def _flush(self, state: _Open) -> None:
        partial, kept = state.partial, state.kept
        start = len(kept) if partial.startswith(kept) else 0
        if partial[start:] or not start:
            state.kept, state.kept_at = partial, time.monotonic()
            state.held = replace(state.held, has_partials=True)
            await self._database.write(
                lambda t: turns.append_partial(t, state.held, start, partial[start:]),
                lasting=False,
                short=True,
            )

    async def record_request(
        self, turn: str, certificate: Certificate, request: bytes, so_far: SoFar | None = None
    ) -> None:
        state = self._held(turn)
        so_far = so_far or SoFar(state.held.rounds)
        held = state.held
        if so_far.rounds != held.rounds:
            # What was said so far stands in the rounds; no late checkpoint may say it again.
            state.hush()
        await self._record(state.chat, held, loose.Sent(certificate, request, so_far))
        state.held = replace(state.held, rounds=so_far.rounds)

    async def _record(self, chat: str, held: Held, sent: loose.Sent) -> None:
        place = self._database.loose
        if place is not None:
            number = await self._database.write(
                lambda t: place.record_request(t, held, sent), lasting=False, short=True
            )
            if (last := self._last.get(chat)) is not None:
                self._last[chat] = replace(last, number=number, body=sent.request)
            return
        recent = await self._recall(chat)
        further = drafts.further(sent.certificate, sent.request, recent, sent.so_far)
        recent = await self._database.write(
            lambda t: turns.record_request(t, held, further), lasting=False, short=True
        )
        remember(self._recent, chat, recent)

    async def finish(self, turn: str, closing: Closing) -> None:
        """Should the disk be full, the answer is kept in memory and written before the chat's next turn."""
        state = self._held(turn)
        if self._database.loose is not None:
            state.end = lambda t: loose.finish(t, state.held, closing)
        else:
            known = turns.common(state.held.rounds, closing.messages)
            texts = drafts.closing_texts(closing, known)
            state.end = lambda t: turns.finish(t, state.held, closing, texts)
        last = self._last.pop(state.chat, None)
        await self._end(turn, state, loosely=True)
        if last is not None and last.fence == state.held.fence:
            remember(self._last, state.chat, last)
        self._finished += 1
        if self._finished % words.MOST_WAITING == 0:
            # Nobody waits for it, and the next search does it as well.
            indexing = self._database.start(words.catch_up, lasting=False)
            indexing.add_done_callback(lambda done: done.cancelled() or done.exception())
        log.debug(
            "finished turn=%s status=%s messages=%d", turn, closing.status, len(closing.messages)
        )

    async def discard(self, turn: str) -> None:
        state = self._held(turn)
        place = self._database.loose
        discard = turns.discard if place is None else place.discard
        state.end = lambda t: discard(t, state.held)
        # The next request must not be kept against one that is gone.
        self._recent.pop(state.chat, None)
        self._last.pop(state.chat, None)
        await self._end(turn, state)
        log.debug("discarded turn=%s", turn)

    async def _end(self, turn: str, state: _Open, *, loosely: bool = False) -> None:
        end = state.end
        assert end is not None
        state.hush()
        try:
            keys = await self._database.write(end, lasting=False, short=True, loosely=loosely)
        except Fenced:
            log.warning("fenced out turn=%s fence=%d", turn, state.held.fence)
            self._let_go(turn)
            raise
        self._let_go(turn)
        # The next request will hold what was just said: no need to look that up.
        if keys and (recent := self._recent.get(state.chat)) is not None:
            said = tuple(map(codec.as_text, keys))
            self._recent[state.chat] = replace(recent, keys={**recent.keys, **keys}, said=said)

    async def _finish_late(self, chat: str | None = None) -> None:
        """Write the ends of turns that could not be written when they came."""
        for turn, state in list(self._open.items()):
            if state.end is not None and chat in (None, state.chat):
                with contextlib.suppress(Fenced):
                    await self._end(turn, state)

    def _held(self, turn: str) -> _Open:
        state = self._open.get(turn)
        if state is None:
            raise Fenced("this turn is not open here", hint="ask again")
        return state

    def _let_go(self, turn: str) -> None:
        self._open.pop(turn, None)
        if self._database.loose is not None:
            self._database.loose.ended(turn)

    def _beat_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._heart = loop.call_later(self._times.beats, self._start_beat)

    def _start_beat(self) -> None:
        # The next turn sets it going again.
        self._heart = None
        if self._open:
            self._beating = asyncio.ensure_future(self._beat())

    async def _beat(self) -> None:
        """Say that the open turns are alive, again and again for as long as there are any."""
        for state in list(self._open.values()):
            # A beat that fails is only late; the writes of the turn carry the fence anyway.
            with contextlib.suppress(Exception):
                await self._renew(state.held)
        if self._open and self._heart is None:
            self._beat_later()

    async def _renew(self, held: Held) -> None:
        await self._database.write(
            lambda t: leases.renew(t, held, self._times), lasting=False, loosely=True
        )

    async def _recall(self, chat: str) -> Recent:
        if chat not in self._recent:

            async def script(transaction: Transaction) -> Recent:
                return await recordings.recent(transaction, await chats.key_of(transaction, chat))

            remember(self._recent, chat, await self._database.read(script))
        return self._recent[chat]

    def as_owner(self, owner: str) -> "DatabaseStore":
        """Somebody else's chats in the same database; closing this one closes both."""
        return DatabaseStore(self._database.as_owner(owner), self._times)

    async def close_abandoned(self) -> int:
        """Close the turns that dead processes left open; how many there were."""
        if not await self._database.read(turns.abandoned):
            return 0
        closed = await self._database.write(turns.interrupt_abandoned)
        log.info("interrupted turns=%d", closed)
        return closed

    async def close(self) -> None:
        """Open turns stay open until somebody finds their holder gone."""
        with contextlib.suppress(StoreError):
            await self._finish_late()
        if self._heart is not None:
            self._heart.cancel()
        waiting = [state.timer for state in self._open.values()] + [self._beating]
        tasks = [task for task in waiting if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._heart = None
        self._open.clear()
        await self._database.close()
