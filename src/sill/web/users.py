"""Several people, one server: who comes in, and what is taken from them again at once."""

import secrets
import time
from dataclasses import dataclass
from html import escape
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, Response

from ..app.accounts import digest, is_password
from ..core.access import Rate, User, user_name
from ..ports import Accounts
from .depend import Who
from .guard import Shown
from .identity import Identity
from .schemas.common import Done
from .sessions import SESSION_SECONDS, logged_in

LOGIN_RATE = Rate(per_minute=5, burst=5)
MOST_FORM = 4_096  # bytes
WRONG = "That name and password do not go together."
SLOWER = "Too many tries: wait a minute."


@dataclass(frozen=True, slots=True)
class Door:
    """Looks everybody up anew every time, so that who was sent away stays away."""

    accounts: Accounts

    async def authenticate(self, shown: Shown) -> Identity | None:
        if shown.bearer is not None:
            hashed = digest(shown.bearer)
            return _identity(await self.accounts.bearer(hashed), "bearer", hashed)
        if shown.cookie is not None:
            hashed = digest(shown.cookie)
            return _identity(await self.accounts.session(hashed), "cookie", hashed)
        return None

    async def still(self, identity: Identity) -> bool:
        """Whether they may still be what they were when they came in."""
        match identity.via:
            case "bearer":
                user = await self.accounts.bearer(identity.session)
            case "cookie":
                user = await self.accounts.session(identity.session)
        return user is not None and user.id == identity.owner and user.may(identity.role)

    async def login(self, name: str, password: str) -> str | None:
        """The cookie of a new session; None if the two do not go together."""
        known = await self.accounts.named(user_name(name) or "")
        hashed = known[1] if known else ""
        if not await is_password(hashed, password) or known is None:
            return None
        cookie = secrets.token_urlsafe(32)
        expires = round((time.time() + SESSION_SECONDS) * 1000)
        await self.accounts.add_session(known[0].id, digest(cookie), expires)
        return cookie

    async def may_try(self, name: str, address: str) -> bool:
        """At most so many tries a minute from one address, and for one account."""
        for what in (f"from:{digest(address)}", f"name:{digest(user_name(name) or '')}"):
            if await self.accounts.take(f"login:{what}", "logins", LOGIN_RATE):
                return False
        return True


def _identity(user: User | None, via: str, hashed: str) -> Identity | None:
    if user is None:
        return None
    return Identity(user.id, user.role, "bearer" if via == "bearer" else "cookie", hashed)


# --- The page ------------------------------------------------------------------------------------

# Without a referrer of its own a browser says that a form comes from nowhere, and is turned away.
_FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sill</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/login.css">
<link rel="icon" href="data:,"><meta name="referrer" content="same-origin">
<main><h1>Sill</h1>{problem}
<form method="post" action="/login">
<p><label>Name <input name="name" autocomplete="username" required autofocus></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Log in</button></p></form></main></html>"""
# Sent to everybody, so it stands here and not among the files of the page.
_STYLE = """:root { color-scheme: light dark; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#faf9f6, #171a18);
  color: light-dark(#1d2320, #e7e9e6); }
main { max-width: 20rem; margin: 15vh auto 0; padding: 1.5rem; }
h1 { font-size: 1.4rem; }
label { display: grid; gap: 0.25rem; }
input, button { font: inherit; color: inherit; padding: 0.4rem 0.6rem; border-radius: 6px;
  border: 1px solid light-dark(#8b8a80, #7d857f); background: light-dark(#fff, #1e2220); }
button { border: 0; background: light-dark(#2b5f50, #7cc4ab); color: light-dark(#fff, #0e1a15); }
:focus-visible { outline: 2px solid light-dark(#1a73c8, #7ab8f5); outline-offset: 1px; }
[role=alert] { color: light-dark(#a3261d, #f2958b); }
"""

router = APIRouter()


async def _door(request: Request) -> Door:
    door = request.app.state.door
    assert isinstance(door, Door)
    return door


TheDoor = Annotated[Door, Depends(_door)]


@router.get("/login", include_in_schema=False)
async def login_page() -> Response:
    return _page()


@router.get("/login.css", include_in_schema=False)
async def login_style() -> Response:
    return Response(_STYLE, media_type="text/css")


@router.post("/login", include_in_schema=False)
async def login(request: Request, door: TheDoor) -> Response:
    """Name and password for a cookie."""
    body = await request.body()
    fields = parse_qs(body[:MOST_FORM].decode(errors="replace"), keep_blank_values=True)
    name, password = (fields.get(key, [""])[0] for key in ("name", "password"))
    address = request.client.host if request.client else ""
    if not await door.may_try(name, address):
        return _page(SLOWER, 429, {"retry-after": "60"})
    cookie = await door.login(name, password)
    if cookie is None:
        return _page(WRONG, 401)
    return logged_in(request.app.state.rules, cookie)


@router.post("/api/v1/logout", tags=["session"])
async def logout(identity: Who, door: TheDoor) -> Done:
    """End this session, for good."""
    await door.accounts.end_session(identity.session)
    return Done()


def _page(problem: str = "", status: int = 200, headers: dict[str, str] | None = None) -> Response:
    said = f'<p role="alert">{escape(problem)}</p>' if problem else ""
    return HTMLResponse(_FORM.format(problem=said), status, headers)
