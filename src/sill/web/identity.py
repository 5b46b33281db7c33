"""Who is asking. Made by the guard from a cookie or a token, used by every route."""

from dataclasses import dataclass
from typing import Literal

from starlette.requests import Request
from starlette.types import Scope

from ..app.service import LOCAL_OWNER

Role = Literal["viewer", "contributor", "admin"]
RANK: dict[Role, int] = {"viewer": 0, "contributor": 1, "admin": 2}
_KEY = "sill.identity"


@dataclass(frozen=True, slots=True)
class Identity:
    """``owner`` is whose chats are meant. ``session`` is the hash of what was shown, never the thing itself."""

    owner: str
    role: Role
    via: Literal["cookie", "bearer"] = "bearer"
    session: str = ""

    def may(self, role: Role) -> bool:
        return RANK[self.role] >= RANK[role]


LOCAL = Identity(LOCAL_OWNER, "admin")


def attach(scope: Scope, identity: Identity) -> None:
    scope[_KEY] = identity


def identity_in(scope: Scope) -> Identity | None:
    """Whom the guard let in; None on what everybody may see."""
    identity = scope.get(_KEY)
    return identity if isinstance(identity, Identity) else None


def who(request: Request) -> Identity:
    """The identity the guard let in. A route cannot be reached without one."""
    identity = identity_in(request.scope)
    if identity is None:
        raise RuntimeError("a route was reached without passing the guard")
    return identity
