"""One folder served to many: its vault, and for each owner the chats, the models and the edits."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..adapters.store import DatabaseStore
from ..adapters.vault.index import DiskVault
from ..engine.editing import Editing
from ..engine.writing import Writing
from ..errors import ProviderError, SillError, StoreError
from ..ports import Store
from ..settings import Settings, Value
from .build import App, Ground, open_over, open_storage
from .complete import TextProfile, open_writer
from .edits import Edits, editor_for, open_edits
from .running import ShuttingDown, Turns
from .vault import vault_of

LOCAL_OWNER = "local"
EDITOR = "editor"
SWEEP_SECONDS = 5.0
log = logging.getLogger("sill.service")


def without_tools(settings: Settings) -> Settings:
    never = Value("false", "flag", "of the editor API")
    return replace(
        settings,
        values={
            **settings.values,
            "tools": never,
            "profile.chat.tools": never,
            "memory": Value(False, "flag", "of the editor API"),
        },
    )


@dataclass(slots=True)
class Lazy:
    """An application that is opened when it is first needed, in a task of its own, and closed there.

    One that cannot be opened is tried again with the next question.
    """

    opening: Callable[[], AbstractAsyncContextManager[App]]
    app: App | None = None
    error: SillError | None = None
    _task: asyncio.Task[None] | None = None
    _failed_at: float = 0.0
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    _closing: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def state(self) -> Literal["starting", "ready", "failed"]:
        if self.app is not None:
            return "ready"
        return "starting" if self.error is None else "failed"

    def start(self, again_after: float = 0.0) -> None:
        """Open it, unless it is open or failed less than so many seconds ago."""
        is_failed = self._task is not None and self._task.done() and self.app is None
        is_due = is_failed and time.monotonic() - self._failed_at >= again_after
        if self._task is None or is_due:
            self._settled.clear()
            self._task = asyncio.create_task(self._hold())

    async def get(self) -> App:
        """The application; ``SillError`` says why there is none."""
        if self._closing.is_set():
            raise ShuttingDown
        self.start()
        await self._settled.wait()
        if self.app is None:
            assert self.error is not None
            raise self.error
        return self.app

    async def _hold(self) -> None:
        try:
            async with self.opening() as app:
                self.app, self.error = app, None
                self._settled.set()
                await self._closing.wait()
        except SillError as error:
            self.error = error
        except Exception as error:
            log.warning("opening failed: %s", type(error).__name__)
            self.error = SillError(f"unexpected {type(error).__name__}", hint="this is a bug")
        finally:
            self.app, self._failed_at = None, time.monotonic()
            self._settled.set()

    async def close(self) -> None:
        self._closing.set()
        if self._task is not None:
            if not self._settled.is_set():
                self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task


@dataclass(slots=True)
class Desk:
    """Everything of one owner. Nothing of it can reach what belongs to another."""

    owner: str
    store: Store
    ground: Ground
    turns: Turns
    edits: Edits
    _apps: dict[str, Lazy] = field(default_factory=dict)
    _writers: dict[str, tuple[App, Writing]] = field(default_factory=dict)
    _editor: tuple[App, Editing] | None = None
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def folder(self) -> Path:
        return self.ground.folder

    @property
    def settings(self) -> Settings:
        return self.ground.settings

    @property
    def workspace(self) -> str:
        """The name under which the store keeps this folder's chats."""
        return str(self.folder)

    def lazy(self, profile: str = "chat") -> Lazy:
        """``EDITOR`` is a chat that has no tools: whoever holds the files elsewhere means those alone."""
        if profile not in self._apps:
            ground, own = self.ground, profile
            if profile == EDITOR:
                ground, own = replace(ground, settings=without_tools(ground.settings)), "chat"
            self._apps[profile] = Lazy(lambda: open_over(self.store, ground, own))
        return self._apps[profile]

    async def app(self, profile: str = "chat") -> App:
        return await self.lazy(profile).get()

    async def writer(self, profile: TextProfile) -> Writing:
        """Who completes and suggests."""
        app = await self.app(profile)
        held = self._writers.get(profile)
        if held is None or held[0] is not app:
            held = (app, open_writer(app, self.settings, profile, self._stack))
            self._writers[profile] = held
        return held[1]

    async def editor(self) -> Editing:
        """Who proposes edits; remembers what the endpoint taught it."""
        app = await self.app("chat_ops")
        if self._editor is None or self._editor[0] is not app:
            self._editor = (app, editor_for(app, self.settings))
        return self._editor[1]

    async def close(self) -> None:
        await self._stack.aclose()
        await asyncio.gather(*(lazy.close() for lazy in self._apps.values()))


