"""One id for everything that belongs together, and measurements for whoever tunes prompts."""

import re
import uuid

from fastapi import Request
from starlette.responses import Response

from .identity import who

CORRELATION = "x-correlation-id"
EVALUATE = "x-sill-eval"
_SOUND = re.compile(r"[A-Za-z0-9._-]{1,64}")


def correlation_id(request: Request) -> str:
    """The caller's own id, or a new one where there is none that can be used."""
    given = request.headers.get(CORRELATION, "")
    return given if _SOUND.fullmatch(given) else str(uuid.uuid4())


def wants_measurements(request: Request) -> bool:
    """Only an administrator of a server that one person uses gets them."""
    is_shared = bool(getattr(request.app.state, "multi_user", False))
    return request.headers.get(EVALUATE) == "1" and not is_shared and who(request).may("admin")


def measure(request: Request, response: Response, **values: str | int) -> None:
    """``X-Sill-Eval-*`` headers: sizes and outcomes, never text."""
    if wants_measurements(request):
        for name, value in values.items():
            response.headers[f"X-Sill-Eval-{name.replace('_', '-').title()}"] = str(value)
