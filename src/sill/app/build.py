"""An open workspace: everything a chat over a folder needs, made from settings and closed again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import prompts
from ..adapters.models.endpoints import parse_endpoint
from ..adapters.models.openai import OpenAIModel
from ..adapters.models.retry import CLOUD, LOCAL, Clocks
from ..adapters.store import open_store
from ..core.budget import PROFILES, Profile
from ..core.certificate import Tokenizer, Usage
from ..core.prompts import compose
from ..core.request import ChatRequest
from ..engine.chat import Chat
from ..engine.events import Event, Finished
from ..engine.prepare import Call, Question
from ..paths import config_dir, data_dir
from ..ports import Ended, Store
from ..settings import Settings
from .connect import Connection, Progress, connect
from .counting import choose_counter
from .gather import Gathered, gather

CUT = ("partial", "cancelled")


@dataclass(slots=True)
class App:
    """Ask it things; ``open_app`` closes it."""

    folder: Path
    connection: Connection
    counting: str  # why tokens are counted the way they are
    database: str
    store: Store
    chat: Chat
    max_file_bytes: int
    _stop: asyncio.Event = field(default_factory=asyncio.Event)

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
        at = "bundled local model" if self.connection.kind == "local" else self.connection.base_url
        window = f"window {self.connection.window:,} tokens"
        return f"{self.connection.model} ({at}), {window}, counts: {self.tokenizer.kind}"

    async def ask(self, chat: str | None, question: Question) -> AsyncIterator[Event]:
        """One turn of ``chat``, or of a new one, as it happens.

        What a person has seen stays part of the chat: a cut answer is kept for the next turn.
        """
        self._stop.clear()
        async with aclosing(self.chat.ask(chat, question, self._stop)) as events:
            async for event in events:
                if isinstance(event, Finished) and event.outcome in CUT and event.text:
                    await self.store.keep(event.turn)
                yield event

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

    async def billed_prompt(self, request: ChatRequest) -> int | None:
        """What the endpoint bills for this request's prompt, if it tells."""
        usage = None
        async for event in self.chat.model.stream(request):
            if isinstance(event, Ended):
                usage = event.usage
        return usage.prompt if usage else None

    def cost(self, usage: Usage | None) -> float | None:
        """In dollars; None where the price is not known, which is not the same as nothing."""
        return 0.0 if self.connection.kind == "local" and usage else None


@asynccontextmanager
async def open_storage(settings: Settings) -> AsyncIterator[Store]:
    """The store alone, for commands that need no model."""
    store = await open_store(database_place(settings))
    try:
        yield store
    finally:
        await store.close()


def database_place(settings: Settings) -> str:
    return settings.get("database", str) or str(data_dir() / "sill.db")


@asynccontextmanager
async def open_app(
    settings: Settings, folder: Path, progress: Progress, profile: str = "chat"
) -> AsyncIterator[App]:
    """The application for ``folder``; whatever had to be started for it ends with it."""
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_storage(settings))
        connection = await connect(settings, profile, stack, progress)
        counted = await choose_counter(settings, profile, connection, store, stack)
        window = min(connection.window, counted.window or connection.window)
        connection = replace(connection, window=window)
        model = OpenAIModel(
            connection.base_url,
            connection.model,
            connection.api_key,
            clocks=clocks(settings, profile, connection),
        )
        stack.push_async_callback(model.close)
        numbers = profile_numbers(settings, profile)
        call = Call(
            model=connection.model,
            profile=numbers,
            window=window,
            system=system_prompt(settings, profile),
            layout=counted.sizer.layout,
            shortfall=counted.counter.tokenizer.margin,
            limit_name=parse_endpoint(connection.base_url).limit_name,
        )
        yield App(
            folder=folder,
            connection=connection,
            counting=counted.reason,
            database=shown_database(database_place(settings)),
            store=store,
            chat=Chat(store, model, counted.counter, counted.sizer, call, str(folder)),
            max_file_bytes=settings.get("max_file_bytes", int) or 0,
        )


def system_prompt(settings: Settings, profile: str) -> str:
    """The profile's prompt; an unknown template is an error here, before the first message."""
    id = settings.of_profile(profile, "template", str) or profile
    text = prompts.template(id, prompts.load(config_dir() / "prompts"))
    return compose(text, {"INSTRUCTIONS": settings.get("instructions", str) or ""})


def profile_numbers(settings: Settings, profile: str) -> Profile:
    """The profile's own numbers where the settings have them, the shipped ones elsewhere."""
    shipped = PROFILES[profile]
    return replace(
        shipped,
        reply=settings.of_profile(profile, "reply", int) or shipped.reply,
        system_cap=settings.of_profile(profile, "system_cap", int) or shipped.system_cap,
        high=settings.of_profile(profile, "high_water", float) or shipped.high,
        low=settings.of_profile(profile, "low_water", float) or shipped.low,
        temperature=_or(settings.of_profile(profile, "temperature", float), shipped.temperature),
    )


def clocks(settings: Settings, profile: str, connection: Connection) -> Clocks:
    usual = LOCAL if connection.is_local else CLOUD
    return Clocks(
        connect=_or(settings.of_profile(profile, "connect_timeout", float), usual.connect),
        first=_or(settings.of_profile(profile, "first_timeout", float), usual.first),
        idle=_or(settings.of_profile(profile, "idle_timeout", float), usual.idle),
        total=usual.total,
    )


def shown_database(place: str) -> str:
    """Where chats are kept, without the password a URL may hold."""
    if "://" not in place:
        return place
    from urllib.parse import urlsplit

    parts = urlsplit(place)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def _or(given: float | None, usual: float) -> float:
    return usual if given is None else given
