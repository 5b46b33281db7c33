"""Small HTTP servers for tests: they answer as they are told and remember what they were asked."""

import asyncio
import contextlib
import json


class Endpointlike:
    """``answer`` maps a path and a parsed body to a status and a JSON value; None never answers."""

    def __init__(self, answer):
        self._answer = answer
        self.asked = []
        self.port = 0

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    @contextlib.asynccontextmanager
    async def running(self):
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()

    async def _serve(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                path = head.split(" ", 2)[1]
                lengths = [
                    int(line.split(":")[1])
                    for line in head.splitlines()
                    if line.lower().startswith("content-length")
                ]
                body = json.loads(await reader.readexactly(lengths[0])) if lengths else None
                self.asked.append((path, body))
                answer = self._answer(path, body)
                if answer is None:
                    await asyncio.sleep(3600)
                status, value = answer
                text = value if isinstance(value, bytes) else json.dumps(value).encode()
                start = f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\n\r\n".encode()
                writer.write(start + text)
                await writer.drain()
        writer.close()
