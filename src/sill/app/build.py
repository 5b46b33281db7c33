"""An open workspace: everything a chat over a folder needs, made from settings and closed again."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..adapters.store import open_store
from ..core.certificate import Tokenizer
from ..core.drift import Drift
from ..core.request import ChatRequest
from ..engine.chat import Chat
from ..engine.drift import drift_of
from ..engine.events import Event, Finished, Refused
from ..engine.failover import Failover
from ..engine.money import Purse
from ..engine.prepare import Prepared, Question
from ..paths import data_dir
from ..ports import Model, Store, TokenCounter
from ..records import Attempt
from ..settings import Settings
from .connect import Connection, Progress
from .gather import Gathered, gather
from .notes import Habits, habits_of, notebook_of
from .pins import with_pinned
from .seat import Seat, Seats, limits, shown_price
from .titles import TitleBy, name_chat, title_by
from .tools import tools_of

CUT = ("partial", "cancelled")
DAY = 86_400


@dataclass(slots=True)
class App:
    """Ask it things; ``open_app`` closes it."""

    folder: Path
    database: str
    store: Store
    failover: Failover
    seats: Sequence[Seat]  # one for each of the failover's places
    max_file_bytes: int
    titles: TitleBy = "extract"
    habits: Habits | None = None  # without it, no document is remembered by itself
    _stop: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def chat(self) -> Chat:
        """With the model that answered last."""
        return self.failover.chat

    @property
    def connection(self) -> Connection:
        """To the model that answered last, with the window as it is known by now."""
        there = self.seats[self.failover.current].connection
        assert there is not None
        if self.chat.call.window < there.window:
            source = f"learned from a refusal; {there.window_source} said {there.window:,}"
            return replace(there, window=self.chat.call.window, window_source=source)
        return there

    @property
    def counting(self) -> str:
        """Why tokens are counted the way they are."""
        return self.seats[self.failover.current].counting

    @property
    def fallbacks(self) -> list[tuple[str, str]]:
        """Who else may be asked, and why not where it may not."""
        return [(place.name, place.barred) for place in self.failover.places[1:]]

    @property
    def price(self) -> str:
        return shown_price(self.chat.till.price if self.chat.till else None)

    @property
    def model_name(self) -> str:
        return self.connection.model

    @property
    def endpoint(self) -> str:
        return self.connection.base_url

    @property
    def tokenizer(self) -> Tokenizer:
        return self.chat.counter.tokenizer

    @property
    def description(self) -> str:
        there = self.connection
        window = f"window {there.window:,} tokens"
        return f"{there.model} ({there.shown_at}), {window}, counts: {self.tokenizer.kind}"

    async def ask(
        self, chat: str | None, question: Question, stop: asyncio.Event | None = None
    ) -> AsyncGenerator[Event, None]:
        """One turn of ``chat``, or of a new one, as it happens.

        What a person has seen stays part of the chat: a cut answer is kept for the next turn. Several
        turns at once have a ``stop`` each; without one, ``App.stop`` ends it.
        """
        if stop is None:
            stop = self._stop
            stop.clear()
        question = await self._with_pinned(chat, question)
        async with aclosing(self.failover.ask(chat, question, stop)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    await self._settle(event, question)
                    waits = self.titles == "model" and event.outcome == "complete"
                    if chat is None and not waits and self.titles != "off":
                        await name_chat(self, event.chat)
                yield event
                if isinstance(event, Finished) and chat is None and waits:
                    await name_chat(self, event.chat, "model")  # nobody waits for it
                if isinstance(event, Finished) and self.habits is not None:
                    await self.habits.learn(event)

    async def _settle(self, finished: Finished, question: Question) -> None:
        is_cut = finished.outcome in CUT and finished.text
        if is_cut and not await self.store.keep(finished.turn) and question.instead_of is not None:
            # A turn beside another is not the chat's last: the chat goes there.
            await self.store.branch(finished.chat, finished.turn)

    async def plan(self, chat: str | None, question: Question) -> Prepared | Refused:
        """What asking this would send to the model that answered last; nothing is sent or written."""
        return await self.chat.plan(chat, await self._with_pinned(chat, question))

    async def _with_pinned(self, chat: str | None, question: Question) -> Question:
        return await with_pinned(self.store, chat, question, self.folder, self.max_file_bytes)

    async def gather(self, text: str, names: Sequence[str]) -> Gathered:
        """The question with the files it is about, each as it is on disk now.

        Notes that ``text`` links to come first, then ``names`` in their order.
        """
        return await asyncio.to_thread(gather, self.folder, text, names, self.max_file_bytes)

    def stop(self) -> None:
        """End the answer that is being streamed and keep what came."""
        self._stop.set()

    async def latest_chat(self) -> str | None:
        return await self.store.latest_chat(str(self.folder))

    async def booked(self, request: ChatRequest, category: str, chat: str = "") -> Model:
        """The model for one more call, kept in the ledger; ``LimitReached`` where it could cost too much."""
        return await booked_by(self.chat, request, category, chat)

    async def drift(self) -> Drift:
        """How well prompts were counted for the model that answered last."""
        model = self.chat.model
        return await drift_of(self.store, model.endpoint, model.name, self.tokenizer.id)


async def booked_by(asked: Chat, request: ChatRequest, category: str, chat: str = "") -> Model:
    """The model of ``asked`` for one call that is kept in the ledger."""
    if asked.till is None:
        return asked.model
    counted = (await asked.counter.count_request(request)).tokens[0]
    attempt = Attempt(
        category,
        asked.model.name,
        asked.model.endpoint,
        chat,
        predicted=counted,
        tokenizer=asked.counter.tokenizer.id,
        ratio=asked.call.ratio,
    )
    return await asked.till.payable(request, attempt, asked.call.shortfall)


@asynccontextmanager
async def open_storage(settings: Settings) -> AsyncIterator[Store]:
    """The store alone, for commands that need no model; chats that have expired are not in it."""
    store = await open_store(database_place(settings))
    try:
        if (days := settings.get("chat_ttl_days", float)) is not None:
            await store.prune(round((time.time() - days * DAY) * 1000))
        yield store
    finally:
        await store.close()


def database_place(settings: Settings) -> str:
    return settings.get("database", str) or str(data_dir() / "sill.db")


@asynccontextmanager
async def open_app(
    settings: Settings,
    folder: Path,
    progress: Progress,
    profile: str = "chat",
    counter: TokenCounter | None = None,
) -> AsyncIterator[App]:
    """The application for ``folder``; whatever had to be started for it ends with it.

    ``counter`` counts instead of the one that would be chosen for the model.
    """
    async with (
        open_storage(settings) as store,
        open_over(store, Ground(settings, folder, progress, counter), profile) as app,
    ):
        yield app


@dataclass(frozen=True, slots=True)
class Ground:
    """What an application stands on, beside its store."""

    settings: Settings
    folder: Path
    progress: Progress
    counter: TokenCounter | None = None


@asynccontextmanager
async def open_over(store: Store, ground: Ground, profile: str = "chat") -> AsyncIterator[App]:
    """The application over a store that others use too and that stays open after it."""
    settings, folder, progress = ground.settings, ground.folder, ground.progress
    async with AsyncExitStack() as stack:
        purse = Purse(store, limits(settings))
        seats = Seats(settings, profile, store, stack, progress, str(folder), purse, ground.counter)
        seats.tools = tools_of(settings, store, folder, stack)
        seats.notebook = notebook_of(settings, store, folder) if profile == "chat" else None
        failover = Failover(seats.arrange())
        await failover.open(lambda text: progress(f"sill: {text}"))
        yield App(
            folder=folder,
            database=shown_database(database_place(settings)),
            store=store,
            failover=failover,
            seats=seats.all,
            max_file_bytes=settings.get("max_file_bytes", int) or 0,
            titles=title_by(settings.get("titles", str)),
            habits=habits_of(settings, store, folder) if profile == "chat" else None,
        )


def shown_database(place: str) -> str:
    """Where chats are kept, without the password a URL may hold."""
    if "://" not in place:
        return place
    from urllib.parse import urlsplit

    parts = urlsplit(place)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
