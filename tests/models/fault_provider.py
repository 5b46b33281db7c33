"""A model server that misbehaves on purpose, over real sockets.

    with FaultProvider([ok("Hello")], [head(503)]) as provider:
        ...  # provider.url answers the first request well and every later one with 503

A script is a list of steps: bytes to send, or one of the classes below. Each request plays the next script,
the last one again and again; a path named in ``routes`` always plays its own.
"""

import gzip
import json
import socket
import socketserver
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Until:
    """Wait for what the test does meanwhile."""

    done: threading.Event


@dataclass(frozen=True, slots=True)
class Taken:
    """Wait until the client has taken in what was sent: a reset after it takes nothing of that away."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Tear the connection down with RST instead of FIN."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Send the same bytes again and again until the client hangs up."""

    data: bytes
    every: float = 0.01


@dataclass(frozen=True, slots=True)
class Hang:
    """Stay silent until the client hangs up."""


Step = bytes | Pause | Until | Taken | Reset | Repeat | Hang
Script = Sequence[Step]


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class FaultProvider:
    def __init__(self, *scripts: Script, routes: Mapping[str, Script] | None = None) -> None:
        self._scripts = list(scripts) or [answer(404, b"404 page not found")]
        self._routes = routes or {}
        self.seen: list[Seen] = []
        self.asked = threading.Event()  # a whole request has arrived
        self.hung_up = threading.Event()  # the client closed a connection that was still in use
        self._lock = threading.Lock()
        provider = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                provider._serve(self.request)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "FaultProvider":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        request = _read_request(connection)
        if request is None:
            return
        with self._lock:
            self.seen.append(request)
            script = self._routes.get(request.path) or self._next_script()
        self.asked.set()
        try:
            for step in script:
                self._play(connection, step)
        except OSError:
            self.hung_up.set()

    def _next_script(self) -> Script:
        return self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]

    def _play(self, connection: socket.socket, step: Step) -> None:
        match step:
            case bytes():
                connection.sendall(step)
            case Pause(seconds=seconds):
                time.sleep(seconds)
            case Until(done=done):
                done.wait(60)
            case Taken():
                _until_read(connection)
                time.sleep(0.1)  # its program has it now, and needs a moment to read it
            case Reset():
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            case Repeat(data=data, every=every):
                while True:
                    connection.sendall(data)
                    time.sleep(every)
            case Hang():
                connection.recv(1)
                self.hung_up.set()


def _read_request(connection: socket.socket) -> Seen | None:
    read = b""
    while b"\r\n\r\n" not in read:
        piece = connection.recv(65536)
        if not piece:
            return None
        read += piece
    top, _, body = read.partition(b"\r\n\r\n")
    first, *lines = top.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        piece = connection.recv(65536)
        if not piece:
            return None
        body += piece
    method, path, _ = first.split(" ", 2)
    return Seen(method, path, headers, body)


def _until_read(connection: socket.socket, patience: float = 60) -> None:
    """Until the client's end holds nothing that its program has not taken; as far as the system tells."""
    ends = f":{connection.getpeername()[1]:04X}", f":{connection.getsockname()[1]:04X}"
    until = time.monotonic() + patience
    while time.monotonic() < until:
        try:
            rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()]
        except OSError:
            return
        queues = [row[4] for row in rows if row[1].endswith(ends[0]) and row[2].endswith(ends[1])]
        if all(queue.endswith(":00000000") for queue in queues):
            return
        time.sleep(0.01)


# --- What servers say ----------------------------------------------------------------------------


def head(status: int = 200, type: str = "text/event-stream", **headers: str) -> bytes:
    """A response head without a length: the body ends where the connection does."""
    lines = [f"HTTP/1.1 {status} X", f"content-type: {type}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def chunked(data: bytes) -> bytes:
    """One piece of a body whose end is marked, so that a missing end can be told from a real one."""
    return b"%x\r\n%s\r\n" % (len(data), data)


CHUNKED = head(transfer_encoding="chunked")
END = b"0\r\n\r\n"


def answer(status: int, body: object, **headers: str) -> list[Step]:
    """A whole JSON answer (bytes are sent as they are)."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    type = "text/html" if data.startswith(b"<") else "application/json"
    return [head(status, type, content_length=str(len(data)), **headers) + data]


def event(body: object) -> bytes:
    return b"data: " + (body if isinstance(body, bytes) else json.dumps(body).encode()) + b"\n\n"


def delta(finish: str | None = None, **delta: object) -> dict[str, object]:
    return {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def said(text: str) -> bytes:
    return event(delta(content=text))


def finished(reason: str = "stop") -> bytes:
    return event(delta(reason))


USAGE = event({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
DONE = event(b"[DONE]")


def ok(*texts: str) -> list[Step]:
    return [
        CHUNKED,
        *(chunked(said(text)) for text in texts),
        chunked(finished() + USAGE + DONE),
        END,
    ]


def completion(finish: str | None = "stop", **message: object) -> dict[str, object]:
    """A whole chat completion, as a server sends it that does not stream."""
    return {
        "id": "c1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }


def zipped(data: bytes) -> list[Step]:
    return [head(content_encoding="gzip") + gzip.compress(data)]
