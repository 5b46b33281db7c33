"""``sill users``: who may use a shared server, and with what."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from ..core.access import ROLES, Role, User
from ..errors import TurnInProgress, UsageError
from .common import run_async, settled
from .screen import plain

if TYPE_CHECKING:
    from ..adapters.store.accounts import DatabaseAccounts
    from ..ports import Store

_DATABASE = click.option("--db", "database", metavar="PATH", help="Where chats are kept.")
_ROLE = click.Choice(ROLES)
LOOKS, LOOK_SECONDS = 20, 0.5


@click.group("users")
def command() -> None:
    """Add, list and remove the people who may use a shared server (`sill serve --multi-user`).

    Viewers look; contributors also chat and edit; admins may do everything.
    """


@command.command("add")
@click.argument("name")
@click.option("--role", type=_ROLE, default="contributor", show_default=True)
@click.option("--no-password", is_flag=True, help="Tokens only: nobody can log in as them.")
@_DATABASE
def add(name: str, role: Role, no_password: bool, database: str | None) -> int:
    """Add somebody; asks for their password."""
    password = None if no_password else _asked()
    user = run_async(_add(name, role, password, database))
    click.echo(f"{plain(user.name)} has the role {user.role} now.")
    return 0


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per user.")
@_DATABASE
def list_(as_json: bool, database: str | None) -> int:
    """Who there is, and how many tokens they have."""
    for user, tokens in run_async(_list(database)):
        if as_json:
            click.echo(json.dumps({**asdict(user), "tokens": tokens}))
        else:
            how = "password" if user.has_password else "no password"
            word = "token" if tokens == 1 else "tokens"
            click.echo(f"{plain(user.name):24} {user.role:12} {how}, {tokens} {word}")
    return 0


@command.command("remove")
@click.argument("name")
@click.option("--with-chats", is_flag=True, help="Delete their chats, too.")
@_DATABASE
def remove(name: str, with_chats: bool, database: str | None) -> int:
    """Send somebody away.

    Their sessions and tokens end at once, what they are reading right now within 5 seconds.
    """
    deleted = run_async(_remove(name, with_chats, database))
    chats = f", with {deleted} chat{'s' * (deleted != 1)}" if with_chats else ""
    click.echo(f"{plain(name)} is removed{chats}.")
    return 0


@command.command("role")
@click.argument("name")
@click.argument("role", type=_ROLE)
@_DATABASE
def role(name: str, role: Role, database: str | None) -> int:
    """Change what somebody may do, from their next request on."""
    run_async(_change(name, database, role=role))
    click.echo(f"{plain(name)} has the role {role} now.")
    return 0


@command.command("password")
@click.argument("name")
@_DATABASE
def password(name: str, database: str | None) -> int:
    """Set somebody's password; all their sessions end."""
    run_async(_change(name, database, password=_asked()))
    click.echo(f"{plain(name)} has a new password and is logged out everywhere.")
    return 0


@command.command("token")
@click.argument("name")
@click.option("--label", default="", help="What it is for.")
@click.option("--days", type=click.FloatRange(min=0.001), help="How long it works; else for good.")
@click.option("--list", "listing", is_flag=True, help="List their tokens instead.")
@click.option("--revoke", metavar="ID", help="Take one back instead.")
@_DATABASE
def token(
    name: str,
    label: str,
    days: float | None,
    listing: bool,
    revoke: str | None,
    database: str | None,
) -> int:
    """Make a token for programs and print it, this once."""
    if revoke is not None:
        run_async(_revoke(name, revoke, database))
        click.echo(f"{plain(revoke)} is taken back.")
    elif listing:
        for line in run_async(_tokens(name, database)):
            click.echo(plain(line))
    else:
        click.echo(run_async(_give(name, label, days, database)))
    return 0


def _asked() -> str:
    """From the terminal, twice; from a pipe, one line."""
    stream = sys.stdin
    if not stream.isatty():
        return stream.readline().rstrip("\r\n")
    given: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return given


@asynccontextmanager
async def _opened(database: str | None) -> AsyncIterator[tuple["DatabaseAccounts", "Store"]]:
    from ..app.accounts import accounts_of
    from ..app.build import open_storage

    async with open_storage(settled({"database": database}).settings) as store:
        yield accounts_of(store), store


async def _add(name: str, role: Role, password: str | None, database: str | None) -> User:
    from ..app.accounts import checked_name, hash_password

    checked = checked_name(name)
    hashed = "" if password is None else await hash_password(password)
    async with _opened(database) as (accounts, _):
        return await accounts.add_user(checked, role, hashed)


async def _list(database: str | None) -> list[tuple[User, int]]:
    async with _opened(database) as (accounts, _):
        return [(user, len(await accounts.tokens(user.id))) for user in await accounts.users()]


async def _remove(name: str, with_chats: bool, database: str | None) -> int:
    from ..adapters.store import DatabaseStore
    from ..app.accounts import found

    async with _opened(database) as (accounts, store):
        user = await found(accounts, name)
        await accounts.remove_user(user.id)
        if not with_chats:
            return 0
        assert isinstance(store, DatabaseStore)
        theirs = store.as_owner(user.id)
        chats = await theirs.chats()
        for chat in chats:
            await _deleted(theirs, chat.id)
        return len(chats)


async def _deleted(store: "Store", chat: str) -> None:
    """A server that is writing an answer in it stops that by itself, now that nobody may read it."""
    import asyncio

    for _ in range(LOOKS):
        with suppress(TurnInProgress):
            await store.delete_chat(chat)
            return
        await asyncio.sleep(LOOK_SECONDS)
    await store.delete_chat(chat)


async def _change(name: str, database: str | None, **what: Any) -> None:
    from ..app.accounts import found, hash_password

    if (password := what.get("password")) is not None:
        what["password"] = await hash_password(password)
    async with _opened(database) as (accounts, _):
        await accounts.change_user((await found(accounts, name)).id, **what)


async def _give(name: str, label: str, days: float | None, database: str | None) -> str:
    from ..app.accounts import found, give_token

    async with _opened(database) as (accounts, _):
        token, _kept = await give_token(accounts, await found(accounts, name), label, days)
        return token


async def _tokens(name: str, database: str | None) -> list[str]:
    from ..app.accounts import found

    async with _opened(database) as (accounts, _):
        tokens = await accounts.tokens((await found(accounts, name)).id)
    return [
        f"{one.id}  made {_day(one.created_ms)}, {_used(one.used_ms)}{_ends(one.expires_ms)}  {one.label}"
        for one in tokens
    ]


async def _revoke(name: str, id: str, database: str | None) -> None:
    from ..app.accounts import found

    async with _opened(database) as (accounts, _):
        user = await found(accounts, name)
        known = [one.id for one in await accounts.tokens(user.id)]
        if id not in known or not await accounts.remove_token(id):
            hint = f"`sill users token {user.name} --list` shows them"
            raise UsageError(f"{name} has no token {id}", hint=hint)


def _day(moment_ms: int) -> str:
    return datetime.fromtimestamp(moment_ms / 1000).strftime("%Y-%m-%d")


def _used(moment_ms: int | None) -> str:
    return "never used" if moment_ms is None else f"last used {_day(moment_ms)}"


def _ends(moment_ms: int | None) -> str:
    return "" if moment_ms is None else f", until {_day(moment_ms)}"
