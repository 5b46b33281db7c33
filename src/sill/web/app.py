"""The application behind the guard: one list of routers, one way to fail."""

from functools import partial
from typing import Any

from fastapi import APIRouter, FastAPI

from .. import __version__
from ..app.service import Service
from . import (
    chats,
    editor,
    editor_ops,
    editor_text,
    files,
    gateway,
    mcp,
    merges,
    metrics,
    notes,
    page_references,
    pages,
    proposals,
    turns,
    users,
    workspace,
)
from .answers import handle_errors
from .guard import Rules, local_rules
from .openapi import describe
from .schemas.common import Problem
from .sessions import Sessions

# Every router of the server, in the order in which paths are looked up. `pages` has the page and comes last.
ROUTERS: list[APIRouter] = [
    gateway.router,
    mcp.router,
    metrics.router,
    chats.router,
    turns.router,
    files.router,
    notes.router,
    page_references.router,
    proposals.router,
    merges.router,
    editor.router,
    editor_ops.router,
    editor_text.router,
    workspace.router,
    pages.router,
]

_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": text}
    for code, text in {
        400: "not readable",
        401: "not logged in",
        403: "not allowed, or sent by another site",
        404: "no such thing",
        409: "busy, or changed meanwhile",
        413: "too large",
        421: "another server is meant",
        422: "cannot be",
        503: "not now",
    }.items()
}


def create_app(
    service: Service,
    sessions: Sessions | None = None,
    rules: Rules | None = None,
    door: users.Door | None = None,
) -> FastAPI:
    """The API and the page over ``service``. Put it behind a ``Guard``: it lets everybody in itself.

    With a ``door`` several people share it, each by name and password.
    """
    app = FastAPI(
        title="Sill",
        version=__version__,
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        responses=_ERRORS,
    )
    app.state.service = service
    app.state.sessions = sessions or Sessions()
    app.state.rules = rules or local_rules(0)
    app.state.door, app.state.multi_user = door, door is not None
    app.openapi = partial(describe, app)  # type: ignore[method-assign]
    metrics.observe(service.turns)
    handle_errors(app)
    for router in ROUTERS if door is None else [users.router, *ROUTERS]:
        app.include_router(router)
    return app
