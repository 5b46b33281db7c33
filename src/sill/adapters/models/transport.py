"""One HTTP call to a model server: opened with retries, read under three clocks, closed at once.

Nothing is retried once an answer has begun, and nothing is ever replayed.
"""

import asyncio
import json
import random
import socket
import ssl
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import httpx

from ...core.certificate import Usage
from ...core.faults import Fault, classify
from ...errors import ProviderError
from .direct import Direct
from .endpoints import Endpoint
from .failures import to_error
from .retry import CLOUD, LOCAL, Clocks, RetryPolicy, wait_before_retry

BODY_LIMIT = 16 * 1024 * 1024
_ERROR_BODY_LIMIT = 64 * 1024
_HTTP_ERRORS = (httpx.HTTPError, httpx.StreamError, ssl.SSLError, OSError)


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """Reported before anything is sent."""

    id: str
    number: int
    endpoint: str


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """``outcome`` is ``complete``, ``partial``, ``cancelled`` or a fault's kind; no usage means unknown."""

    id: str
    number: int
    endpoint: str
    outcome: str
    status: int | None = None
    usage: Usage | None = None
    provider_id: str | None = None


AttemptHook = Callable[[AttemptStarted | AttemptEnded], Awaitable[None]]


class Cut(Exception):
    """The answer stopped before its end; ``fault`` says how."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.kind)
        self.fault = fault


@dataclass(slots=True)
class Call:
    """An answer with status 200 while it is being read. Whoever reads it says how it ended."""

    response: httpx.Response
    clocks: Clocks
    started: float
    outcome: str = "cancelled"
    usage: Usage | None = None
    provider_id: str | None = None
    _pieces: AsyncIterator[bytes] = field(init=False)
    _deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self._pieces = self.response.aiter_bytes()
        self._deadline = self.started + min(self.clocks.first, self.clocks.total)

    def payload_came(self) -> None:
        """Set the idle clock back. To be called for payload only, not for comments."""
        now = asyncio.get_running_loop().time()
        self._deadline = min(now + self.clocks.idle, self.started + self.clocks.total)

    async def read(self) -> bytes | None:
        """The next bytes, or None at a clean end. ``Cut`` if the end is not clean or a clock runs out."""
        try:
            async with asyncio.timeout_at(self._deadline):
                return await anext(self._pieces, None)
        except TimeoutError:
            waited = asyncio.get_running_loop().time() - self.started
            raise Cut(Fault("silent", f"{waited:.0f} s after the request")) from None
        except httpx.DecodingError:
            raise Cut(Fault("broken", "its compressed answer cannot be read")) from None
        except _HTTP_ERRORS as error:
            raise Cut(Fault("broken", _reason(error))) from None

    async def drain(self, seconds: float = 0.1) -> None:
        """Read a finished answer's last bytes, so that a kept connection can serve the next call."""
        with suppress(TimeoutError, *_HTTP_ERRORS):
            async with asyncio.timeout(seconds):
                while await anext(self._pieces, None) is not None:
                    pass

    async def read_all(self, limit: int = BODY_LIMIT) -> bytes:
        pieces, held = [], 0
        while (piece := await self.read()) is not None:
            pieces.append(piece)
            held += len(piece)
            if held > limit:
                raise Cut(Fault("broken", f"more than {limit} bytes"))
        return b"".join(pieces)


