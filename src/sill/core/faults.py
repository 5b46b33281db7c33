"""What a server's refusal means: status, headers and body in, one ``Fault`` out.

Codes and types decide first, then the status with the words; nothing on a 429 is ever an overflow.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

Kind = Literal[
    "unreachable",  # nobody answers
    "silent",  # somebody took the call and said nothing in time
    "broken",  # the connection ended in the middle
    "key",
    "model",  # the endpoint does not have it
    "overflow",
    "format",  # it cannot constrain the reply the way it was asked to
    "unsupported",  # it cannot do this kind of request at all
    "rate",
    "quota",
    "loading",
    "redirect",
    "page",  # HTML where an API should be
    "address",  # 404 or 405: not the path of an API
    "server",  # 5xx and the like: may pass
    "request",  # the request itself is refused
]

RETRIED_STATUS = frozenset({408, 409, 500, 502, 503, 504, 529})
_SAID_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Fault:
    """``said`` is the server's own sentence on one line; the numbers are its own where it gave them."""

    kind: Kind
    said: str = ""
    status: int | None = None
    window: int | None = None
    prompt: int | None = None
    retry_after: float | None = None

    @property
    def may_pass(self) -> bool:
        """The same request may work a moment later."""
        match self.kind:
            case "unreachable" | "rate" | "loading":
                return True
            case "server":
                return self.status in RETRIED_STATUS
            case _:
                return False


def classify(
    status: int, body: bytes, headers: Mapping[str, str], now: datetime | None = None
) -> Fault:
    """Why a whole answer with this status is not one. Header names are lower case."""
    if 300 <= status < 400:
        return Fault("redirect", _one_line(headers.get("location", "")), status)
    parsed = _parse(body)
    if parsed is None:
        text = body[:4096].decode(errors="replace")
        found = Fault(_kind_without_json(status, text), _page_title(text), status)
    else:
        found = classify_object(parsed, status)
    if found.kind in ("rate", "quota", "loading", "server"):
        wait = retry_after(headers, now) or _nested_delay(parsed)
        return Fault(found.kind, found.said, status, retry_after=wait)
    return found


def classify_object(body: object, status: int | None = None) -> Fault:
    """The same for an error object that came inside a stream, where the HTTP status says nothing.

    A numeric ``code`` in the object stands in for the status then.
    """
    details = list(_details(body))
    said = _one_line(next((text for detail in details if (text := _message(detail))), ""))
    words = {
        str(detail.get(key, "")).lower() for detail in details for key in ("code", "type", "status")
    }
    if status is None or status == 200:
        codes = [int(word) for word in words if word.isdigit() and 400 <= int(word) < 600]
        status = codes[0] if codes else status
    window, prompt = _numbers(details, said)
    kind = _kind(status, words, said)
    if kind == "overflow":
        return Fault(kind, said, status, window, prompt)
    return Fault(kind, said, status)


def error_in(body: object) -> object | None:
    """The error object of a chunk or whole answer that may have come with status 200."""
    if isinstance(body, list):
        return body if any(error_in(item) is not None for item in body) else None
    if not isinstance(body, Mapping):
        return None
    if body.get("error"):
        return body
    if body.get("object") == "error" or body.get("type") == "error":
        return body
    return None


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait as the headers say: milliseconds, seconds, or a date."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


# --- What the words mean -------------------------------------------------------------------------

_OVERFLOW_WORDS = {
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
}
_QUOTA_WORDS = {
    "insufficient_quota",
    "credit_balance_exhausted",
    "enforced_spend_limit_reached",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_balance",
    "insufficient_credits",
    "access_terminated",
}
_RATE_WORDS = {
    "rate_limit_exceeded",
    "rate_limited",
    "rate_limit_error",
    "resource_exhausted",
    "1300",
}
_MODEL_WORDS = {"model_not_found", "deploymentnotfound"}
_KEY_WORDS = {"invalid_api_key", "authentication_error", "permission_error", "unauthenticated"}

