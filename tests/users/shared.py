"""A server for several people, called without sockets, with an endpoint that does as it is told."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from sill.app.accounts import accounts_of, give_token, hash_password
from sill.app.build import Ground
from sill.app.service import Service, open_service
from sill.core.access import Role, User
from sill.ports import Accounts
from sill.settings import load
from sill.web.guard import Guard
from sill.web.shared import Public, shared_app
from sill.web.watch import PerUser

NAME = "notes.test"
PASSWORD = "correct horse battery"
HTTPS = f"https://{NAME}"


@dataclass(slots=True)
class Shared:
    app: Guard
    service: Service
    accounts: Accounts
    users: Mapping[str, User]
    tokens: Mapping[str, str]

    def client(self, name: str | None = None, **headers: str) -> httpx.AsyncClient:
        """As a program with this user's token; without a name as a stranger."""
        if name is not None:
            headers["authorization"] = f"Bearer {self.tokens[name]}"
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url=HTTPS, headers=headers, timeout=120)


@asynccontextmanager
async def shared(
    folder: Path,
    people: Mapping[str, Role],
    flags: Mapping[str, object],
    per_user: PerUser | None = None,
    look_every: float = 0.05,
) -> AsyncIterator[Shared]:
    vault = folder / "vault"
    vault.mkdir(exist_ok=True)
    given = {"database": str(folder / "sill.db"), **flags}
    settings = load(user_file=folder / "none.toml", project_file=None, environment={}, flags=given)
    async with open_service(Ground(settings, vault, lambda _: None)) as service:
        accounts = accounts_of(service.store)
        users, tokens = {}, {}
        hashed = await hash_password(PASSWORD)
        for name, role in people.items():
            users[name] = await accounts.add_user(name, role, hashed)
            tokens[name], _ = await give_token(accounts, users[name], "test")
        rules = Public((NAME,), behind_proxy=True).rules(443)
        app = shared_app(service, rules, per_user, look_every)
        yield Shared(app, service, accounts, users, tokens)


def run(coroutine):
    return asyncio.run(coroutine)
