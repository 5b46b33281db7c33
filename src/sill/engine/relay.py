"""One call for a client that speaks to a model through us: fitted, paid for, failed over, passed on."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from ..core.cost import Price
from ..core.failover import Breaker, order
from ..core.gateway import Conversation
from ..core.plan import OverBudget
from ..core.request import WireMessage
from ..errors import LocalModelError, Overflow, ProviderError, SillError
from ..ports import Model, ModelEvent
from ..records import Attempt
from .chat import Chat
from .failover import Failover, Place, is_theirs
from .gateway import Fitted, Fitter
from .money import Afforded, at_most, refusal
from .walking import Wish

CATEGORY = "main"


@dataclass(frozen=True, slots=True)
class Order:
    """What the client wants: a conversation to be planned, or messages to be sent as they are."""

    said: Conversation | tuple[WireMessage, ...]
    wish: Wish = field(default_factory=Wish)


@dataclass(frozen=True, slots=True)
class Begun:
    """The answer has begun; before this nothing was shown."""

    fitted: Fitted
    model: str
    endpoint: str
    warnings: tuple[str, ...] = ()
    price: Price | None = None  # None: nobody knows it


@dataclass(slots=True)
class Relay:
    """Asks the places of one failover for clients who keep their own chats."""

    failover: Failover
    recalls: tuple[float, float] | None = None
    clock: Callable[[], float] = time.monotonic
    _fitters: dict[int, Fitter] = field(default_factory=dict)

    async def answer(
        self, wanted: Order, *, only: str | None = None
    ) -> AsyncGenerator[Begun | OverBudget | ModelEvent, None]:
        """``Begun`` and then what the model says; or ``OverBudget`` alone. Errors come before ``Begun``.

        ``only`` names one model that may answer; otherwise whoever can, in the failover's order.
        """
        first: SillError | None = None
        warnings: list[str] = []
        for number in await self._order(only):
            place = self.failover.places[number]
            try:
                asked = await place.ready()
                self.failover.current = number
                async with aclosing(self._ask(number, asked, wanted, warnings)) as events:
                    async for event in events:
                        yield event
            except (ProviderError, LocalModelError) as error:
                # After the first word nothing is raised: a reply that was cut ends as partial.
                first = first or error
                if not isinstance(error, LocalModelError) and not is_theirs(error):
                    raise
                place.breaker = place.breaker.failed(self.clock())
                warnings.append(f"{place.name}: {error.message}")
                continue
            place.breaker = Breaker()
            return
        assert first is not None
        raise first

    async def fitted(self, wanted: Order, *, only: str | None = None) -> Fitted | OverBudget:
        """The request as it would be made now."""
        number = (await self._order(only))[0]
        return await self._fit(number, await self.failover.places[number].ready(), wanted)

    async def models(self) -> list[tuple[str, Chat | None]]:
        """Who can be asked, in order; what is not open yet is known by name only."""
        return [
            (place.chat.call.model if place.chat else place.name, place.chat)
            for place in self.failover.places
            if not place.barred
        ]

    async def _order(self, only: str | None) -> tuple[int, ...]:
        places = self.failover.places
        if only is not None:
            named = [at for at, place in enumerate(places) if _is(place, only)]
            if named:
                return (named[0],)
        allowed = [not place.barred for place in places]
        return order(allowed, [place.breaker for place in places], None, self.clock())

    async def _ask(
        self, number: int, asked: Chat, wanted: Order, warnings: list[str]
    ) -> AsyncGenerator[Begun | OverBudget | ModelEvent, None]:
        is_second = False
        while True:
            fitted = await self._fit(number, asked, wanted)
            if isinstance(fitted, OverBudget):
                yield fitted
                return
            model, told = await _payable(asked, fitted)
            price = asked.till.price if asked.till else None
            told = (*warnings, *told)
            begun = Begun(fitted, asked.call.model, asked.model.endpoint, told, price)
            has_begun = False
            try:
                async with aclosing(model.stream(fitted.request)) as events:  # type: ignore[type-var]
                    async for event in events:
                        if not has_begun:
                            has_begun = True
                            yield begun
                        yield event
                return
            except Overflow as error:
                if is_second or not _learned(asked, error, fitted):
                    raise
                is_second = True

    async def _fit(self, number: int, asked: Chat, wanted: Order) -> Fitted | OverBudget:
        fitter = self._fitters.get(number)
        if fitter is None:
            fitter = Fitter(asked.call, asked.counter, asked.sizer, recalls=self.recalls)
            self._fitters[number] = fitter
        fitter.call = asked.call
        if isinstance(wanted.said, Conversation):
            return await fitter.fit(wanted.said, wanted.wish)
        return await fitter.as_it_is(wanted.said, wanted.wish)


def _is(place: Place, name: str) -> bool:
    return not place.barred and (place.chat.call.model if place.chat else place.name) == name


async def _payable(asked: Chat, fitted: Fitted) -> tuple[Model, tuple[str, ...]]:
    """The model, its attempts booked; ``LimitReached`` where the call could cost too much."""
    if asked.till is None:
        return asked.model, ()
    certificate = fitted.certificate
    prompt = at_most(certificate, asked.call.shortfall)
    decided = await asked.till.afford(fitted.request, prompt)
    if not isinstance(decided, Afforded):
        raise refusal(decided)
    attempt = Attempt(
        category=CATEGORY,
        model=asked.model.name,
        endpoint=asked.model.endpoint,
        predicted=certificate.predicted,
        tokenizer=certificate.tokenizer,
        ratio=asked.call.ratio,
    )
    return asked.till.model(attempt, decided), decided.warnings


def _learned(asked: Chat, error: Overflow, fitted: Fitted) -> bool:
    """Plan for what the endpoint said when it refused; False where it said nothing new."""
    predicted = fitted.certificate.predicted
    if fitted.plan is None:
        return False
    if error.window and error.window < asked.call.window:
        asked.call = replace(asked.call, window=error.window)
    elif error.prompt and error.prompt > asked.call.budget.room and error.prompt > predicted:
        asked.call = replace(asked.call, shortfall=error.prompt / predicted - 1)
    else:
        return False
    return True
