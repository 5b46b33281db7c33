"""Completion and suggestions over an application that was opened for their profile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from math import ceil
from typing import Literal

from .. import prompts
from ..adapters.models.bookkeeping import keep_books
from ..adapters.models.completion import Completer, Gap
from ..adapters.models.endpoints import parse_endpoint
from ..adapters.models.transport import Transport
from ..core.request import ChatRequest
from ..engine.chat import Chat
from ..engine.complete import FILL_OVERHEAD, Fill, Hole, Prompt, Writer
from ..engine.failover import is_theirs
from ..engine.money import Afforded, refusal
from ..engine.prepare import Call
from ..engine.writing import Writing
from ..errors import BadAnswer, Overflow, ProviderError
from ..paths import config_dir
from ..ports import ModelEvent
from ..records import Attempt
from ..settings import Settings
from .build import App, booked_by
from .connect import Connection
from .seat import clocks

TextProfile = Literal["completion", "edit"]


def open_writer(
    app: App, settings: Settings, profile: TextProfile, stack: AsyncExitStack
) -> Writing:
    """Who completes and suggests; ``stack`` ends what was opened for it.

    ``app`` was opened for the same profile. A model that can fill holes is used that way.
    """
    id = settings.of_profile(profile, "template", str) or profile
    template = prompts.template(id, prompts.load(config_dir() / "prompts"))
    prompt = Prompt(template, settings.get("instructions", str) or "")
    is_enabled = settings.of_profile(profile, "enabled", bool) is not False
    fillers: dict[int, Fill | None] = {}
    one_at_a_time = asyncio.Lock()

    async def filler(number: int, desk: _Desk) -> Fill | None:
        """Found out once for each place, unless it did not answer."""
        async with one_at_a_time:
            if number not in fillers:
                found = await _filler(desk, settings, stack)
                if isinstance(found, ProviderError):
                    return None
                fillers[number] = found
            return fillers[number]

    async def writer_at(number: int) -> Writer:
        there, chat = app.seats[number].connection, app.failover.places[number].chat
        assert there is not None and chat is not None
        desk = _Desk(chat, there)
        fills = profile == "completion" and is_enabled
        return Writer(
            call=chat.call,
            counter=chat.counter,
            booked=lambda request: booked_by(chat, request, profile),
            prompt=prompt,
            fill=await filler(number, desk) if fills else None,
            is_enabled=is_enabled,
            learn=desk.learn,
        )

    return Writing(app.failover, writer_at, prompt)


@dataclass(frozen=True, slots=True)
class _Desk:
    """One model of the application, and where it is."""

    chat: Chat
    there: Connection

    def learn(self, refused: Overflow, predicted: int) -> tuple[Call, str] | None:
        known = self.chat.learned
        self.chat.learn(refused, predicted)
        return None if self.chat.learned == known else (self.chat.call, self.chat.learned)


async def _filler(
    desk: _Desk, settings: Settings, stack: AsyncExitStack
) -> Fill | ProviderError | None:
    """Only llama.cpp has a route for it, and only for models that were trained to.

    An error if the endpoint did not answer, so that nobody knows.
    """
    there = desk.there
    if there.server != "llama.cpp" or settings.get("probe", bool) is False:
        return None
    endpoint = parse_endpoint(there.base_url)
    transport = Transport(endpoint, there.api_key, clocks=clocks(settings, "completion", there))
    stack.push_async_callback(transport.close)
    can_fill = await _can_fill(desk, transport)
    if can_fill is not True:
        return can_fill or None

    async def fill(hole: Hole) -> AsyncIterator[ModelEvent]:
        completer = await _booked_completer(desk, transport, hole)
        gap = Gap(hole.prefix, hole.suffix, hole.max_tokens, hole.temperature)
        async with aclosing(completer.stream(gap)) as events:
            async for event in events:
                yield event

    return fill


async def _can_fill(desk: _Desk, transport: Transport) -> bool | ProviderError:
    there, till = desk.there, desk.chat.till
    attempt = Attempt("probe", there.model, there.base_url)
    books = keep_books(desk.chat.store, attempt, till.price if till else None)
    completer = Completer(transport, there.model, books)
    try:
        async with aclosing(completer.stream(Gap("a", "b", max_tokens=1))) as events:
            async for _ in events:
                pass
    except ProviderError as error:
        return error if is_theirs(error) and not isinstance(error, BadAnswer) else False
    return completer.routes[0] == "infill"


async def _booked_completer(desk: _Desk, transport: Transport, hole: Hole) -> Completer:
    till, chat, there = desk.chat.till, desk.chat, desk.there
    if till is None:
        return Completer(transport, there.model)
    tokens = sum((await chat.counter.count([hole.prefix, hole.suffix])).tokens) + FILL_OVERHEAD
    wanted = ChatRequest(there.model, (), hole.max_tokens)
    decided = await till.afford(wanted, ceil(tokens * (1 + chat.call.shortfall)))
    if not isinstance(decided, Afforded):
        raise refusal(decided)
    attempt = Attempt(
        "completion", there.model, there.base_url, predicted=tokens, reserved=decided.reserved
    )
    caps = tuple(till.purse.caps(None).values()) if decided.capped else ()
    return Completer(transport, there.model, keep_books(chat.store, attempt, till.price, caps))
