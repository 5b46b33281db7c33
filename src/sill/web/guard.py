"""The door: decides about every request before any route sees it, and dresses every answer.

It stands outside the application, covers HTTP and WebSockets, and lets in only what it has a reason to.
The order of its questions is Host, Origin, Sec-Fetch-Site, credentials, and for a write with a cookie that
our own page sent it.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .answers import error_of_gateway, problem_response
from .identity import Identity, attach

REQUESTED_BY = "sill"
SAFE_METHODS = frozenset({"GET", "HEAD"})
MOST_BODY = 4 * 1024 * 1024

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'; require-trusted-types-for 'script'"
)
SANDBOX_POLICY = "sandbox; default-src 'none'"
HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What this server calls itself. ``hosts`` are values of the Host header; ``origins`` belong to them."""

    hosts: frozenset[str]
    scheme: str = "http"
    cookie: str = "sill"
    public: frozenset[str] = frozenset({"/login", "/login.css", "/healthz", "/readyz"})
    most_body: int = MOST_BODY
    login_page: str = ""  # where a person who is not logged in is sent, if there is such a page


def local_rules(port: int) -> Rules:
    """For a server on this machine alone."""
    names = ("127.0.0.1", "localhost", "[::1]")
    return Rules(frozenset(f"{name}:{port}" for name in names), cookie=f"sill_{port}")


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as far as the guard looks at it. Every header is a list: two of a kind are suspicious."""

    kind: str  # http or websocket
    method: str
    path: str
    host: Sequence[str] = ()
    origin: Sequence[str] = ()
    site: Sequence[str] = ()
    mode: Sequence[str] = ()
    authorization: Sequence[str] = ()
    cookie: Sequence[str] = ()
    requested_by: Sequence[str] = ()
    content_type: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    code: str
    message: str
    hint: str = ""


WRONG_HOST = Refusal(421, "wrong_host", "this server does not answer under that name")
CROSS_SITE = Refusal(403, "cross_site", "the request comes from another site's page")
NO_CREDENTIALS = Refusal(
    401,
    "no_credentials",
    "you are not logged in",
    "open the address that `sill serve` printed, or send a token",
)
NOT_OUR_PAGE = Refusal(
    403,
    "cross_site",
    "a write with a cookie must come from Sill's own page",
    f"send X-Requested-By: {REQUESTED_BY} and Content-Type: application/json",
)
NO_ADDRESS = Refusal(404, "not_found", "there is nothing at such an address")
NO_QUERY = Refusal(400, "invalid", "a NUL cannot be part of a query")
TOO_LARGE = Refusal(413, "too_large", "the request is larger than this server takes")


def refuse_stranger(seen: Seen, rules: Rules) -> Refusal | None:
    """Why the request cannot be for us or from us, whoever sent it; None if it may be."""
    if len(seen.host) != 1 or seen.host[0] not in rules.hosts:
        return WRONG_HOST
    ours = f"{rules.scheme}://{seen.host[0]}"
    if seen.origin and list(seen.origin) != [ours]:
        return CROSS_SITE
    if seen.kind == "websocket" and not seen.origin:
        return CROSS_SITE
    if seen.site and list(seen.site) != ["same-origin"]:
        is_typed = (
            seen.kind == "http"
            and seen.method == "GET"
            and list(seen.site) == ["none"]
            and list(seen.mode) == ["navigate"]
        )
        return None if is_typed else CROSS_SITE
    return None


def refuse_forged(seen: Seen) -> Refusal | None:
    """Why a request that is authenticated by a cookie alone may not be our page's; None if it is."""
    if seen.kind == "http" and seen.method in SAFE_METHODS:
        return None
    if seen.kind == "websocket":
        return None  # its origin was checked
    is_json = [value.split(";")[0].strip().lower() for value in seen.content_type]
    is_ours = (
        bool(seen.origin or seen.site)
        and list(seen.requested_by) == [REQUESTED_BY]
        and is_json == ["application/json"]
    )
    return None if is_ours else NOT_OUR_PAGE


@dataclass(frozen=True, slots=True)
class Shown:
    """What somebody shows at the door."""

    bearer: str | None = None
    cookie: str | None = None


_BEARER = re.compile(r"[Bb]earer +([A-Za-z0-9._~+/=-]{1,512})")


