"""An answer as it comes: finished blocks are printed once, only the last one is drawn again.

Whatever was printed stays as it is, so the scrollback holds every line exactly once.
"""

import shutil
import sys
import time
from collections.abc import Callable
from typing import Protocol, TextIO

from ..screen import Pieces, is_coloured, is_styled, plain
from .blocks import split, tail
from .markdown import rendered

REDRAW_S = 0.05  # twenty pictures a second are enough to read along
_LEAST_ROWS = 3

Size = Callable[[], tuple[int, int]]  # columns, rows


class Flow(Protocol):
    """Where an answer is shown while it comes."""

    def add(self, piece: str) -> None: ...

    def note(self, line: str) -> None:
        """One safe line between the blocks of the answer."""
        ...

    def wait(self, line: str) -> None:
        """What is awaited; gone with the next word."""
        ...

    def status(self, line: str) -> None:
        """What stands below the answer while it grows."""
        ...

    def finish(self) -> None: ...


def flow_for(out: TextIO) -> Flow:
    """Drawn where the terminal can move its cursor, plain text elsewhere."""
    if is_styled(out):
        return LiveFlow(out, terminal_size, colours=is_coloured(out))
    return PlainFlow(out, err=sys.stderr)


def terminal_size() -> tuple[int, int]:
    size = shutil.get_terminal_size()
    return size.columns, size.lines


class PlainFlow:
    """The answer's text and nothing else; remarks go elsewhere."""

    def __init__(self, out: TextIO, err: TextIO) -> None:
        self._out, self._err = out, err
        self._ends_line = True
        self._pieces = Pieces()

    def add(self, piece: str) -> None:
        if piece:
            self._out.write(self._pieces.add(piece))
            self._out.flush()
            self._ends_line = piece.endswith("\n")

    def note(self, line: str) -> None:
        self._err.write(line + "\n")
        self._err.flush()

    def wait(self, line: str) -> None:
        pass

    def status(self, line: str) -> None:
        pass

    def finish(self) -> None:
        self._out.write(self._pieces.end())
        if not self._ends_line:
            self.add("\n")


class LiveFlow:
    """Markdown, laid out while it grows."""

    def __init__(
        self,
        out: TextIO,
        size: Size,
        *,
        colours: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._out, self._size, self._clock, self._colours = out, size, clock, colours
        self._text = ""  # of the blocks that are not printed yet
        self._live: list[str] = []  # lines that can still be taken back, as they were written
        self._status = ""
        self._notes: list[str] = []  # said while a block was growing
        self._drawn = float("-inf")
        self._any = False  # a block was printed

    def add(self, piece: str) -> None:
        self._text += piece
        now = self._clock()
        if now - self._drawn >= REDRAW_S:
            self._drawn = now
            self._draw()

    def note(self, line: str) -> None:
        """Below the block that is growing, once it is finished; what is awaited stays below the line."""
        self._draw()  # only the last block is left, and the line belongs behind that one
        if self._text.strip():
            self._notes.append(line)
        else:
            self._write([line], [*self._live])

    def wait(self, line: str) -> None:
        if not self._text.strip():
            self._write([], [f"\x1b[2m{plain(line)}\x1b[0m"])

    def status(self, line: str) -> None:
        self._status = plain(line)

    def finish(self) -> None:
        """Everything that came is printed, and nothing can be taken back any more."""
        blocks, rest = split(self._text)
        self._text = self._status = ""
        self._print([*blocks, rest], "")
        self._write(self._notes, [])
        self._notes = []

    def _draw(self) -> None:
        blocks, self._text = split(self._text)
        self._print(blocks, self._text)

    def _print(self, blocks: list[str], growing: str) -> None:
        columns, rows = self._size()
        printed: list[str] = []
        for block in blocks:
            if lines := self._lines(block, columns):
                printed += ["", *lines] if self._any else lines
                self._any = True
                notes, self._notes = self._notes, []
                printed += notes
        most = max(_LEAST_ROWS, rows - 3)
        live = self._lines(tail(growing, 2 * most), columns)
        live = live[-most:]
        live = ["", *live] if live and self._any else live
        status = f"\x1b[2m{self._status[: columns - 1]}\x1b[0m"
        self._write(printed, [*live, status] if self._status else live)

    def _lines(self, text: str, columns: int) -> list[str]:
        # One column stays free: a line that fills its row would wrap in some terminals and not in others.
        return rendered(text, columns - 1, colours=self._colours) if text.strip() else []

    def _write(self, printed: list[str], live: list[str]) -> None:
        """Put ``printed`` where the live lines were, and ``live`` below it, in one go."""
        wanted = [*printed, *live]
        same = 0
        while same < min(len(wanted), len(self._live)) and wanted[same] == self._live[same]:
            same += 1
        columns, _ = self._size()
        up = sum(_rows(line, columns) for line in self._live[same:])
        back = f"\x1b[{up}A" if up else ""
        body = "".join(f"{line}\x1b[K\n" for line in wanted[same:])
        # Lines below the new ones are left from the old ones.
        text = f"{back}\r{body}\x1b[J" if up else body
        if text:
            self._out.write(text)
            self._out.flush()
        self._live = live


def _rows(line: str, columns: int) -> int:
    """Rows that a line takes which was written when the terminal may have been wider."""
    from rich.cells import cell_len

    return max(1, -(-cell_len(_unstyled(line)) // max(1, columns)))


def _unstyled(line: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", line)
