"""Completion and suggestions over an application that was opened for their profile."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from math import ceil
from typing import Literal

from .. import prompts
from ..adapters.models.bookkeeping import keep_books
from ..adapters.models.completion import Completer, Gap
from ..adapters.models.endpoints import parse_endpoint
from ..adapters.models.transport import Transport
from ..core.request import ChatRequest
from ..engine.complete import FILL_OVERHEAD, Fill, Hole, Prompt, Writer
from ..engine.money import Afforded, refusal
from ..errors import ProviderError
from ..paths import config_dir
from ..ports import Model, ModelEvent
from ..records import Attempt
from ..settings import Settings
from .build import App
from .seat import clocks

TextProfile = Literal["completion", "edit"]


async def open_writer(
    app: App, settings: Settings, profile: TextProfile, stack: AsyncExitStack
) -> Writer:
    """Who completes and suggests; ``stack`` ends what was opened for it.

    ``app`` was opened for the same profile. A model that can fill holes is used that way.
    """
    id = settings.of_profile(profile, "template", str) or profile
    template = prompts.template(id, prompts.load(config_dir() / "prompts"))

    async def booked(request: ChatRequest) -> Model:
        return await app.booked(request, profile)

    return Writer(
        call=app.chat.call,
        counter=app.chat.counter,
        booked=booked,
        prompt=Prompt(template, settings.get("instructions", str) or ""),
        fill=await _filler(app, settings, stack) if profile == "completion" else None,
        is_enabled=settings.of_profile(profile, "enabled", bool) is not False,
    )


async def _filler(app: App, settings: Settings, stack: AsyncExitStack) -> Fill | None:
    """Only llama.cpp has a route for it, and only for models that were trained to."""
    there = app.connection
    if there.server != "llama.cpp" or settings.get("probe", bool) is False:
        return None
    endpoint = parse_endpoint(there.base_url)
    times = clocks(settings, "completion", there)
    transport = Transport(endpoint, there.api_key, clocks=times)
    stack.push_async_callback(transport.close)
    if not await _can_fill(app, transport):
        return None

    async def fill(hole: Hole) -> AsyncIterator[ModelEvent]:
        completer = await _booked_completer(app, transport, hole)
        gap = Gap(hole.prefix, hole.suffix, hole.max_tokens, hole.temperature)
        async with aclosing(completer.stream(gap)) as events:
            async for event in events:
                yield event

    return fill


async def _can_fill(app: App, transport: Transport) -> bool:
    price = app.chat.till.price if app.chat.till else None
    attempt = Attempt("probe", app.model_name, app.endpoint)
    completer = Completer(transport, app.model_name, keep_books(app.store, attempt, price))
    try:
        async with aclosing(completer.stream(Gap("a", "b", max_tokens=1))) as events:
            async for _ in events:
                pass
    except ProviderError:
        return False
    return completer.routes[0] == "infill"


async def _booked_completer(app: App, transport: Transport, hole: Hole) -> Completer:
    till, chat = app.chat.till, app.chat
    if till is None:
        return Completer(transport, app.model_name)
    tokens = sum((await chat.counter.count([hole.prefix, hole.suffix])).tokens) + FILL_OVERHEAD
    wanted = ChatRequest(app.model_name, (), hole.max_tokens)
    decided = await till.afford(wanted, ceil(tokens * (1 + chat.call.shortfall)))
    if not isinstance(decided, Afforded):
        raise refusal(decided)
    attempt = Attempt(
        "completion", app.model_name, app.endpoint, predicted=tokens, reserved=decided.reserved
    )
    caps = tuple(till.purse.caps(None).values()) if decided.capped else ()
    return Completer(transport, app.model_name, keep_books(app.store, attempt, till.price, caps))