def shown(seen: Seen, cookie: str) -> Shown:
    """A token outranks a cookie; whatever is there twice or badly written counts as nothing."""
    if seen.authorization:
        found = _BEARER.fullmatch(seen.authorization[0]) if len(seen.authorization) == 1 else None
        return Shown(bearer=found[1] if found else None)
    values = [
        value.strip()
        for header in seen.cookie
        for pair in header.split(";")
        for name, _, value in [pair.partition("=")]
        if name.strip() == cookie
    ]
    return Shown(cookie=values[0] if len(values) == 1 and values[0] else None)


Authenticate = Callable[[Shown], Awaitable[Identity | None]]


@dataclass(slots=True)
class Guard:
    """The application behind its door. ``rules`` may name the port once it is known."""

    app: ASGIApp
    rules: Rules
    authenticate: Authenticate
    sandboxed: tuple[str, ...] = field(default=("/api/v1/raw/",))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] not in ("http", "websocket"):
            return
        dressed = self._dressed(scope, send)
        seen = look(scope)
        refusal = await self._refuse(seen, scope)
        if refusal is None and "\0" in seen.path:
            refusal = NO_ADDRESS
        if refusal is None and b"%00" in scope.get("query_string", b""):
            refusal = NO_QUERY
        if refusal is None and seen.kind == "http" and _announced(scope) > self.rules.most_body:
            refusal = TOO_LARGE
        if refusal is NO_CREDENTIALS and self.rules.login_page and _wants_page(scope):
            await RedirectResponse(self.rules.login_page, 303)(scope, receive, dressed)
            return
        if refusal is not None:
            await _turn_away(refusal, scope, receive, dressed)
            return
        limited = _limited(receive, self.rules.most_body)
        try:
            await self.app(scope, limited, dressed)
        except _TooLarge:
            await _turn_away(TOO_LARGE, scope, receive, dressed)

    async def _refuse(self, seen: Seen, scope: Scope) -> Refusal | None:
        if (stranger := refuse_stranger(seen, self.rules)) is not None:
            return stranger
        if seen.path in self.rules.public:
            return None
        credentials = shown(seen, self.rules.cookie)
        identity = await self.authenticate(credentials)
        if identity is None:
            return NO_CREDENTIALS
        if credentials.bearer is None and (forged := refuse_forged(seen)) is not None:
            return forged
        attach(scope, identity)
        return None

    def _dressed(self, scope: Scope, send: Send) -> Send:
        policy = CONTENT_POLICY
        if scope.get("path", "").startswith(self.sandboxed):
            policy = SANDBOX_POLICY

        async def dress(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                message = {**message, "headers": dressed(message.get("headers", ()), policy)}
            await send(message)

        return dress


def dressed(
    headers: Iterable[tuple[bytes, bytes]], policy: str = CONTENT_POLICY
) -> list[tuple[bytes, bytes]]:
    """With our headers, without any that would open the answer to other sites."""
    own = {name for name, _ in HEADERS} | {b"content-security-policy"}
    kept = [
        (name, value)
        for name, value in headers
        if name.lower() not in own and not name.lower().startswith(b"access-control-")
    ]
    return [*kept, (b"content-security-policy", policy.encode()), *HEADERS]


def look(scope: Scope) -> Seen:
    values: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return Seen(
        kind=scope["type"],
        method=scope.get("method", "GET"),
        path=scope["path"],
        host=values.get("host", ()),
        origin=values.get("origin", ()),
        site=values.get("sec-fetch-site", ()),
        mode=values.get("sec-fetch-mode", ()),
        authorization=values.get("authorization", ()),
        cookie=values.get("cookie", ()),
        requested_by=values.get("x-requested-by", ()),
        content_type=values.get("content-type", ()),
    )


# --- Bodies ---------------------------------------------------------------------------------------


class _TooLarge(Exception):
    pass


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit() and len(value) < 19:
            return int(value)
    return 0


def _limited(receive: Receive, most: int) -> Receive:
    taken = 0

    async def take() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > most:
                raise _TooLarge
        return message

    return take


async def _turn_away(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.code})
        return
    theirs = error_of_gateway(scope["path"], refusal.code, refusal.message, refusal.hint)
    await problem_response(
        refusal.status,
        refusal.code,
        refusal.message,
        refusal.hint,
        page=_wants_page(scope),
        **theirs,
    )(scope, receive, send)


def _wants_page(scope: Scope) -> bool:
    """A person with a browser gets a sentence, a program gets JSON."""
    accepts = [value for name, value in scope["headers"] if name.lower() == b"accept"]
    return bool(accepts) and b"text/html" in accepts[0]
