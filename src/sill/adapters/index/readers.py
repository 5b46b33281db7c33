"""Files on their way into the index: read one batch after the other, or on all cores where there are many."""

import contextlib
import os
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from ..vault.scan import Entry
from . import reader
from .rows import FileRows, read_rows

BATCH_FILES = 250
BATCH_BYTES = 1_000_000
FEWEST_BATCHES = 4  # from which on it pays to start processes
_MOST_PROCESSES = 4  # more than one writer can keep up with
_AHEAD = 2  # batches for each process, so that none waits for the writer

Process = subprocess.Popen[bytes]


def read_all(root: Path, entries: Sequence[Entry]) -> Generator[list[FileRows]]:
    """The rows of all files, batch by batch, in the order of the entries."""
    batches = list(_batches(entries))
    processes = min(cores(), _MOST_PROCESSES)
    if processes < 2 or len(batches) < FEWEST_BATCHES:
        yield from (read_rows(root, batch) for batch in batches)
    else:
        yield from read_on_cores(root, batches, processes)


def cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_on_cores(
    root: Path, batches: Sequence[Sequence[Entry]], processes: int
) -> Generator[list[FileRows]]:
    """The same, with so many processes that read."""
    with _Pool(root, processes) as pool:
        left = iter(batches)
        under_way = deque(pool.read(batch) for batch in islice(left, processes * _AHEAD))
        while under_way:
            rows = under_way.popleft().result()
            under_way.extend(pool.read(batch) for batch in islice(left, 1))
            yield rows


class _Pool:
    """Processes that read. One that cannot be started or dies costs time, and nothing else."""

    def __init__(self, root: Path, count: int) -> None:
        self._root = root
        self._idle: queue.SimpleQueue[Process | None] = queue.SimpleQueue()
        self._processes = [process for _ in range(count) if (process := _started(root))]
        for number in range(count):
            self._idle.put(self._processes[number] if number < len(self._processes) else None)
        self._threads = ThreadPoolExecutor(count, "sill-reader")
        self._closed = False

    def read(self, batch: Sequence[Entry]) -> Future[list[FileRows]]:
        return self._threads.submit(self._read, batch)

    def _read(self, batch: Sequence[Entry]) -> list[FileRows]:
        process = self._idle.get()
        try:
            if process is not None:
                assert process.stdin is not None and process.stdout is not None
                return reader.ask(batch, process.stdin, process.stdout)
        except (OSError, EOFError, ValueError):
            process = None  # gone, and not asked again
            if self._closed:
                raise
        finally:
            self._idle.put(process)
        return read_rows(self._root, batch)

    def __enter__(self) -> "_Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        for process in self._processes:
            # Nothing of theirs is wanted any more, and they hold nothing that could be lost.
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            process.wait()


def _started(root: Path) -> Process | None:
    if not sys.executable:
        return None
    command = [sys.executable, "-c", reader.START, str(root), *sys.path]
    pipe = subprocess.PIPE
    try:
        # If it fails, the same file is read here, and that says why.
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
    except OSError:
        return None


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += 0 if entry.kind == "attachment" else entry.size
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
