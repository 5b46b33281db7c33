"""Users, tokens, sessions and limits in the database. They belong to the server, not to an owner."""

import secrets
from collections.abc import Sequence

from ...core.access import ROLES, ApiToken, Bucket, Rate, Role, User, take
from ...errors import UsageError
from .database import Database, Row, Transaction

DAY_MS = 86_400_000
USED_EVERY_MS = 60_000  # a token's last use is written down no more often

_USER = "users.id, users.name, users.role, users.password <> '', users.created"
_TOKEN = "id, user_id, label, created, used, expires"


class DatabaseAccounts:
    """``ports.Accounts`` over either database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- Users -----------------------------------------------------------------------------------

    async def add_user(self, name: str, role: Role, password: str = "") -> User:
        id = secrets.token_hex(16)

        async def script(t: Transaction) -> User:
            added = await t.row(
                "INSERT INTO users (id, name, role, password, created)"
                f" VALUES (?, ?, ?, ?, {t.now}) ON CONFLICT (name) DO NOTHING RETURNING {_USER}",
                id,
                name,
                role,
                password,
            )
            if added is None:
                raise UsageError(f"there is a user {name} already", hint="choose another name")
            return _user(added)

        return await self._database.write(script)

    async def users(self) -> list[User]:
        rows = await self._database.read(
            lambda t: t.rows(f"SELECT {_USER} FROM users ORDER BY name")
        )
        return [_user(row) for row in rows]

    async def user(self, id: str) -> User | None:
        row = await self._database.read(
            lambda t: t.row(f"SELECT {_USER} FROM users WHERE id = ?", id)
        )
        return None if row is None else _user(row)

    async def named(self, name: str) -> tuple[User, str] | None:
        row = await self._database.read(
            lambda t: t.row(f"SELECT {_USER}, password FROM users WHERE name = ?", name)
        )
        return None if row is None else (_user(row), row[5])

    async def change_user(
        self, id: str, *, role: Role | None = None, password: str | None = None
    ) -> None:
        async def script(t: Transaction) -> None:
            if role is not None:
                await t.run("UPDATE users SET role = ? WHERE id = ?", role, id)
            if password is not None:
                await t.run("UPDATE users SET password = ? WHERE id = ?", password, id)
                await t.run("DELETE FROM sessions WHERE user_id = ?", id)

        await self._database.write(script)

    async def remove_user(self, id: str) -> None:
        async def script(t: Transaction) -> None:
            for table in ("sessions", "tokens", "rates", "places"):
                await t.run(f"DELETE FROM {table} WHERE user_id = ?", id)
            await t.run("DELETE FROM users WHERE id = ?", id)

        await self._database.write(script)

    # --- Tokens ----------------------------------------------------------------------------------

    async def add_token(
        self, user: str, hashed: str, label: str, expires_ms: int | None = None
    ) -> ApiToken:
        id = secrets.token_hex(8)

        async def script(t: Transaction) -> ApiToken:
            row = await t.row(
                "INSERT INTO tokens (id, user_id, hash, label, created, expires)"
                f" VALUES (?, ?, ?, ?, {t.now}, ?) RETURNING {_TOKEN}",
                id,
                user,
                hashed,
                label,
                expires_ms,
            )
            assert row is not None
            return ApiToken(*row)

        return await self._database.write(script)

    async def tokens(self, user: str) -> list[ApiToken]:
        sql = f"SELECT {_TOKEN} FROM tokens WHERE user_id = ? ORDER BY created, id"
        return [ApiToken(*row) for row in await self._database.read(lambda t: t.rows(sql, user))]

    async def remove_token(self, id: str) -> bool:
        return bool(
            await self._database.write(lambda t: t.run("DELETE FROM tokens WHERE id = ?", id))
        )

    async def bearer(self, hashed: str) -> User | None:
        async def script(t: Transaction) -> Row | None:
            return await t.row(
                f"SELECT {_USER}, COALESCE(tokens.used, 0) < {t.now} - {USED_EVERY_MS}"
                " FROM tokens JOIN users ON users.id = tokens.user_id WHERE tokens.hash = ?"
                f" AND (tokens.expires IS NULL OR tokens.expires > {t.now})",
                hashed,
            )

        row = await self._database.read(script)
        if row is None:
            return None
        if row[5]:
            await self._database.write(
                lambda t: t.run(f"UPDATE tokens SET used = {t.now} WHERE hash = ?", hashed),
                lasting=False,
            )
        return _user(row)

    # --- Sessions --------------------------------------------------------------------------------

    async def add_session(self, user: str, hashed: str, expires_ms: int) -> None:
        async def script(t: Transaction) -> None:
            await t.run(f"DELETE FROM sessions WHERE expires <= {t.now}")
            # A rate that nobody used for a day is as full as a new one.
            await t.run(f"DELETE FROM rates WHERE moment < {t.now} - {DAY_MS}")
            await t.run(
                "INSERT INTO sessions (hash, user_id, expires) VALUES (?, ?, ?)",
                hashed,
                user,
                expires_ms,
            )

        await self._database.write(script)

    async def session(self, hashed: str) -> User | None:
        row = await self._database.read(
            lambda t: t.row(
                f"SELECT {_USER} FROM sessions JOIN users ON users.id = sessions.user_id"
                f" WHERE sessions.hash = ? AND sessions.expires > {t.now}",
                hashed,
            )
        )
        return None if row is None else _user(row)

    async def end_session(self, hashed: str) -> None:
        await self._database.write(lambda t: t.run("DELETE FROM sessions WHERE hash = ?", hashed))

    async def end_sessions(self, user: str) -> None:
        await self._database.write(lambda t: t.run("DELETE FROM sessions WHERE user_id = ?", user))

    # --- Limits ----------------------------------------------------------------------------------

    async def take(self, user: str, what: str, rate: Rate) -> int:
        async def script(t: Transaction) -> int:
            # The row is written first, so that whoever comes at the same time waits for it.
            await t.run(
                "INSERT INTO rates (user_id, what, amount, moment)"
                f" VALUES (?, ?, ?, {t.now}) ON CONFLICT (user_id, what) DO UPDATE SET what = excluded.what",
                user,
                what,
                float(rate.burst),
            )
            row = await t.row(
                f"SELECT amount, moment, {t.now} FROM rates WHERE user_id = ? AND what = ?",
                user,
                what,
            )
            assert row is not None
            taken = take(Bucket(row[0], row[1]), rate, row[2])
            await t.run(
                "UPDATE rates SET amount = ?, moment = ? WHERE user_id = ? AND what = ?",
                taken.bucket.left,
                taken.bucket.at_ms,
                user,
                what,
            )
            return taken.wait_ms

        return await self._database.write(script, lasting=False)

    async def enter(self, user: str, what: str, most: int, lasts_ms: int) -> str | None:
        place = secrets.token_hex(16)

        async def script(t: Transaction) -> str | None:
            if not t.is_sqlite:
                # Two at once must not both count the same free place.
                await t.rows("SELECT pg_advisory_xact_lock(hashtext(?))", f"{user}/{what}")
            await t.run(f"DELETE FROM places WHERE expires <= {t.now}")
            row = await t.row(
                "SELECT COUNT(*) FROM places WHERE user_id = ? AND what = ?", user, what
            )
            if row is None or row[0] >= most:
                return None
            await t.run(
                "INSERT INTO places (id, user_id, what, expires)"
                f" VALUES (?, ?, ?, {t.now} + {int(lasts_ms)})",
                place,
                user,
                what,
            )
            return place

        return await self._database.write(script, lasting=False)

    async def taken(self, whats: Sequence[str]) -> set[str]:
        if not whats:
            return set()
        marks = ", ".join("?" for _ in whats)
        rows = await self._database.read(
            lambda t: t.rows(
                f"SELECT DISTINCT what FROM places WHERE what IN ({marks}) AND expires > {t.now}",
                *whats,
            )
        )
        return {row[0] for row in rows}

    async def renew(self, place: str, lasts_ms: int) -> None:
        await self._database.write(
            lambda t: t.run(
                f"UPDATE places SET expires = {t.now} + {int(lasts_ms)} WHERE id = ?", place
            ),
            lasting=False,
        )

    async def leave(self, place: str) -> None:
        await self._database.write(
            lambda t: t.run("DELETE FROM places WHERE id = ?", place), lasting=False
        )


def _user(row: Row) -> User:
    id, name, role, has_password, created = row[:5]
    assert role in ROLES
    return User(id, name, role, bool(has_password), created)