class Transport:
    """One endpoint with one key. Holds no connection to a local server between calls."""

    def __init__(
        self,
        endpoint: Endpoint,
        api_key: str | None = None,
        *,
        clocks: Clocks | None = None,
        retries: RetryPolicy | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.clocks = clocks or (LOCAL if endpoint.is_local else CLOUD)
        self.retries = retries or RetryPolicy()
        self._key = api_key or None
        self._client = client
        self._owns_client = client is None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"Transport({self.endpoint.api!r})"

    @property
    def keeps_connections(self) -> bool:
        return not (self._owns_client and self.endpoint.is_local)

    @property
    def has_key(self) -> bool:
        return self._key is not None

    @asynccontextmanager
    async def call(
        self,
        url: str,
        body: bytes,
        on_attempt: AttemptHook | None = None,
        model: str = "",
        clocks: Clocks | None = None,
    ) -> AsyncIterator[Call]:
        """POST ``body``, exactly these bytes, and hand over the answer; a ``ProviderError`` if there is none.

        ``on_attempt`` is awaited before each attempt and after it. ``clocks`` may differ from the usual ones.
        """
        clocks = clocks or self.clocks
        loop = asyncio.get_running_loop()
        began, number = loop.time(), 0
        while True:
            number += 1
            attempt = AttemptStarted(uuid.uuid4().hex, number, self.endpoint.api)
            await _tell(on_attempt, attempt)
            started = loop.time()
            try:
                answer = await self._send(url, body, started, clocks)
            except BaseException:
                await _tell(on_attempt, _ended(attempt, "cancelled"))
                raise
            if isinstance(answer, httpx.Response):
                break
            await _tell(on_attempt, _ended(attempt, answer.kind, answer.status))
            wait = wait_before_retry(
                self.retries, answer, number, loop.time() - began, random.random()
            )
            if wait is None:
                raise self.error(answer, model)
            await asyncio.sleep(wait)

        call = Call(answer, clocks, started)
        try:
            yield call
        finally:
            await answer.aclose()
            await _tell(
                on_attempt,
                AttemptEnded(
                    attempt.id,
                    number,
                    self.endpoint.api,
                    call.outcome,
                    answer.status_code,
                    call.usage,
                    call.provider_id or answer.headers.get("x-generation-id"),
                ),
            )

    async def fetch(
        self, url: str, body: bytes | None = None, *, seconds: float = 2.0
    ) -> object | Fault:
        """The JSON value of a GET (of a POST where there is a body), or why there is none. Tried once."""
        try:
            async with asyncio.timeout(seconds):
                response = await self.client.send(
                    self.client.build_request(
                        "GET" if body is None else "POST",
                        url,
                        content=body,
                        headers=self.headers(),
                        timeout=httpx.Timeout(None, connect=min(seconds, self.clocks.connect)),
                    ),
                    stream=True,
                    follow_redirects=False,
                )
                try:
                    said = await _read_some(response, BODY_LIMIT)
                finally:
                    await response.aclose()
        except TimeoutError:
            return Fault("silent", f"{seconds:g} s")
        except _HTTP_ERRORS as error:
            return _broken(error, self.clocks)
        if response.status_code != 200:
            return classify(response.status_code, said, _headers(response))
        try:
            value: object = json.loads(said)
        except (ValueError, RecursionError):
            return Fault("page" if said.lstrip().startswith(b"<") else "broken", "", 200)
        return value

    def error(self, fault: Fault, model: str = "") -> ProviderError:
        return to_error(self.clean(fault), self.endpoint.api, model, has_key=self.has_key)

    def clean(self, fault: Fault) -> Fault:
        """The same without the key: servers like to quote the one they refuse."""
        if not self._key or self._key not in fault.said:
            return fault
        return replace(fault, said=fault.said.replace(self._key, "[key]"))

    async def close(self) -> None:
        if self._client is not None and self._owns_client:
            await self._client.aclose()
            self._client = None

    async def _send(
        self, url: str, body: bytes, started: float, clocks: Clocks
    ) -> httpx.Response | Fault:
        request = self.client.build_request(
            "POST", url, content=body, headers=self.headers(), timeout=_timeout(clocks)
        )
        try:
            async with asyncio.timeout_at(started + min(clocks.first, clocks.total)):
                response = await self.client.send(request, stream=True, follow_redirects=False)
                if response.status_code == 200:
                    return response
                try:
                    said = await _read_some(response, _ERROR_BODY_LIMIT)
                finally:
                    await response.aclose()
        except TimeoutError:
            return Fault("silent", f"{min(clocks.first, clocks.total):.0f} s")
        except _HTTP_ERRORS as error:
            return _broken(error, clocks)
        return classify(response.status_code, said, _headers(response))

    def headers(self) -> dict[str, str]:
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream, application/json",
            "accept-encoding": "identity",  # a compressing proxy would hold deltas back
        }
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        return headers

    @property
    def client(self) -> httpx.AsyncClient:
        """The given client, or one of our own; kept connections belong to one event loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or (self._owns_client and self._loop is not loop):
            self._client, self._loop = new_client(self.endpoint), loop
        return self._client


def new_client(endpoint: Endpoint) -> httpx.AsyncClient:
    """A client that sends nothing through a proxy when the server is local.

    Local connections are not kept: a server that was restarted between two turns would be met dead.
    """
    if endpoint.is_local:
        if endpoint.root.startswith("http://"):
            return httpx.AsyncClient(transport=Direct(), trust_env=False)
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.AsyncClient(trust_env=False, limits=limits)
    return httpx.AsyncClient(trust_env=True, limits=httpx.Limits(keepalive_expiry=30))


def _timeout(clocks: Clocks) -> httpx.Timeout:
    """Only connecting is left to httpx; its read time-out would be reset by comments."""
    return httpx.Timeout(None, connect=clocks.connect)


async def _read_some(response: httpx.Response, limit: int) -> bytes:
    """At most about ``limit`` bytes of an error body; what cannot be read is left out."""
    read = b""
    try:
        async for piece in response.aiter_bytes():
            read += piece
            if len(read) >= limit:
                break
    except (httpx.HTTPError, httpx.StreamError):
        pass
    return read[:limit]


def _broken(error: Exception, clocks: Clocks) -> Fault:
    if isinstance(error, httpx.ConnectTimeout):
        return Fault("unreachable", f"no connection within {clocks.connect:.0f} s")
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return Fault("unreachable", _reason(error))
    return Fault("broken", _reason(error))


def _headers(response: httpx.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _reason(error: BaseException) -> str:
    """The system's own words for it, without addresses or bytes."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, socket.gaierror):
            return "the host name is not known"
        if isinstance(seen, ssl.SSLError):
            return f"TLS: {seen.reason or 'handshake failed'}"
        if isinstance(seen, ConnectionRefusedError):
            return "connection refused"
        if isinstance(seen, ConnectionResetError):
            return "connection reset"
        seen = seen.__cause__ or seen.__context__
    return "the connection closed early" if "peer closed" in str(error) else ""


def _ended(attempt: AttemptStarted, outcome: str, status: int | None = None) -> AttemptEnded:
    return AttemptEnded(attempt.id, attempt.number, attempt.endpoint, outcome, status)


async def _tell(hook: AttemptHook | None, event: AttemptStarted | AttemptEnded) -> None:
    if hook is not None:
        await hook(event)
