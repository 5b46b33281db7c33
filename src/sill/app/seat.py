"""One model made ready to be asked: connected, counted, priced; and the order in which models are."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

from ..adapters.models.bookkeeping import keep_books
from ..adapters.models.endpoints import parse_endpoint
from ..adapters.models.ollama import OllamaModel
from ..adapters.models.openai import OpenAIModel
from ..adapters.models.prices import find_price, load_package
from ..adapters.models.retry import CLOUD, LOCAL, Clocks
from ..core.budget import PROFILES
from ..core.cost import DOLLAR, Price, dollars
from ..core.render import Layout
from ..engine.chat import Chat
from ..engine.compact import SummaryBy
from ..engine.failover import Place
from ..engine.money import Limits, Purse, Till
from ..engine.notes import Notebook
from ..engine.offering import Boxes, Toolkit
from ..engine.prepare import Call
from ..engine.recall import Recollection
from ..errors import SettingsError
from ..ports import Store, TokenCounter
from ..records import Attempt, Cap
from ..settings import Settings
from .connect import (
    Connection,
    Progress,
    Wanted,
    connect,
    wanted,
    wanted_instead,
    with_usual_window,
)
from .counting import choose_counter, counting_by
from .embedding import embedder_of
from .profile import profile_numbers, shares_asked_for, system_prompt
from .tools import are_wanted

# Chosen by looking at four long dialogues: of 240 questions 88 % score over the first and 64 % over the second;
# of 14 sentences of small talk, asked in each, a third and none. A window that gives way loses the server's
# prefix cache, so that takes the surer sign.
RECALL_LEAST, RECALL_INSISTS = 0.1, 0.3
LINK_SHARE = 0.2

NO_CONSENT = (
    "it is not on this machine, and what you write leaves it only where your settings say"
    " `remote_fallback = true`"
)


@dataclass(slots=True)
class Seat:
    """A place and what is known of it once it is open."""

    place: Place
    connection: Connection | None = None
    counting: str = ""  # why tokens are counted the way they are


@dataclass(slots=True)
class Seats:
    """Makes the models of one profile ready when they are needed; ``stack`` ends what was started."""

    settings: Settings
    profile: str
    store: Store
    stack: AsyncExitStack
    progress: Progress
    workspace: str
    purse: Purse
    counter: TokenCounter | None = None  # the caller's own, for every model
    all: list[Seat] = field(default_factory=list)
    recollection: Recollection | None = None
    tools: Boxes | None = None
    notebook: Notebook | None = None

    def __post_init__(self) -> None:
        recalls = self.settings.get("recall", bool) is not False
        embedder = embedder_of(self.settings) if recalls else None
        self.recollection = Recollection(
            self.store, embedder, recalls, least=RECALL_LEAST, insists=RECALL_INSISTS
        )
        if embedder is not None:
            self.stack.push_async_callback(embedder.close)
        self.stack.push_async_callback(self.recollection.close)

    def arrange(self) -> list[Place]:
        """The profile's own endpoint, then its fallbacks in their order."""
        own = wanted(self.settings, self.profile)
        self._add(own, "the local model" if own.base_url.value is None else _name(own))
        consents = self.settings.of_profile(self.profile, "remote_fallback", bool) is True
        for name in self.settings.fallbacks(self.profile):
            wish = wanted_instead(self.settings, name)
            try:
                leaves = own.is_local and not wish.is_local
            except SettingsError as error:
                raise SettingsError(f"`{name}`: {error.message}", hint=error.hint) from None
            barred = NO_CONSENT if leaves and not consents else ""
            self._add(wish, _name(wish), barred or self._lacks_key(name))
        return [seat.place for seat in self.all]

    def _lacks_key(self, fallback: str) -> str:
        variable = self.settings.get(f"{fallback}.api_key_env", str)
        has_key = self.settings.get(f"{fallback}.api_key", str) is not None
        return (
            f"its key should be in {variable}, which is not set" if variable and not has_key else ""
        )

    def _add(self, wish: Wanted, name: str, barred: str = "") -> None:
        async def open_seat() -> Chat:
            return await self._open(seat, wish)

        seat = Seat(Place(name, open_seat, barred))
        self.all.append(seat)

    async def _open(self, seat: Seat, wish: Wanted) -> Chat:
        settings, profile = self.settings, self.profile
        loading = None if wish.is_local else asyncio.to_thread(load_package)
        there, _ = await asyncio.gather(
            connect(settings, wish, self.stack, self.progress), loading or asyncio.sleep(0)
        )
        layout: Layout = (
            "separate" if settings.of_profile(profile, "layout", str) == "separate" else "folded"
        )
        counted = (
            await choose_counter(wish, there, layout, self.store, self.stack)
            if self.counter is None
            else counting_by(self.counter, layout, self.store)
        )
        there = with_usual_window(there, counted.window)
        streams = settings.of_profile(profile, "stream", bool) is not False
        model = model_for(there, clocks(settings, profile, there), streams=streams)
        self.stack.push_async_callback(model.close)
        endpoint = parse_endpoint(there.base_url)
        price = find_price(there.model, endpoint, settings.prices())
        link_share = settings.of_profile(profile, "link_share", float)
        call = Call(
            model=there.model,
            profile=profile_numbers(settings, profile),
            window=there.window,
            system=system_prompt(settings, profile, is_tiny=there.is_bundled),
            layout=layout,
            shortfall=counted.counter.tokenizer.margin,
            ratio=counted.ratio,
            limit_name=endpoint.limit_name,
            link_share=LINK_SHARE if link_share is None else link_share,
            told=shares_asked_for(settings, profile),
        )
        may_call = are_wanted(settings, profile, is_tiny=there.is_bundled)
        seat.connection, seat.counting = there, counted.reason
        seat.place.name = f"{there.model} at {there.shown_at}"
        return Chat(
            store=self.store,
            model=model,
            counter=counted.counter,
            sizer=counted.sizer,
            call=call,
            workspace=self.workspace,
            till=self._till(model, price),
            wire=model.wire,
            recollection=self.recollection,
            notebook=self.notebook,
            summaries=summary_by(self.settings.get("summaries", str)),
            toolkit=self._toolkit(counted.counter) if may_call else None,
            grows=counted.grows,
        )

    def _toolkit(self, counter: TokenCounter) -> Toolkit | None:
        tools = self.tools
        return None if tools is None else Toolkit(tools, counter, tools.untold)

    def _till(self, model: OpenAIModel | OllamaModel, price: Price | None) -> Till:
        def booked(attempt: Attempt, caps: Sequence[Cap]) -> OpenAIModel | OllamaModel:
            return model.reporting_to(keep_books(self.store, attempt, price, caps))

        return Till(self.purse, price, booked)