_OVERFLOW = re.compile(
    r"maximum context length"
    r"|context length is only"
    r"|exceeds? the (?:available )?context (?:size|window|length)"
    r"|exceeds? the model'?s? (?:maximum )?context"
    r"|(?:input|prompt|request) (?:is )?too (?:long|large)"
    r"|longer than the (?:model's )?context length"
    r"|prompt is too long"
    r"|input (?:length|token count).{0,80}exceed"
    r"|exceeds? the maximum number of (?:input )?tokens"
    r"|exceeded the (?:maximum|max) (?:context|sequence|token)"
    r"|too many tokens"
    r"|context[_ ](?:window|length|size).{0,24}exceeded"
    r"|context window exceeds limit"
    r"|exceeds? (?:the )?context limit"
    r"|reduce the length of the (?:messages|prompt|input)"
    r"|must have less than \d+ tokens"
    r"|input tokens? exceed"
    r"|context size has been exceeded"
    r"|maximum prompt length is"
    r"|larger than the maximum context"
    r"|greater than the context length"
    r"|request_too_large|request entity too large|payload too large",
    re.IGNORECASE,
)
# A limit per minute, or on the picture's size, is spoken of in nearly the same words.
_NOT_OVERFLOW = re.compile(
    r"per (?:minute|hour|day)|rate limit|\bTP[MD]\b|throttl|image", re.IGNORECASE
)
_QUOTA = re.compile(
    r"exceeded your current quota|insufficient (?:funds|credits?|balance|quota)"
    r"|credit balance is too low|out of credits|payment required|spend(?:ing)? limit",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"API key (?:is )?(?:not valid|invalid|expired)|(?:invalid|incorrect) API key", re.IGNORECASE
)
_MODEL = re.compile(
    r"model.{0,120}(?:not found|does not exist|is not available|not supported|unknown|not loaded)"
    r"|(?:no such|unknown|invalid|not a valid) model|not a valid model id"
    r"|no endpoints found",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r"response_format|json_schema|grammar|structured outputs?|guided[_ ](?:json|decoding)"
    r"|failed to parse (?:grammar|json schema)",
    re.IGNORECASE,
)
_LOADING = re.compile(r"loading model|model is (?:currently )?loading|still loading", re.IGNORECASE)


# Ollama, llama.cpp without its template engine, vLLM without a parser, OpenRouter.
_TOOLS = re.compile(
    r"does not support tools|tools? param\w* requires|tool choice requires|support tool use",
    re.IGNORECASE,
)


def _kind(status: int | None, words: set[str], said: str) -> Kind:
    if status == 429:
        is_money = words & _QUOTA_WORDS or _QUOTA.search(said)
        return "quota" if is_money else "rate"
    if words & _OVERFLOW_WORDS:
        return "overflow"
    if status == 402 or words & _QUOTA_WORDS or (status == 400 and _QUOTA.search(said)):
        return "quota"
    if status in (401, 403) or words & _KEY_WORDS or (status == 400 and _KEY.search(said)):
        return "key"
    if words & _MODEL_WORDS:
        return "model"
    if words & _RATE_WORDS:
        return "rate"
    # 500: llama.cpp before September 2025, and proxies that wrap their upstream's 400.
    is_spoken_of = _OVERFLOW.search(said) and not _NOT_OVERFLOW.search(said)
    if is_spoken_of and status in (None, 200, 400, 413, 422, 500):
        return "overflow"
    if status == 413:
        return "overflow"
    if status == 503 and (_LOADING.search(said) or "unavailable_error" in words):
        return "loading"
    if status in (400, 404, 422) and _MODEL.search(said):
        return "model"
    if status in (400, 422, 501) and _FORMAT.search(said):
        return "format"
    if status == 501 or "not_supported_error" in words or _TOOLS.search(said):
        return "unsupported"
    if status in (404, 405):
        return "address"
    if status is not None and status < 500 and status not in (200, 408, 409):
        return "request"
    return "server"


def _kind_without_json(status: int, text: str) -> Kind:
    is_page = text.lstrip()[:1] == "<"
    kind = _kind(status, set(), "" if is_page else text)
    return "page" if is_page and kind in ("request", "address") else kind


