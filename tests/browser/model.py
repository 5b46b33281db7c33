"""A model that says what a test wants, over OpenAI's wire, as slowly as the test wants.

with ScriptedServer() as model:
    model.says("lime", "Lime goes on in ", "autumn.")        # to a question with this word in it
    gate = model.holds("long story", "Once ", "upon a time")  # after the first piece it waits for gate.set()
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class Line:
    word: str
    pieces: Sequence[str]
    gate: threading.Event | None = None
    call: tuple[str, str] | None = None  # a tool and its arguments, used before anything is said


@dataclass(slots=True)
class ScriptedServer:
    lines: list[Line] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, int] | None = None
    _server: ThreadingHTTPServer | None = None

    def says(self, word: str, *pieces: str) -> None:
        self.lines.insert(0, Line(word, pieces))

    def holds(self, word: str, *pieces: str) -> threading.Event:
        gate = threading.Event()
        self.lines.insert(0, Line(word, pieces, gate))
        return gate

    def uses(self, word: str, tool: str, arguments: dict[str, Any], then: str) -> None:
        self.lines.insert(0, Line(word, [then], call=(tool, json.dumps(arguments))))

    def proposes(self, word: str, message: str, *ops: dict[str, str]) -> None:
        self.says(word, json.dumps({"assistant_message": message, "ops": list(ops)}))

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "ScriptedServer":
        scripted = self

        class Handler(_Handler):
            script = scripted

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        for line in self.lines:
            if line.gate is not None:
                line.gate.set()
        self._server.shutdown()
        self._server.server_close()

    def line_for(self, body: dict[str, Any]) -> Line:
        last = (
            str(body["messages"][-1]["content"])
            if body.get("messages")
            else str(body.get("prompt"))
        )
        fitting = (line for line in self.lines if line.word in last)
        return next(fitting, Line("", ["I have nothing to say about that."]))


class _Handler(BaseHTTPRequestHandler):
    script: ScriptedServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if not self.path.endswith("/models"):
            return self._json(404, {"error": {"message": "no such route"}})
        return self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/chat/completions"):
            return self._json(404, {"error": {"message": "no such route"}})
        self.script.asked.append(body)
        line = self.script.line_for(body)
        if not body.get("stream"):
            said = {"role": "assistant", "content": "".join(line.pieces)}
            choice = {"index": 0, "message": said, "finish_reason": "stop"}
            return self._json(200, {"model": "scripted", "choices": [choice]})
        return self._stream(line)

    def _stream(self, line: Line) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            if line.call is not None:
                self._call(*line.call)
                return
            for number, piece in enumerate(line.pieces):
                if number > 0 and line.gate is not None:
                    line.gate.wait(300)
                self._event({"choices": [{"index": 0, "delta": {"content": piece}}]})
            self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            self._usage()
            self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            pass  # the reader stopped
        self.close_connection = True

    def _call(self, tool: str, arguments: str) -> None:
        call = {
            "index": 0,
            "id": "call-1",
            "type": "function",
            "function": {"name": tool, "arguments": arguments},
        }
        self._event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        self._usage()
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _usage(self) -> None:
        """Nothing by default: a made-up number would look like a server that drops text."""
        if self.script.usage is not None:
            self._event({"choices": [], "usage": self.script.usage})

    def _event(self, value: dict[str, Any]) -> None:
        chunk = {"id": "1", "object": "chat.completion.chunk", "model": "scripted", **value}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def _json(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: a test says itself what went wrong."""
