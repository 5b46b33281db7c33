"""The real program in a pseudo-terminal, and what a person would see of it."""

import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pexpect
import pyte

from .conftest import Home

PATIENCE = 60.0  # seconds; a busy machine is no failure


@dataclass
class Terminal:
    """Keys go in, a screen comes out; everything that was written is kept."""

    child: "pexpect.spawn[str]"
    screen: pyte.HistoryScreen
    written: str = ""
    _stream: pyte.Stream = field(init=False)

    def __post_init__(self) -> None:
        self._stream = pyte.Stream(self.screen)
        # A real terminal tells where its cursor is when it comes to the question, not after what follows it.
        self.screen.write_process_input = self.child.send  # type: ignore[method-assign]

    def press(self, keys: str) -> "Terminal":
        self.child.send(keys)
        return self

    def ask(self, line: str) -> "Terminal":
        """Type a line; Return is a key of its own, as it is for a person."""
        self.press(line)
        self.sees(line[-12:])
        return self.press("\r")

    def read(self, seconds: float = 0.1) -> bool:
        """Take in what was written; False when the program has ended."""
        try:
            piece = self.child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.written += piece
        self._stream.feed(piece)
        return True

    def until(self, is_there: Callable[[], bool], what: str = "") -> "Terminal":
        end = time.monotonic() + PATIENCE
        while not is_there():
            if time.monotonic() > end or not self.read():
                shown = "\n".join(self.lines)
                raise AssertionError(f"never seen: {what}\n{shown}")
        return self

    def sees(self, text: str, times: int = 1) -> "Terminal":
        return self.until(lambda: "\n".join(self.everything).count(text) >= times, repr(text))

    def prompted(self, times: int = 1) -> "Terminal":
        """The prompt is there again, after so many lines that were typed."""
        return self.until(
            lambda: (
                sum(line.startswith("›") for line in self.everything) >= times
                and re.match(r" \S.* · ", self.lowest) is not None  # the status line
            ),
            f"prompt number {times}",
        )

    def ended(self) -> int:
        """The exit code, when the program is gone."""
        end = time.monotonic() + PATIENCE
        while self.read():
            assert time.monotonic() < end, "it does not end\n" + "\n".join(self.lines)
        self.child.wait()
        return self.child.exitstatus if self.child.exitstatus is not None else -1

    def resize(self, rows: int, columns: int) -> None:
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def lowest(self) -> str:
        """The lowest line with something on it."""
        return next((line for line in reversed(self.lines) if line), "")

    @property
    def everything(self) -> list[str]:
        """The screen and what was scrolled out of it."""
        columns = self.screen.columns
        above = ["".join(line[x].data for x in range(columns)) for line in self.screen.history.top]
        return [line.rstrip() for line in above] + self.lines


def start(
    home: Home, *arguments: str, rows: int = 30, columns: int = 100, **environment: str
) -> Terminal:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "sill", *arguments],
        cwd=str(home.folder),
        env={**home.environment, "TERM": "xterm-256color", **environment},
        encoding="utf-8",
        codec_errors="surrogateescape",
        dimensions=(rows, columns),
        timeout=PATIENCE,
        echo=True,
    )
    child.delaybeforesend = None
    return Terminal(child, pyte.HistoryScreen(columns, rows, history=20_000, ratio=0.0001))
