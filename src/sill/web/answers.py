"""Errors as answers: the same shape for every route, a plain page for people, and no text of anybody in it."""

import logging
from collections.abc import Iterable
from html import escape
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ..app.running import Overloaded
from ..errors import (
    Fenced,
    FileRefused,
    LimitReached,
    LocalModelError,
    ProviderError,
    SettingsError,
    SillError,
    StoreError,
    TurnInProgress,
    UsageError,
    VaultError,
)

log = logging.getLogger("sill.web")
# Without the link a browser would ask for an icon, logged in or not.
PLAIN_PAGE = '<!doctype html><title>Sill</title><link rel="icon" href="data:,">'


def problem_response(
    status: int, code: str, message: str, hint: str = "", *, page: bool = False, **more: Any
) -> Response:
    """``more``: ``needed``, ``available``, ``retry_after`` of the problem."""
    headers = {"retry-after": str(more["retry_after"])} if more.get("retry_after") else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if page:
        words = f"{escape(message)}{': ' + escape(hint) if hint else ''}"
        body = f"{PLAIN_PAGE}<p>Sill: {words}.</p>"
        return HTMLResponse(body, status, headers)
    return JSONResponse({"code": code, "message": message, "hint": hint, **more}, status, headers)


def error_of_gateway(path: str, code: str, message: str, hint: str) -> dict[str, Any]:
    """What OpenAI's clients look for in a refusal, where it is theirs: nothing elsewhere."""
    if not path.startswith("/v1/"):
        return {}
    words = f"{message} ({hint})" if hint else message
    error = {"message": words, "type": "invalid_request_error", "param": None, "code": code}
    return {"error": error}


class Rejected(Exception):
    """A route's own refusal, with everything the answer says."""

    def __init__(self, status: int, code: str, message: str, hint: str = "", **more: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.hint, self.more = (
            status,
            code,
            message,
            hint,
            more,
        )


def not_found(what: str) -> Rejected:
    return Rejected(404, "not_found", f"there is no such {what}")


def status_of(error: SillError) -> tuple[int, str]:
    """The status and the code that an error of ours means over HTTP."""
    match error:
        case Overloaded(code=code):
            return 503, code
        case TurnInProgress():
            return 409, "busy"
        case LimitReached():
            return 402, "over_limit"
        case FileRefused():
            return 422, "file_refused"
        case SettingsError():
            return 503, "misconfigured"
        case UsageError():
            return 422, "invalid"
        case ProviderError() | LocalModelError():
            return 503, "upstream"
        case Fenced():
            return 409, "conflict"
        case StoreError() | VaultError():
            return 503, "storage"
        case _:
            return 503, "unavailable"


def allowed(routes: Iterable[BaseRoute], path: str) -> set[str]:
    """The methods of every route with this path; each route alone knows only its own."""
    found: set[str] = set()
    for route in routes:
        if isinstance(route, Route) and route.path_regex.match(path):
            found |= route.methods or set()
        elif (included := getattr(route, "original_router", None)) is not None:
            found |= allowed(included.routes, path)
    return found


def handle_errors(app: FastAPI) -> None:
    """Every way a request can fail ends in one shape."""

    @app.exception_handler(Rejected)
    async def rejected(_: Request, error: Rejected) -> Response:
        return problem_response(error.status, error.code, error.message, error.hint, **error.more)

    @app.exception_handler(SillError)
    async def ours(_: Request, error: SillError) -> Response:
        status, code = status_of(error)
        more: dict[str, Any] = {}
        if isinstance(error, Overloaded):
            more["retry_after"] = error.retry_after
        return problem_response(status, code, error.message, error.hint, **more)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        # Where and what, never the value: it may be somebody's text.
        words = "; ".join(
            f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}"
            for one in error.errors()[:5]
        )
        return problem_response(422, "invalid", words[:1000].encode(errors="replace").decode())

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        codes = {404: "not_found", 405: "method_not_allowed"}
        answer = problem_response(
            error.status_code, codes.get(error.status_code, "bad_request"), str(error.detail)
        )
        for name, value in (error.headers or {}).items():
            answer.headers[name] = value
        if error.status_code == 405:
            answer.headers["allow"] = ", ".join(sorted(allowed(app.routes, request.url.path)))
        return answer

    @app.exception_handler(Exception)
    async def surprise(_: Request, error: Exception) -> Response:
        log.error("unexpected %s", type(error).__name__, exc_info=error)
        return problem_response(500, "internal", "something went wrong in the server")
