"""Passwords and tokens of users: made here, shown once, kept as hashes."""

import asyncio
import functools
import hashlib
import secrets
import time

from ..adapters.store import DatabaseStore
from ..adapters.store.accounts import DatabaseAccounts
from ..core.access import ApiToken, User, user_name
from ..errors import UsageError
from ..ports import Accounts, Store

SHORTEST = 10  # characters of a password
LONGEST = 1_000
TOKEN_PREFIX = "sill_"  # so that scanners for leaked secrets know what they have found


def accounts_of(store: Store) -> DatabaseAccounts:
    """The accounts in the database that keeps the chats."""
    assert isinstance(store, DatabaseStore)
    return DatabaseAccounts(store.database)


def digest(secret: str) -> str:
    """How a token or a cookie is kept. They are random, so one round is enough."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def checked_name(given: str) -> str:
    name = user_name(given)
    if name is None:
        hint = "letters a to z, digits and . _ @ - inside, 64 at most"
        raise UsageError(f"{given!r} cannot be a user's name", hint=hint)
    return name


async def found(accounts: Accounts, name: str) -> User:
    """The user of that name; ``UsageError`` if there is none."""
    known = await accounts.named(checked_name(name))
    if known is None:
        raise UsageError(f"there is no user {name}", hint="`sill users list` shows who there is")
    return known[0]


async def hash_password(password: str) -> str:
    """``UsageError`` for one that is too short to keep anybody out."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise UsageError(f"a password has at least {SHORTEST} characters")
    return await asyncio.to_thread(_hasher().hash, password)


async def is_password(hashed: str, password: str) -> bool:
    """Takes as long for an empty hash as for a wrong password, so that time tells nothing about names."""
    right = await asyncio.to_thread(_verify, hashed or _nobody(), password)
    return right and bool(hashed)


async def give_token(
    accounts: Accounts, user: User, label: str, days: float | None = None
) -> tuple[str, ApiToken]:
    """A new token, which can be shown this once, and what is kept of it."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    expires = None if days is None else round((time.time() + days * 86_400) * 1000)
    return token, await accounts.add_token(user.id, digest(token), label, expires)


@functools.cache
def _hasher():  # type: ignore[no-untyped-def]
    from argon2 import PasswordHasher

    return PasswordHasher()


@functools.cache
def _nobody() -> str:
    """The hash of a password that nobody has."""
    hashed: str = _hasher().hash(secrets.token_urlsafe(32))
    return hashed


def _verify(hashed: str, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return bool(_hasher().verify(hashed, password[: LONGEST + 1]))
    except (VerificationError, InvalidHashError):
        return False