# Each pattern is one provider's sentence; ``window`` and ``prompt`` are what it says of itself.
_SENTENCES = [
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        r"request \((?P<prompt>\d+) tokens\) exceeds the available context size \((?P<window>\d+)",
        r"maximum context length is (?P<window>\d+) tokens.{0,80}?requested \d+ output tokens"
        r".{0,40}?prompt contains (?:at least )?(?P<prompt>\d+) input tokens",
        r"passed (?P<prompt>\d+) input tokens.{0,120}?context length is only (?P<window>\d+)",
        r"maximum context length is (?P<window>\d+) tokens.{0,160}?\((?P<prompt>\d+) (?:of text input|in the messages)",
        r"maximum context length is (?P<window>\d+) tokens.{0,80}?resulted in (?P<prompt>\d+) tokens",
        r"prompt is too long: (?P<prompt>\d+) tokens > (?P<window>\d+)",
        r"exceed context limit: (?P<prompt>\d+) \+ \d+ > (?P<window>\d+)",
        r"input token count \(?(?P<prompt>\d+)\)? exceeds the maximum number of tokens allowed \(?(?P<window>\d+)",
        r"maximum prompt length is (?P<window>\d+).{0,80}?contains (?P<prompt>\d+) tokens",
        r"(?:maximum context length|context length|context window|context size)(?: is| of)?(?: only)? "
        r"\(?(?P<window>\d{3,})",
    )
]


def _numbers(details: list[Mapping[str, Any]], said: str) -> tuple[int | None, int | None]:
    for detail in details:
        window, prompt = detail.get("n_ctx"), detail.get("n_prompt_tokens")
        if isinstance(window, int) and isinstance(prompt, int):
            return window, prompt
    plain = re.sub(r"(?<=\d)[,_](?=\d{3})", "", said)
    for sentence in _SENTENCES:
        if found := sentence.search(plain):
            groups = found.groupdict()
            prompt_text = groups.get("prompt")
            return int(groups["window"]), int(prompt_text) if prompt_text else None
    return None, None


# --- Finding the words ---------------------------------------------------------------------------


def _parse(body: bytes) -> object | None:
    """The JSON value of a body, or None. An event stream's first data line counts as the body."""
    text = body.strip()
    if text.startswith(b"data:"):
        text = text[5:].split(b"\n", 1)[0].strip()
    if text[:1] not in (b"{", b"[", b'"'):
        return None
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed


def _details(body: object, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Every object that may speak of the error, outermost last: lists, strings and wrappers included."""
    if depth > 4:
        return
    if isinstance(body, str):
        yield {"message": body}
    elif isinstance(body, list):
        for item in body[:8]:
            yield from _details(item, depth + 1)
    elif isinstance(body, Mapping):
        for key in ("error", "detail"):
            if body.get(key):
                yield from _details(body[key], depth + 1)
        yield body


def _message(detail: Mapping[str, Any]) -> str:
    for key in ("message", "msg", "detail", "error_description", "reason"):
        value = detail.get(key)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _nested_delay(body: object) -> float | None:
    """Gemini hides ``retryDelay: "26s"`` in a list of details."""
    for detail in _details(body):
        listed = detail.get("details")
        for item in listed if isinstance(listed, list) else []:
            delay = item.get("retryDelay") if isinstance(item, Mapping) else None
            if isinstance(delay, str) and delay.endswith("s"):
                return _number(delay[:-1])
    return None


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else -1.0
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _one_line(text: str) -> str:
    """Printable, on one line, of bounded length: it will be shown in a terminal."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 8 * _SAID_LIMIT]).split())
    return line if len(line) <= _SAID_LIMIT else line[: _SAID_LIMIT - 1] + "…"


def _page_title(text: str) -> str:
    if text.lstrip()[:1] != "<":
        return _one_line(text)
    found = re.search(r"<title[^>]*>([^<]*)", text, re.IGNORECASE)
    return _one_line(found.group(1)) if found else ""
