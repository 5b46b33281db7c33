"""A server that several people share: behind TLS or a proxy that has it, and with limits for each of them."""

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from ..app.accounts import accounts_of
from ..app.service import Service
from ..core.access import Rate
from ..errors import UsageError
from ..ports import Accounts
from ..settings import Settings
from .app import create_app
from .guard import Guard, Rules
from .server import END_SECONDS, GRACE_SECONDS, Address, Server, Site
from .sessions import Sessions
from .stream import Streams
from .users import Door
from .watch import PerUser, Watched

COOKIE = "__Host-sill"  # browsers take a cookie of this name over TLS and from this host alone


@dataclass(frozen=True, slots=True)
class Public:
    """Under which names the server is known, and who encrypts: it itself, or a proxy before it."""

    names: tuple[str, ...]
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False

    def check(self) -> None:
        """``UsageError`` for a server that would send passwords in the clear."""
        if not self.names:
            hint = "say it with --name, such as --name notes.example.org"
            raise UsageError("under which name will people reach this server?", hint=hint)
        if self.behind_proxy:
            return
        if self.certificate is None or self.key is None:
            raise UsageError(
                "several people need TLS",
                hint="give --tls-cert and --tls-key, or --behind-proxy if a proxy encrypts",
            )
        for file in (self.certificate, self.key):
            if not file.is_file():
                raise UsageError(f"{file}: there is no such file")

    def rules(self, port: int) -> Rules:
        """Browsers leave the port out where it is the usual one, or the proxy's."""
        with_port = (f"{name}:{port}" for name in self.names)
        hosts = frozenset((*self.names, *with_port))
        return Rules(hosts, scheme="https", cookie=COOKIE, login_page="/login")

    @property
    def options(self) -> dict[str, Any]:
        if self.behind_proxy:
            # Only a proxy on this machine is believed about who it speaks for.
            return {"proxy_headers": True, "forwarded_allow_ips": "127.0.0.1"}
        return {
            "ssl_certfile": str(self.certificate),
            "ssl_keyfile": str(self.key),
            "proxy_headers": False,
        }


async def check_accounts(accounts: Accounts) -> None:
    """``UsageError`` where nobody could log in."""
    if not any(user.has_password and user.role == "admin" for user in await accounts.users()):
        hint = "`sill users add NAME --role admin` asks for one"
        raise UsageError("there is no admin with a password yet", hint=hint)


def limits_of(settings: Settings) -> PerUser:
    """What the settings grant to each user."""
    turns = settings.get("users.turns_per_minute", float) or PerUser().turns.per_minute
    return PerUser(
        turns=Rate(turns, burst=max(1.0, turns)),
        streams=settings.get("users.streams", int) or PerUser().streams,
    )


def shared_app(
    service: Service, rules: Rules, per_user: PerUser | None = None, look_every: float = 2.0
) -> Guard:
    """The whole application for several people."""
    accounts = accounts_of(service.store)
    door = Door(accounts)

    async def may_ask(owner: str) -> bool:
        user = await accounts.user(owner)
        return user is not None and user.may("contributor")

    watched = Watched(
        Streams(create_app(service, rules=rules, door=door)),
        accounts,
        still=door.still,
        may_ask=may_ask,
        per_user=per_user or limits_of(service.ground.settings),
        look_every=look_every,
        turns=service.turns,
    )
    return Guard(watched, rules, door.authenticate)


def open_shared_site(
    service: Service, public: Public, listening: socket.socket, *, grace: float = GRACE_SECONDS
) -> Site:
    """The server for several people on a socket that is bound; it answers when ``serve`` runs."""
    host, port = listening.getsockname()[:2]
    rules = public.rules(port)
    config = uvicorn.Config(
        shared_app(service, rules),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=END_SECONDS,
        ws="none",
        **public.options,
    )
    address = Address(port, host)
    return Site(address, Sessions(), rules, Server(config, service, grace), listening)
