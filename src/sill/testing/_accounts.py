"""Accounts in memory."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..core.access import ApiToken, Bucket, Rate, Role, User, take
from ..errors import UsageError


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class MemoryAccounts:
    """``ports.Accounts`` for tests; ``clock`` is in milliseconds."""

    clock: Callable[[], int] = _now_ms
    _users: dict[str, User] = field(default_factory=dict)
    _passwords: dict[str, str] = field(default_factory=dict)
    _tokens: dict[str, ApiToken] = field(default_factory=dict)  # by hash
    _sessions: dict[str, tuple[str, int]] = field(default_factory=dict)
    _rates: dict[tuple[str, str], Bucket] = field(default_factory=dict)
    _places: dict[str, tuple[str, str, int]] = field(default_factory=dict)

    async def add_user(self, name: str, role: Role, password: str = "") -> User:
        if any(user.name == name for user in self._users.values()):
            raise UsageError(f"there is a user {name} already", hint="choose another name")
        user = User(secrets.token_hex(16), name, role, bool(password), self.clock())
        self._users[user.id] = user
        self._passwords[user.id] = password
        return user

    async def users(self) -> list[User]:
        return sorted(self._users.values(), key=lambda user: user.name)

    async def user(self, id: str) -> User | None:
        return self._users.get(id)

    async def named(self, name: str) -> tuple[User, str] | None:
        found = next((user for user in self._users.values() if user.name == name), None)
        return None if found is None else (found, self._passwords[found.id])

    async def change_user(
        self, id: str, *, role: Role | None = None, password: str | None = None
    ) -> None:
        user = self._users.get(id)
        if user is None:
            return
        if role is not None:
            user = replace(user, role=role)
        if password is not None:
            user = replace(user, has_password=bool(password))
            self._passwords[id] = password
            await self.end_sessions(id)
        self._users[id] = user

    async def remove_user(self, id: str) -> None:
        await self.end_sessions(id)
        self._tokens = {h: token for h, token in self._tokens.items() if token.user != id}
        self._places = {place: row for place, row in self._places.items() if row[0] != id}
        self._users.pop(id, None)

    async def add_token(
        self, user: str, hashed: str, label: str, expires_ms: int | None = None
    ) -> ApiToken:
        token = ApiToken(secrets.token_hex(8), user, label, self.clock(), None, expires_ms)
        self._tokens[hashed] = token
        return token

    async def tokens(self, user: str) -> list[ApiToken]:
        return [token for token in self._tokens.values() if token.user == user]

    async def remove_token(self, id: str) -> bool:
        left = {hashed: token for hashed, token in self._tokens.items() if token.id != id}
        was_there, self._tokens = len(left) < len(self._tokens), left
        return was_there

    async def bearer(self, hashed: str) -> User | None:
        token = self._tokens.get(hashed)
        if token is None or (token.expires_ms is not None and token.expires_ms <= self.clock()):
            return None
        self._tokens[hashed] = replace(token, used_ms=self.clock())
        return self._users.get(token.user)

    async def add_session(self, user: str, hashed: str, expires_ms: int) -> None:
        self._sessions[hashed] = (user, expires_ms)

    async def session(self, hashed: str) -> User | None:
        user, expires = self._sessions.get(hashed, ("", 0))
        return self._users.get(user) if expires > self.clock() else None

    async def end_session(self, hashed: str) -> None:
        self._sessions.pop(hashed, None)

    async def end_sessions(self, user: str) -> None:
        self._sessions = {h: row for h, row in self._sessions.items() if row[0] != user}

    async def take(self, user: str, what: str, rate: Rate) -> int:
        taken = take(self._rates.get((user, what)), rate, self.clock())
        self._rates[user, what] = taken.bucket
        return taken.wait_ms

    async def enter(self, user: str, what: str, most: int, lasts_ms: int) -> str | None:
        now = self.clock()
        self._places = {place: row for place, row in self._places.items() if row[2] > now}
        if sum(row[:2] == (user, what) for row in self._places.values()) >= most:
            return None
        place = secrets.token_hex(16)
        self._places[place] = (user, what, now + lasts_ms)
        return place

    async def taken(self, whats: Sequence[str]) -> set[str]:
        now = self.clock()
        return {
            what for _, what, expires in self._places.values() if what in whats and expires > now
        }

    async def renew(self, place: str, lasts_ms: int) -> None:
        if place in self._places:
            user, what, _ = self._places[place]
            self._places[place] = (user, what, self.clock() + lasts_ms)

    async def leave(self, place: str) -> None:
        self._places.pop(place, None)
