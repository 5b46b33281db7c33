"""Every failure in the shape that OpenAI's clients read."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from ...app.running import Overloaded
from ...core.plan import OverBudget
from ...core.usage import refusal
from ...errors import (
    KeyRefused,
    LimitReached,
    ModelMissing,
    Overflow,
    QuotaExhausted,
    RateLimited,
    SillError,
    TimedOut,
    Unsupported,
    UsageError,
)
from ..answers import Rejected


class Failure(Exception):
    """``wait`` is in seconds."""

    def __init__(
        self, status: int, message: str, code: str, *, param: str | None = None, wait: int = 0
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.param, self.wait = (
            status,
            message,
            code,
            param,
            wait,
        )

    @property
    def body(self) -> dict[str, Any]:
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        error = {"message": self.message, "type": kind, "param": self.param, "code": self.code}
        return {"error": error}

    def response(self) -> Response:
        headers = {"retry-after": str(self.wait)} if self.wait else None
        return JSONResponse(self.body, self.status, headers)


def too_long(over: OverBudget) -> Failure:
    return Failure(400, refusal(over), "context_length_exceeded", param="messages")


def interrupted() -> Failure:
    return Failure(503, "the server was stopped before the answer ended", "interrupted", wait=10)


def failure_of(error: SillError) -> Failure:
    """What an error of ours is called by OpenAI."""
    words = str(error)
    match error:
        case Overflow():
            return Failure(400, words, "context_length_exceeded", param="messages")
        case LimitReached():
            return Failure(402, words, "limit_reached")
        case RateLimited(retry_after=wait):
            return Failure(429, words, "rate_limit_exceeded", wait=round(wait or 0))
        case QuotaExhausted():
            return Failure(402, words, "insufficient_quota")
        case ModelMissing():
            return Failure(404, words, "model_not_found", param="model")
        case Unsupported():
            return Failure(400, words, "unsupported")
        case Overloaded(retry_after=wait):
            return Failure(503, words, "overloaded", wait=wait)
        case UsageError():
            return Failure(400, words, "invalid_request")
        case TimedOut():
            return Failure(504, words, "timeout")
        case KeyRefused():
            return Failure(502, words, "upstream_refused")
        case _:
            return Failure(502, words, "upstream_error")


def invalid(error: ValidationError | RequestValidationError) -> Failure:
    """Where and what, never the value: it may be somebody's text."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return Failure(400, f"{where}: {first['msg']}", "invalid_request", param=where)


class OpenAIRoute(APIRoute):
    """A route whose failures all look like OpenAI's."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await handle(request)
            except Failure as error:
                return error.response()
            except SillError as error:
                return failure_of(error).response()
            except (ValidationError, RequestValidationError) as error:
                return invalid(error).response()
            except Rejected as error:
                return Failure(error.status, error.message, error.code).response()
            except HTTPException as error:  # a body that is not even text
                return Failure(error.status_code, str(error.detail), "bad_request").response()

        return handler
