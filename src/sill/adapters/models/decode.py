"""The bytes of an answer as JSON values, whatever the content type claims. No I/O."""

import json

from ...core.faults import Fault, classify
from ...core.sse import EventStream, Lines, ServerEvent
from .transport import BODY_LIMIT

_DONE = "[DONE]"
_BLANK = b" \t\r\n\xef\xbb\xbf"


class Answer:
    """An event stream, one JSON value, or neither: the first byte that is not blank decides.

    Events never begin with ``{`` or ``<``, and servers that ignore ``stream`` or fail behind a proxy
    send just that, under any content type.
    """

    def __init__(self) -> None:
        self.fault: Fault | None = None  # why nothing more can be read
        self.is_done = False  # the server said that the stream is over
        self._events: EventStream | None = None
        self._whole: list[bytes] | None = None
        self._held = 0

    def feed(self, data: bytes) -> list[object]:
        """Payload only: comments, pings and blank lines give nothing."""
        if self._events is None and self._whole is None:
            data = data.lstrip(_BLANK)
            if not data:
                return []
            if data[0] in b'{["<':
                self._whole = []
            else:
                self._events = EventStream()
        if self._whole is not None:
            self._hold(self._whole, data)
            return []
        assert self._events is not None
        chunks = self._parse(self._events.feed(data))
        if self._events.problem is not None and not self.is_done:
            self.fault = self.fault or Fault("broken", self._events.problem)
        return chunks

    def close(self) -> list[object]:
        """What the end of the bytes completes."""
        if self.fault is not None or self.is_done:
            return []
        if self._events is not None:
            return self._parse(self._events.close())
        if self._whole is None:
            self.fault = Fault("broken", "an empty answer")
            return []
        body = b"".join(self._whole)
        try:
            return [json.loads(body)]
        except (ValueError, RecursionError):
            is_page = body.startswith(b"<")
            self.fault = (
                Fault("page", classify(400, body, {}).said)
                if is_page
                else Fault("broken", "its JSON is cut off or invalid")
            )
        return []

    def _hold(self, pieces: list[bytes], data: bytes) -> None:
        self._held += len(data)
        if self._held > BODY_LIMIT:
            self.fault = Fault("broken", "an answer of more than 16 MiB")
            pieces.clear()
        else:
            pieces.append(data)

    def _parse(self, events: list[ServerEvent]) -> list[object]:
        chunks: list[object] = []
        for event in events:
            if self.is_done or self.fault is not None:
                break
            data = event.data.strip()
            if data == _DONE:
                self.is_done = True
            elif data and event.name != "ping":
                try:
                    chunk = json.loads(data)
                except (ValueError, RecursionError):
                    self.fault = Fault("broken", "a chunk that is not JSON")
                    break
                if not (isinstance(chunk, dict) and chunk.get("type") == "ping"):
                    chunks.append({"error": chunk} if event.name == "error" else chunk)
        return chunks


class JsonLines:
    """One JSON value per line, as Ollama streams; the same promises as ``Answer``."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.is_done = False
        self._lines = Lines()

    def feed(self, data: bytes) -> list[object]:
        chunks = self._parse(self._lines.feed(data))
        if self._lines.overlong:
            self.fault = self.fault or Fault("broken", "a line is too long")
        return chunks

    def close(self) -> list[object]:
        return self._parse([self._lines.rest()])

    def _parse(self, lines: list[bytes]) -> list[object]:
        chunks: list[object] = []
        for line in lines:
            if self.fault is not None or not line.strip():
                continue
            try:
                chunks.append(json.loads(line))
            except (ValueError, RecursionError):
                is_page = line.lstrip().startswith(b"<")
                self.fault = (
                    Fault("page") if is_page else Fault("broken", "a line that is not JSON")
                )
        return chunks
