"""Asking an endpoint small questions, with a limit on every wait."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import httpx

PROBE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask; ``key`` is sent as a bearer token and shown nowhere."""

    base_url: str
    client: "httpx.AsyncClient"
    key: str | None = field(default=None, repr=False)

    @property
    def root(self) -> str:
        """The address without ``/v1``: a server's own endpoints live beside the OpenAI-like ones."""
        return self.base_url.rstrip("/").removesuffix("/v1").rstrip("/")


@dataclass(frozen=True, slots=True)
class Silence:
    """No usable answer. ``later`` if asking again another time may help."""

    later: bool
    status: int | None = None


async def ask(
    endpoint: Endpoint,
    method: Literal["GET", "POST"],
    path: str,
    body: dict[str, Any] | None = None,
    seconds: float = PROBE_SECONDS,
) -> dict[str, Any] | Silence:
    """The JSON object at ``path``, or why there is none. Never raises and never waits longer than ``seconds``."""
    import httpx

    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    try:
        async with asyncio.timeout(seconds):
            response = await endpoint.client.request(
                method, endpoint.root + path, json=body, headers=headers, timeout=seconds
            )
            if response.status_code != 200:
                return Silence(later=_passing(response.status_code), status=response.status_code)
            answer = response.json()
    except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, RuntimeError):
        return Silence(later=True)
    except ValueError:
        return Silence(later=False, status=200)
    return answer if isinstance(answer, dict) else Silence(later=False, status=200)


def _passing(status: int) -> bool:
    """Whether this status is a passing state (loading, busy, slow) and no answer to the question."""
    return status in {408, 425, 429} or (status >= 500 and status != 501)
