"""Who may come in."""

from collections.abc import Sequence
from typing import Protocol

from ..core.access import ApiToken, Rate, Role, User


class Accounts(Protocol):
    """Users, their tokens and sessions, and what they use up. Secrets are kept as hashes only."""

    async def add_user(self, name: str, role: Role, password: str = "") -> User:
        """``password`` is a hash. ``UsageError`` if there is somebody of that name."""
        ...

    async def users(self) -> list[User]:
        """By name."""
        ...

    async def user(self, id: str) -> User | None: ...

    async def named(self, name: str) -> tuple[User, str] | None:
        """The user of that name and the hash of their password (empty: none is set)."""
        ...

    async def change_user(
        self, id: str, *, role: Role | None = None, password: str | None = None
    ) -> None:
        """What is given is changed. With a new password every session of theirs ends."""
        ...

    async def remove_user(self, id: str) -> None:
        """With every token and session of theirs, at once; what they stored stays theirs."""
        ...

    async def add_token(
        self, user: str, hashed: str, label: str, expires_ms: int | None = None
    ) -> ApiToken: ...

    async def tokens(self, user: str) -> list[ApiToken]: ...

    async def remove_token(self, id: str) -> bool: ...

    async def bearer(self, hashed: str) -> User | None:
        """Whose token this is now, if it has not expired."""
        ...

    async def add_session(self, user: str, hashed: str, expires_ms: int) -> None: ...

    async def session(self, hashed: str) -> User | None:
        """Whose session this is now, if it has not ended."""
        ...

    async def end_session(self, hashed: str) -> None: ...

    async def end_sessions(self, user: str) -> None: ...

    async def take(self, user: str, what: str, rate: Rate) -> int:
        """0 if they may have one more, else how many milliseconds to wait."""
        ...

    async def enter(self, user: str, what: str, most: int, lasts_ms: int) -> str | None:
        """A place among at most ``most`` at once, until it is left or not renewed in time; None if all are taken."""
        ...

    async def taken(self, whats: Sequence[str]) -> set[str]:
        """Those of which somebody holds a place now."""
        ...

    async def renew(self, place: str, lasts_ms: int) -> None: ...

    async def leave(self, place: str) -> None: ...
