"""The page itself, logging in, and whether the server lives."""

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, HTMLResponse, Response

from .. import __version__
from .answers import PLAIN_PAGE, not_found, problem_response
from .depend import TheDesk, TheService, Who
from .guard import REQUESTED_BY
from .schemas.common import Done
from .schemas.workspace import Health, Readiness, Session
from .sessions import Sessions, logged_in

STATIC = Path(__file__).parent / "static"
NOT_BUILT = (
    f"{PLAIN_PAGE}<p>The server runs, but its page is not built. "
    "In a checkout, <code>make page</code> builds it; the API is there all the same.</p>"
)
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}

router = APIRouter()


@router.get("/healthz", tags=["operations"])
async def health() -> Health:
    """The process lives."""
    return Health()


@router.get("/readyz", tags=["operations"], responses={503: {"model": Readiness}})
async def readiness(request: Request, service: TheService, response: Response) -> Readiness:
    """It can work: the store answers, the model is there or starting, and it is not shutting down."""
    store = await service.store_state()
    model = service.desk().lazy().state
    ready = store == "ok" and model != "failed" and not service.turns.is_closing
    response.status_code = 200 if ready else 503
    return Readiness(ready=ready, store=store, model=model, streams=service.turns.in_flight)


@router.get("/login", include_in_schema=False)
async def login(request: Request, once: str = "") -> Response:
    """The address that was printed: works once, leaves a cookie, and goes to the page."""
    sessions, rules = request.app.state.sessions, request.app.state.rules
    assert isinstance(sessions, Sessions)
    cookie = sessions.enter(once)
    if cookie is None:
        hint = "`sill serve` prints a new one"
        return problem_response(
            401, "no_credentials", "this address was used already, or is too old", hint, page=True
        )
    return logged_in(rules, cookie)


@router.get("/api/v1/session", tags=["session"])
async def session(request: Request, identity: Who, desk: TheDesk) -> Session:
    """Who you are, and what this server is."""
    return Session(
        owner=identity.owner,
        role=identity.role,
        workspace=desk.folder.name,
        version=__version__,
        multi_user=bool(getattr(request.app.state, "multi_user", False)),
        requested_by=REQUESTED_BY,
    )


@router.post("/api/v1/logout", tags=["session"])
async def logout(request: Request, identity: Who) -> Done:
    """Forget this browser's session."""
    sessions = request.app.state.sessions
    assert isinstance(sessions, Sessions)
    sessions.leave(identity)
    return Done()


@router.get("/", include_in_schema=False)
async def page() -> Response:
    index = STATIC / "index.html"
    if not index.is_file():
        return HTMLResponse(NOT_BUILT)
    return FileResponse(index, media_type=_TYPES[".html"])


@router.get("/assets/{path:path}", include_in_schema=False)
async def asset(path: str) -> Response:
    """A file of the built page, and nothing beside it."""
    return _built(f"assets/{path}")


@router.get("/{name}.{suffix}", include_in_schema=False)
async def top_asset(name: str, suffix: str) -> Response:
    """The page's icon and manifest."""
    return _built(f"{name}.{suffix}")


def _built(path: str) -> Response:
    found = (STATIC / path).resolve() if "\0" not in path else STATIC
    if not found.is_relative_to(STATIC.resolve()) or not found.is_file():
        raise not_found("file")
    if found.suffix not in _TYPES:
        raise not_found("file")
    return FileResponse(found, media_type=_TYPES[found.suffix])
