"""Who may do what, and how much of it."""

import re
from dataclasses import dataclass, replace
from typing import Literal, get_args

Role = Literal["viewer", "contributor", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._@-]{0,62}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class User:
    """``id`` owns what they store; names can be given to somebody else later, ids cannot."""

    id: str
    name: str
    role: Role
    has_password: bool = False
    created_ms: int = 0

    def may(self, needed: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(needed)


@dataclass(frozen=True, slots=True)
class ApiToken:
    """What is known of a token that was given out; the token itself is not."""

    id: str
    user: str
    label: str
    created_ms: int = 0
    used_ms: int | None = None
    expires_ms: int | None = None


def user_name(given: str) -> str | None:
    """The name as it is kept; None if it cannot be one."""
    name = given.strip().lower()
    return name if _NAME.fullmatch(name) else None


# --- How much ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rate:
    """So many a minute, and so many at once after a pause."""

    per_minute: float
    burst: float

    @property
    def per_ms(self) -> float:
        return self.per_minute / 60_000


@dataclass(frozen=True, slots=True)
class Bucket:
    """What is left of a rate at a moment."""

    left: float
    at_ms: int


@dataclass(frozen=True, slots=True)
class Taken:
    """The bucket after one more was asked for; ``wait_ms`` is 0 where it was granted."""

    bucket: Bucket
    wait_ms: int


def take(bucket: Bucket | None, rate: Rate, now_ms: int) -> Taken:
    """One more at ``now_ms``, or how long to wait for it. A clock that went back costs nothing."""
    if bucket is None:
        bucket = Bucket(rate.burst, now_ms)
    passed = max(0, now_ms - bucket.at_ms)
    filled = Bucket(min(rate.burst, bucket.left + passed * rate.per_ms), now_ms)
    if filled.left >= 1:
        return Taken(replace(filled, left=filled.left - 1), 0)
    if rate.per_ms <= 0:
        return Taken(filled, 3_600_000)
    return Taken(filled, int((1 - filled.left) / rate.per_ms) + 1)
