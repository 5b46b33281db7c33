"""Plain HTTP/1.1 to a server on this machine or a private network: one connection for each request.

A general client spends milliseconds on pools, locks and hooks before the first byte leaves; a local call has no use
for any of them, and a connection that is never kept cannot be met dead after a restart of the server.
"""

import asyncio
import ipaddress
import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import h11
import httpx

_PIECE = 65_536
Event = h11.Response | h11.InformationalResponse | h11.Data | h11.EndOfMessage
Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Direct(httpx.AsyncBaseTransport):
    """For ``http://`` only. Honours the time-out for connecting; every other clock is the caller's."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        exchange = _Exchange(await _connect(request))
        try:
            await exchange.send(request)
            head = await exchange.head()
        except BaseException:
            await exchange.aclose()
            raise
        return httpx.Response(head.status_code, headers=head.headers.raw_items(), stream=exchange)


class _Exchange(httpx.AsyncByteStream):
    """One request and its answer on a connection of their own. Closing it closes the connection at once."""

    def __init__(self, pair: Pair) -> None:
        self._reader, self._writer = pair
        self._state = h11.Connection(h11.CLIENT)

    async def send(self, request: httpx.Request) -> None:
        headers = [pair for pair in request.headers.raw if pair[0].lower() != b"connection"]
        head = h11.Request(
            method=request.method,
            target=request.url.raw_path,
            headers=[*headers, (b"connection", b"close")],
        )
        body = await request.aread()
        pieces = [self._state.send(head)]
        if body:
            pieces.append(self._state.send(h11.Data(data=body)))
        pieces.append(self._state.send(h11.EndOfMessage()))
        self._writer.write(b"".join(piece for piece in pieces if piece))
        # A server may refuse what it has not read to the end: its answer is worth more than this error.
        with suppress(OSError):
            await self._writer.drain()

    async def head(self) -> h11.Response:
        while True:
            event = await self._next()
            if isinstance(event, h11.Response):
                return event

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            event = await self._next()
            if isinstance(event, h11.EndOfMessage):
                return
            if isinstance(event, h11.Data):
                yield bytes(event.data)

    async def aclose(self) -> None:
        self._writer.transport.abort()

    async def _next(self) -> Event:
        try:
            while True:
                event = self._state.next_event()
                if event is h11.NEED_DATA:
                    self._state.receive_data(await self._reader.read(_PIECE))
                elif isinstance(event, Event):
                    return event
                else:
                    raise httpx.RemoteProtocolError("the server closed without an answer")
        except h11.RemoteProtocolError as error:
            raise httpx.RemoteProtocolError(str(error)) from error
        except OSError as error:
            raise httpx.ReadError(str(error)) from error


async def _connect(request: httpx.Request) -> Pair:
    seconds = (request.extensions.get("timeout") or {}).get("connect")
    try:
        async with asyncio.timeout(seconds):
            return await _first_to_connect(request.url.host, request.url.port or 80)
    except TimeoutError as error:
        raise httpx.ConnectTimeout("no connection in time") from error
    except OSError as error:
        raise httpx.ConnectError(str(error)) from error


async def _first_to_connect(host: str, port: int) -> Pair:
    """A connection to the first address of ``host`` that takes one; else the last one's error."""
    failure: OSError | None = None
    for address in await _addresses(host, port):
        try:
            return await asyncio.open_connection(address, port, limit=4 * _PIECE)
        except OSError as error:
            failure = error
    raise failure or OSError("the host has no address")


async def _addresses(host: str, port: int) -> list[str]:
    with suppress(ValueError):
        return [str(ipaddress.ip_address(host))]
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
