"""The relays of a server's owners: each asks through their own application, ledger and limits."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..engine.chat import Chat
from ..engine.relay import Relay
from ..errors import ModelMissing
from .build import App
from .running import Overloaded
from .seat import RECALL_INSISTS, RECALL_LEAST
from .service import Desk

ANY = ("sill", "default", "")  # names under which whoever can answers
MOST_STREAMS = 100


@dataclass(slots=True)
class Gateways:
    """One relay for each owner's application, as long as that is the same."""

    most: int = MOST_STREAMS
    in_flight: int = 0
    _relays: dict[str, tuple[App, Relay]] = field(default_factory=dict)

    async def relay(self, desk: Desk) -> Relay:
        app = await desk.app()
        known = self._relays.get(desk.owner)
        if known is None or known[0] is not app:
            recalls = desk.settings.get("recall", bool) is not False
            chances = (RECALL_LEAST, RECALL_INSISTS) if recalls else None
            known = (app, Relay(app.failover, recalls=chances))
            self._relays[desk.owner] = known
        return known[1]

    @contextmanager
    def stream(self) -> Iterator[None]:
        """A place for one more answer; ``Overloaded`` where there is none."""
        if self.in_flight >= self.most:
            raise Overloaded("too many answers are being written at once")
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1


async def only(relay: Relay, name: str) -> str | None:
    """The one model that is asked for; None where any will do. ``ModelMissing`` if nobody has that name."""
    if name in ANY:
        return None
    known = [model for model, _ in await relay.models()]
    if name not in known:
        listed = ", ".join(["sill", *known])
        raise ModelMissing(f"there is no model {name!r} here", hint=f"ask for one of {listed}")
    return name


async def chat_of(relay: Relay, name: str) -> Chat:
    """Who answers under this name."""
    wanted = await only(relay, name)
    if wanted is None:
        return relay.failover.chat
    return next(chat for model, chat in await relay.models() if model == wanted and chat)
