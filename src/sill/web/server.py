"""The process: a socket, the guard, and an end that loses nothing."""

import asyncio
import gc
import signal
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

import uvicorn

from ..app.service import Service
from ..errors import UsageError
from .app import create_app
from .guard import Guard, Rules, local_rules
from .sessions import Sessions, open_sessions
from .stream import Streams

GRACE_SECONDS = 5.0  # for answers that are being written
END_SECONDS = 4  # for requests that still run after that


@dataclass(frozen=True, slots=True)
class Address:
    """``port`` 0 lets the system choose."""

    port: int = 0
    host: str = "127.0.0.1"


class Server(uvicorn.Server):
    """Lets turns in flight end before connections are closed."""

    def __init__(self, config: uvicorn.Config, service: Service, grace: float) -> None:
        super().__init__(config)
        self._service, self._grace = service, grace
        self.up = asyncio.Event()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends it in order, a second interrupt at once; none is passed on afterwards."""
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
            asyncio.get_running_loop().call_soon_threadsafe(self._service.turns.hurry)
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        with suppress(Exception):
            await self._service.wind_down(self._grace)
        await super().shutdown(sockets)


@dataclass(slots=True)
class Site:
    """Everything that answers under one address."""

    address: Address
    sessions: Sessions
    rules: Rules
    server: Server
    socket: socket.socket

    @property
    def url(self) -> str:
        return f"{self.rules.scheme}://{self.address.host}:{self.address.port}"

    def login_url(self) -> str:
        """Works once, for five minutes."""
        return f"{self.url}/login?once={self.sessions.invite()}"

    async def serve(self, ready: Callable[[], None] | None = None) -> None:
        """Until it is told to stop, by a signal or by ``stop``."""
        serving = asyncio.create_task(self.server.serve(sockets=[self.socket]))
        up = asyncio.create_task(self.server.up.wait())
        await asyncio.wait({serving, up}, return_when=asyncio.FIRST_COMPLETED)
        if ready is not None and up.done():
            ready()
        up.cancel()
        await serving

    def stop(self) -> None:
        self.server.should_exit = True


def open_site(
    service: Service, address: Address, *, rotate: bool = False, grace: float = GRACE_SECONDS
) -> Site:
    """The local server, bound to this machine alone; it answers when ``serve`` runs."""
    listening = bind(address)
    address = Address(listening.getsockname()[1], address.host)
    rules, sessions = local_rules(address.port), open_sessions(address.port, rotate=rotate)
    app = create_app(service, sessions, rules)
    config = uvicorn.Config(
        Guard(Streams(app), rules, sessions.authenticate),
        log_config=None,
        access_log=False,  # addresses hold secrets and search words
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        timeout_graceful_shutdown=END_SECONDS,
        ws="none",
    )
    return Site(address, sessions, rules, Server(config, service, grace), listening)


def settle_in() -> None:
    """What is loaded by now stays: the collector need not look through it again while somebody waits."""
    gc.collect()
    gc.freeze()


def run(work: Coroutine[Any, Any, None]) -> None:
    """On the quicker event loop where there is one."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


def bind(address: Address) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address.host, address.port))
    except OSError as error:
        listening.close()
        hint = "choose another one with --port, or --port 0 for any"
        words = (error.strerror or "cannot be used").lower()
        raise UsageError(f"port {address.port}: {words}", hint=hint) from None
    listening.listen(1024)
    listening.setblocking(False)
    return listening
