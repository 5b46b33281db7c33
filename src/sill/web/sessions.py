"""One user on this machine: a login address that works once, a cookie after it, a token for scripts.

Only hashes are kept, in a file for the owner alone, so that a restart does not log anybody out.
"""

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from starlette.responses import RedirectResponse

from ..paths import private, state_dir
from .guard import Rules, Shown
from .identity import LOCAL, Identity

ONCE_SECONDS = 300.0
SESSION_SECONDS = 604_800.0  # a week
MOST_SESSIONS = 100


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def logged_in(rules: Rules, cookie: str) -> RedirectResponse:
    """To the page, with a cookie that no script can read and no other site's page can send."""
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        rules.cookie,
        cookie,
        max_age=round(SESSION_SECONDS),
        path="/",
        httponly=True,
        samesite="strict",
        secure=rules.scheme == "https",
    )
    return answer


def new_secret() -> str:
    """256 bits nobody can guess."""
    return secrets.token_urlsafe(32)


@dataclass(slots=True)
class Sessions:
    """Who was let in, by the hash of what they hold. Times are seconds since 1970."""

    file: Path | None = None
    clock: Callable[[], float] = time.time
    _once: dict[str, float] = field(default_factory=dict)  # hash -> when it ends
    _cookies: dict[str, float] = field(default_factory=dict)
    _token: str = ""

    async def authenticate(self, shown: Shown) -> Identity | None:
        if shown.bearer is not None:
            hash = digest(shown.bearer)
            is_known = bool(self._token) and secrets.compare_digest(hash, self._token)
            return replace(LOCAL, via="bearer", session=hash) if is_known else None
        if shown.cookie is not None:
            hash = digest(shown.cookie)
            is_known = self._cookies.get(hash, 0.0) > self.clock()
            return replace(LOCAL, via="cookie", session=hash) if is_known else None
        return None

    def invite(self) -> str:
        """A secret for one login address."""
        secret = new_secret()
        self._once[digest(secret)] = self.clock() + ONCE_SECONDS
        return secret

    def enter(self, secret: str) -> str | None:
        """The cookie for somebody who shows a login secret for the first time and in time."""
        if self._once.pop(digest(secret), 0.0) <= self.clock():
            return None
        cookie = new_secret()
        self._cookies[digest(cookie)] = self.clock() + SESSION_SECONDS
        newest = sorted(self._cookies.items(), key=lambda item: -item[1])[:MOST_SESSIONS]
        self._cookies = dict(newest)
        self._write()
        return cookie

    def leave(self, identity: Identity) -> None:
        self._cookies.pop(identity.session, None)
        self._write()

    def new_token(self) -> str:
        """A token for scripts, in place of any before; it can be shown this once."""
        token = new_secret()
        self._token = digest(token)
        self._write()
        return token

    def forget_all(self) -> None:
        self._cookies, self._token, self._once = {}, "", {}
        self._write()

    def read(self) -> None:
        """What an earlier server on the same port has kept; a damaged file is as good as none."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            if self.file is not None:
                kept = json.loads(self.file.read_text())
                now = self.clock()
                self._cookies = {
                    str(hash): float(until)
                    for hash, until in kept["cookies"].items()
                    if float(until) > now
                }
                self._token = str(kept["token"])

    def _write(self) -> None:
        if self.file is None:
            return
        text = json.dumps({"cookies": self._cookies, "token": self._token})
        fresh = self.file.with_name(f".{self.file.name}.{secrets.token_hex(8)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(text)
        fresh.replace(self.file)


def open_sessions(port: int, *, rotate: bool = False) -> Sessions:
    """The sessions of a server on this port; ``rotate`` drops all of them."""
    sessions = Sessions(private(state_dir() / "web") / f"sessions-{port}.json")
    sessions.read()
    if rotate:
        sessions.forget_all()
    return sessions
