"""Server-sent events and lines from bytes, without any I/O.

However the bytes are cut, the same events come out. Memory is bounded by one line's limit.
"""

from dataclasses import dataclass
from typing import Literal

LINE_LIMIT = 4 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"

Problem = Literal["a line is too long", "bytes that are not UTF-8"]


class Lines:
    """Bytes in any pieces in, whole lines out; ``\\n``, ``\\r\\n`` and ``\\r`` end a line."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self.overlong = False  # once true, nothing more comes out
        self._limit = limit
        self._pieces: list[
            bytes
        ] = []  # of the line that has no end yet: joined once, never rescanned
        self._held = 0
        self._after_return = False

    def feed(self, data: bytes) -> list[bytes]:
        if self._after_return and data:
            data = data.removeprefix(b"\n")
            self._after_return = False
        if self.overlong or not data:
            return []
        self._after_return = data.endswith(b"\r")
        lines = data.splitlines()
        tail = lines.pop() if data[-1] not in b"\r\n" else b""
        if lines and self._pieces:
            lines[0] = b"".join([*self._pieces, lines[0]])
            self._pieces, self._held = [], 0
        if tail:
            self._pieces.append(tail)
            self._held += len(tail)
        for number, line in enumerate(lines):
            if len(line) > self._limit:
                return self._give_up(lines[:number])
        return self._give_up(lines) if self._held > self._limit else lines

    def rest(self) -> bytes:
        """The last line, if the bytes ended without ending it."""
        return b"".join(self._pieces)

    def _give_up(self, lines: list[bytes]) -> list[bytes]:
        self.overlong, self._pieces, self._held = True, [], 0
        return lines


@dataclass(frozen=True, slots=True)
class ServerEvent:
    data: str
    name: str = "message"


class EventStream:
    """The parser of the WHATWG specification; comments, ids and retry times are passed over.

    Bytes that cannot be events set ``problem``; what came before them still comes out, nothing after.
    """

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self.problem: Problem | None = None
        self._lines = Lines(limit)
        self._limit = limit
        self._is_first_line = True
        self._name = ""
        self._data: list[str] = []
        self._held = 0

    def feed(self, data: bytes) -> list[ServerEvent]:
        events = self._read(self._lines.feed(data))
        if self._lines.overlong:
            self.problem = self.problem or "a line is too long"
        return events

    def close(self) -> list[ServerEvent]:
        """The event that was not ended by an empty line, if there is one.

        The specification drops it; a whole JSON object that lacks only its line end is still whole.
        """
        rest = self._lines.rest()
        return self._read([rest, b""] if rest else [b""])

    def _read(self, lines: list[bytes]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for line in lines:
            if self.problem is not None:
                break
            if self._is_first_line:
                self._is_first_line = False
                line = line.removeprefix(_BOM)
            if not line:
                if self._data:
                    events.append(ServerEvent("\n".join(self._data), self._name or "message"))
                self._name, self._data, self._held = "", [], 0
            elif line[0] != 0x3A:  # not a comment
                self._read_field(line)
        return events

    def _read_field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        if field not in (b"data", b"event"):
            return
        try:
            text = value.removeprefix(b" ").decode()
        except UnicodeDecodeError:
            self.problem = "bytes that are not UTF-8"
            return
        if field == b"event":
            self._name = text
            return
        self._data.append(text)
        self._held += len(value)
        if self._held > self._limit:
            self.problem = "a line is too long"
