"""A fault as the error people read: one line that says what happened, a hint that says what to do."""

from typing import assert_never

from ...core.faults import Fault
from ...errors import (
    BadAnswer,
    KeyRefused,
    ModelMissing,
    Overflow,
    ProviderError,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    Unreachable,
    Unsupported,
)


def to_error(
    fault: Fault, endpoint: str, model: str = "", *, has_key: bool = False
) -> ProviderError:
    """The error for ``fault``. ``fault.said`` must already be free of keys."""
    status, said = fault.status, f": {fault.said}" if fault.said else ""
    match fault.kind:
        case "unreachable":
            return Unreachable(
                f"nobody answers at {endpoint}{said}",
                endpoint=endpoint,
                hint="is the server running, and is the base URL right?",
            )
        case "silent":
            return TimedOut(
                f"{endpoint} took the request but did not answer in time{said}",
                endpoint=endpoint,
                status=status,
                hint="is the server busy or stuck? look at its log, or allow more time",
            )
        case "broken":
            return BadAnswer(
                f"{endpoint} closed the connection before it answered{said}",
                endpoint=endpoint,
                status=status,
                hint="is it really a model server? look at its log",
            )
        case "key":
            return KeyRefused(
                f"{endpoint} refused the API key" if has_key else f"{endpoint} wants an API key",
                endpoint=endpoint,
                status=status,
                hint="check OPENAI_API_KEY; it may be wrong, expired or not allowed to use this model",
            )
        case "model":
            return ModelMissing(
                f"{endpoint} does not have the model {model!r}{said}",
                endpoint=endpoint,
                status=status,
                hint=f"name another with -m or `model` in the settings; {endpoint}/models lists them",
            )
        case "overflow":
            return Overflow(
                f"{endpoint} says that the prompt is too long{said}",
                endpoint=endpoint,
                status=status,
                window=fault.window,
                prompt=fault.prompt,
                hint="send fewer or smaller files, or start a new chat",
            )
        case "format":
            return Unsupported(
                f"{endpoint} cannot constrain the reply's format{said}",
                endpoint=endpoint,
                status=status,
            )
        case "unsupported":
            return Unsupported(
                f"{endpoint} does not support that{said}", endpoint=endpoint, status=status
            )
        case "rate":
            wait = fault.retry_after
            return RateLimited(
                f"{endpoint} limits the rate of requests{said}",
                endpoint=endpoint,
                status=status,
                retry_after=wait,
                hint=f"try again in {wait:.0f} s" if wait else "try again in a minute",
            )
        case "quota":
            return QuotaExhausted(
                f"{endpoint} says that the quota or credit is used up{said}",
                endpoint=endpoint,
                status=status,
                hint="check plan and billing there; waiting will not help",
            )
        case "loading":
            return BadAnswer(
                f"{endpoint} is still loading its model",
                endpoint=endpoint,
                status=status,
                hint="try again in a moment",
            )
        case "redirect":
            return BadAnswer(
                f"{endpoint} redirects elsewhere{said}",
                endpoint=endpoint,
                status=status,
                hint="redirects are not followed, to keep the key safe; set that address as base URL",
            )
        case "page":
            return BadAnswer(
                f"{endpoint} answers with a web page, not with an API{said}",
                endpoint=endpoint,
                status=status,
                hint="is the base URL right? it usually ends in /v1",
            )
        case "address":
            return BadAnswer(
                f"{endpoint} has no chat completions there{said}",
                endpoint=endpoint,
                status=status,
                hint="is the base URL right? it usually ends in /v1",
            )
        case "server":
            return BadAnswer(
                f"{endpoint} failed{_with(status)}{said}",
                endpoint=endpoint,
                status=status,
                hint="the fault is on its side; try again later",
            )
        case "request":
            return BadAnswer(
                f"{endpoint} refused the request{_with(status)}{said}",
                endpoint=endpoint,
                status=status,
            )
        case never:
            assert_never(never)


def _with(status: int | None) -> str:
    return f" with status {status}" if status is not None else ""
