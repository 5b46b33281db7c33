"""Reading files in a process of its own, so that a great many are read on all cores.

What goes through the pipes are plain values, each after its length: a batch of entries one way, the rows of
those files the other. Whoever started the process ends it by closing its input.
"""

import gc
import marshal
import signal
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from ..vault.scan import Entry
from .rows import FileRows, read_rows

_LENGTH = struct.Struct(">Q")

# The same modules are found there as here, however they were found here.
START = (
    "import sys; sys.path[:] = sys.argv[2:];"
    " from sill.adapters.index.reader import main; main(sys.argv[1])"
)


def main(root: str) -> None:
    # Ctrl-C is for the one who asked; this process ends with its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing here refers to itself in a circle: to look for that only takes time.
    gc.disable()
    serve(Path(root), sys.stdin.buffer, sys.stdout.buffer)


def serve(root: Path, source: IO[bytes], answers: IO[bytes]) -> None:
    """Answer batches until there are no more."""
    while (batch := receive(source)) is not None:
        rows = read_rows(root, (Entry(*values) for values in batch))
        send(answers, [(one.path, one.file, one.passages, one.links, one.aliases) for one in rows])


def ask(entries: Iterable[Entry], requests: IO[bytes], answers: IO[bytes]) -> list[FileRows]:
    """The other end: rows of these files; EOFError if the process is gone."""
    send(requests, [(one.path, one.kind, one.size, one.mtime, one.inode) for one in entries])
    if (rows := receive(answers)) is None:
        raise EOFError
    return [FileRows(*values) for values in rows]


def send(stream: IO[bytes], value: list[Any]) -> None:
    data = marshal.dumps(value)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next value; None where the stream ends, between two values or in the middle of one."""
    length = stream.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(length)
    data = stream.read(size)
    return marshal.loads(data) if len(data) == size else None