def summary_by(setting: str | None) -> SummaryBy:
    match setting:
        case "model" | "off":
            return setting
        case _:
            return "extract"


def _name(wish: Wanted) -> str:
    return f"{wish.model or 'the model'} at {wish.base_url.value}"


def model_for(
    there: Connection, clocks: Clocks, *, streams: bool = True
) -> OpenAIModel | OllamaModel:
    """Ollama by its own API, which refuses what its other one would drop without a word."""
    at, name, key = there.base_url, there.model, there.api_key
    if there.server == "ollama":
        return OllamaModel(at, name, key, window=there.window, clocks=clocks, streams=streams)
    return OpenAIModel(at, name, key, clocks=clocks, streams=streams)


def clocks(settings: Settings, profile: str, there: Connection) -> Clocks:
    usual = LOCAL if there.is_local else replace(CLOUD, idle=PROFILES[profile].timeout)
    given = {
        name: settings.of_profile(profile, f"{name}_timeout", float)
        for name in ("connect", "first", "idle")
    }
    return replace(usual, **{name: value for name, value in given.items() if value is not None})


def limits(settings: Settings) -> Limits:
    """The user's limits; the settings have them in dollars."""

    def amount(scope: str) -> int | None:
        given = settings.get(f"limits.{scope}", float)
        return None if given is None else round(given * DOLLAR)

    return Limits(
        request=amount("request"),
        chat=amount("chat"),
        day=amount("day"),
        user=amount("user"),
        warn_at=settings.get("limits.warn_at", float) or 0.0,
        allows_unknown=settings.get("limits.unknown_price", str) == "allow",
    )


def shown_price(price: Price | None) -> str:
    if price is None:
        return "unknown; set it under [prices] in the settings"
    per_million = price.rates
    return (
        f"{dollars(per_million.prompt)} per million prompt tokens,"
        f" {dollars(per_million.completion)} per million of the reply ({price.source})"
    )