@dataclass(slots=True)
class IndexProgress:
    """How far the vault is read; ``message`` says why it cannot be."""

    state: Literal["reading", "embedding", "ready", "failed"] = "reading"
    done: int = 0
    total: int = 0
    message: str = ""

    def show(self, done: int, total: int) -> None:
        self.done, self.total = done, total


@dataclass(slots=True)
class Service:
    """Made by ``open_service``. ``turns`` are those in flight, of all owners."""

    ground: Ground
    store: Store
    vault: DiskVault
    turns: Turns = field(default_factory=Turns)
    index: IndexProgress = field(default_factory=IndexProgress)
    _desks: dict[str, Desk] = field(default_factory=dict)
    _indexing: asyncio.Task[None] | None = None
    _sweeping: asyncio.Task[None] | None = None

    @property
    def folder(self) -> Path:
        return self.ground.folder

    def desk(self, owner: str = LOCAL_OWNER) -> Desk:
        if owner not in self._desks:
            store = self.store
            if owner != LOCAL_OWNER:
                assert isinstance(store, DatabaseStore)
                store = store.as_owner(owner)
            edits = open_edits(self.folder, store)
            if owner != LOCAL_OWNER:
                edits.by = owner  # the journal names who it was
            self._desks[owner] = Desk(owner, store, self.ground, self.turns, edits)
        return self._desks[owner]

    async def start(self) -> None:
        """Bring to an end what a crash left of edits; then read the vault behind everybody's back."""
        await self.desk().edits.recover()
        self._indexing = asyncio.create_task(self._index())
        self._sweeping = asyncio.create_task(self._sweep())

    async def _sweep(self) -> None:
        """Close turns whose process has died as interrupted, so that nobody waits for them."""
        while True:
            for store in (self.store, *(desk.store for desk in list(self._desks.values()))):
                if isinstance(store, DatabaseStore):
                    with suppress(StoreError):
                        await store.close_abandoned()
            await asyncio.sleep(SWEEP_SECONDS)

    async def _index(self) -> None:
        progress = self.index
        try:
            await self.vault.refresh(progress.show)
            self.vault.watch()
            if self.vault.embedder is not None:
                progress.state = "embedding"
                await self.vault.embed_pending(progress.show)
            progress.state = "ready"
        except ProviderError as error:
            progress.state, progress.message = "ready", str(error)
        except SillError as error:
            progress.state, progress.message = "failed", str(error)
        except OSError as error:
            progress.state, progress.message = "failed", error.strerror or "cannot be read"

    async def store_state(self) -> str:
        """``ok``, or what is wrong with the database."""
        try:
            await self.store.turn_ids("-")
        except StoreError as error:
            return error.message
        return "ok"

    async def wind_down(self, grace: float) -> None:
        """Take no more turns; let those in flight end, and stop them when ``grace`` seconds are over."""
        await self.turns.wind_down(grace)

    async def close(self) -> None:
        await self.wind_down(0)
        for task in (self._indexing, self._sweeping):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        await asyncio.gather(*(desk.close() for desk in self._desks.values()))
        await self.vault.close()


@asynccontextmanager
async def open_service(ground: Ground) -> AsyncIterator[Service]:
    """The folder's service; everything that was opened for it is closed with it."""
    async with open_storage(ground.settings) as store:
        vault = vault_of(ground.folder, ground.settings)
        service = Service(ground, store, vault)
        try:
            await service.start()
            yield service
        finally:
            await service.close()
