"""Which model answers: the endpoint that was chosen, one found on this machine, or the local model."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import httpx

from ..adapters.models.discover import discover, find_local_endpoints
from ..adapters.models.endpoints import parse_endpoint
from ..adapters.models.transport import new_client as client_for
from ..errors import ModelMissing, ProviderError
from ..settings import Settings, Value

LOCAL = "local"
SAFE_WINDOW = 8_192  # where nobody tells: small enough for every model in use
NOBODY_TOLD = "nobody told; set `window`"
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Connection:
    """One model at one address, and why it is this one. Its representation never shows the key."""

    kind: Literal["configured", "found", "local"]
    base_url: str
    why: str
    model: str = ""
    window: int = SAFE_WINDOW
    window_source: str = NOBODY_TOLD
    server: str = ""
    api_key: str | None = field(default=None, repr=False)

    @property
    def is_bundled(self) -> bool:
        """The model that comes with Sill, or its cut for tests."""
        return self.kind == "local" and self.model.lstrip(".").startswith("SmolLM2-135M")

    @property
    def is_local(self) -> bool:
        return self.kind == "local" or parse_endpoint(self.base_url).is_local

    @property
    def address(self) -> str:
        """Where its calls really go, as the ledger names it."""
        at = parse_endpoint(self.base_url)
        return at.root if self.server == "ollama" else at.api

    @property
    def shown_at(self) -> str:
        return "bundled local model" if self.kind == "local" else self.base_url


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the settings say about one endpoint. Its representation never shows the key."""

    base_url: Value
    model: str | None
    window: Value
    tokenizer: str | None
    may_probe: bool
    api_key: str | None = field(default=None, repr=False)

    @property
    def is_local(self) -> bool:
        """On this machine or a private network; so is whatever is found where nothing was chosen."""
        chosen = self.base_url.value
        return chosen in (None, LOCAL) or parse_endpoint(str(chosen)).is_local


def wanted(settings: Settings, profile: str) -> Wanted:
    """The profile's own endpoint."""
    return Wanted(
        base_url=settings.source(profile, "base_url"),
        model=settings.of_profile(profile, "model", str),
        window=settings.source(profile, "window"),
        tokenizer=settings.of_profile(profile, "tokenizer", str),
        may_probe=settings.get("probe", bool) is not False,
        api_key=settings.of_profile(profile, "api_key", str),
    )


def wanted_instead(settings: Settings, fallback: str) -> Wanted:
    """One of the profile's fallbacks. Nothing of another endpoint's settings is good for it, least its key."""
    return Wanted(
        base_url=settings.value(f"{fallback}.base_url"),
        model=settings.get(f"{fallback}.model", str),
        window=settings.value(f"{fallback}.window"),
        tokenizer=settings.get(f"{fallback}.tokenizer", str),
        may_probe=settings.get("probe", bool) is not False,
        api_key=settings.get(f"{fallback}.api_key", str),
    )


async def connect(
    settings: Settings, wish: Wanted, stack: AsyncExitStack, progress: Progress
) -> Connection:
    """A connection that was just seen to work; ``stack`` ends what had to be started for it."""
    chosen = wish.base_url
    if chosen.value == LOCAL:
        return await _start_local(settings, wish, stack, f"chosen by {chosen.source}")
    if chosen.value is not None:
        base_url = parse_endpoint(str(chosen.value)).api
        why = f"chosen by {chosen.source}"
        return await _introduced(
            Connection("configured", base_url, why, api_key=wish.api_key), wish
        )
    for found in await find_local_endpoints():
        if found.state != "ready":
            progress(f"sill: {found.server} at {found.base_url} is passed over: {found.state}")
            continue
        why = f"{found.server} found on its standard port; nothing else was chosen"
        there = Connection("found", found.base_url, why, server=found.server, api_key=None)
        try:
            return await _introduced(there, wish)
        except ProviderError as error:
            progress(f"sill: {found.server} at {found.base_url} cannot be used: {error}")
    why = "no endpoint was chosen and none was found on this machine"
    return await _start_local(settings, wish, stack, why)


async def _start_local(
    settings: Settings, wish: Wanted, stack: AsyncExitStack, why: str
) -> Connection:
    from ..adapters.local.choice import chosen_weights
    from ..adapters.local.supervise import open_local

    given = settings.get("local_model", str)
    weights = Path(given) if given else chosen_weights()
    window = settings.get("local_window", int)
    server = await asyncio.to_thread(open_local, weights, window=window)
    stack.callback(server.close)
    there = Connection(
        "local",
        server.base_url,
        why,
        model=server.model_name,
        window=server.window,
        window_source="as the local model was started",
        server="llama.cpp",
        api_key=server.api_key,
    )
    return _with_own_window(there, wish)


async def _introduced(there: Connection, wish: Wanted) -> Connection:
    """Ask the endpoint which models it has and how large the window is."""
    if not wish.may_probe:
        return _with_own_window(replace(there, model=wish.model or "default"), wish)
    known = await discover(there.base_url, there.api_key, model=wish.model)
    model = wish.model or (known.models[0] if known.models else "")
    if not model:
        raise ModelMissing(
            f"{there.base_url} lists no model and none was named",
            endpoint=there.base_url,
            hint="name one with -m or `model` in the settings",
        )
    there = replace(there, model=model, server=known.server)
    if known.window is not None:
        there = replace(there, window=known.window.tokens, window_source=known.window.source)
    return _with_own_window(there, wish)


def _with_own_window(there: Connection, wish: Wanted) -> Connection:
    """The user's number goes before what the endpoint says, unless the endpoint has less."""
    own, source = wish.window.value, wish.window.source
    if not isinstance(own, int):
        return there
    told = there.window_source != NOBODY_TOLD
    if told and own > there.window:
        text = f"{there.window_source}; {own:,} from {source} would not fit"
        return replace(there, window_source=text)
    return replace(there, window=own, window_source=source)


def with_usual_window(there: Connection, usual: int | None) -> Connection:
    """The window that models of this name have: a bound, and where a service tells none, the window.

    A server on this machine may run the same model with far less, so there it is only a bound.
    """
    if usual is None:
        return there
    if there.window_source == NOBODY_TOLD and not there.is_local:
        source = f"usual for {there.model}; set `window` where it is another"
        return replace(there, window=usual, window_source=source)
    return replace(there, window=min(there.window, usual))


def new_client(base_url: str) -> httpx.AsyncClient:
    """For small questions to the endpoint, on the way that its answers take too."""
    return client_for(parse_endpoint(base_url))
