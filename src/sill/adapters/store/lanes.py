"""One SQLite connection, with a thread that does what it is given in order.

Work that is short and need not wait for another process may be done at once by whoever has it, while the thread has
nothing to do: waking a thread and being woken by it takes longer than a small transaction.
"""

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar
from weakref import finalize

from ...errors import StoreError

T = TypeVar("T")

Connect = Callable[[], sqlite3.Connection]
Work = Callable[[sqlite3.Connection], T]

TOGETHER = 64  # commits that one sync may serve
BUSY_MS = 10_000  # to wait for other processes
SWIFT = 0.0005  # seconds: a disk that is quicker is waited for on the spot, as a thread would take longer
CHECKPOINT_AFTER = 64  # commits, about a thousand pages; SQLite would do it in the middle of one

# What SQLite itself calls: a file's times need not be on the disk.
_sync_file = "fdatasync" if hasattr(os, "fdatasync") else "fsync"


@dataclass(slots=True)
class Job:
    """``lasting``: its waiter hears of it when it is on the disk. ``alone``: it may take long."""

    work: Callable[[], Any]
    future: "asyncio.Future[Any]"
    lasting: bool = False
    alone: bool = False


@dataclass(slots=True)
class _Bench:
    """What the thread works with. It knows nothing of the lane, so that a forgotten lane ends its thread."""

    path: Path
    connect: Connect
    undone: Callable[[], None]
    jobs: "SimpleQueue[Job | None]" = field(default_factory=SimpleQueue)
    connection: sqlite3.Connection | None = None
    log: int | None = None
    has_log: bool = False
    waits: int | None = None  # milliseconds, for other processes
    taken: int = 0  # jobs that were given to the thread; only the loop counts them,
    done: int = 0  # and only the thread counts these
    commits: int = 0  # since the log was last copied into the database
    sync_takes: float = 0.005  # seconds, as far as is known
    dirty_since: float | None = None  # when the first of what is not on the disk was committed

    def run(self) -> None:
        """Whoever waits for the disk waits together with those who come meanwhile."""
        waiting: list[tuple[Job, Any]] = []
        # Nothing of a job is held on to while waiting for the next: it knows the lane.
        while self._do(self.jobs.get(), waiting):
            if self.commits >= CHECKPOINT_AFTER and not waiting:
                self._checkpoint()
            self.done += 1

    def _do(self, job: Job | None, waiting: list[tuple[Job, Any]]) -> bool:
        if job is None or job.alone:
            self._settle(waiting)
        if job is None:
            return False
        if not job.future.cancelled():
            try:
                answer = job.work()
            except BaseException as error:
                _tell(job, None, spoken(self.path, error))
            else:
                if job.lasting:
                    waiting.append((job, answer))
                else:
                    _tell(job, answer)
        if waiting and (self.jobs.empty() or len(waiting) == TOGETHER):
            self._settle(waiting)
        return True

    def _settle(self, waiting: list[tuple[Job, Any]]) -> None:
        problem: StoreError | None = None
        if waiting:
            try:
                self.sync()
            except StoreError as error:
                problem = error
        for job, answer in waiting:
            _tell(job, answer, problem)
        waiting.clear()

    def patient(self) -> sqlite3.Connection:
        """The connection, which waits for other processes while the thread has it."""
        if self.connection is None:
            self.connection = self.connect()
            (mode,) = self.connection.execute("PRAGMA journal_mode").fetchone()
            self.has_log = mode == "wal"
        return self._waiting(self.connection, BUSY_MS)

    def _waiting(self, connection: sqlite3.Connection, milliseconds: int) -> sqlite3.Connection:
        if self.waits != milliseconds:
            connection.execute(f"PRAGMA busy_timeout={milliseconds}")
            self.waits = milliseconds
        return connection

    def _checkpoint(self) -> None:
        # As far as it goes now: a reader or another writer is not waited for.
        with contextlib.suppress(sqlite3.Error):
            self.patient().execute("PRAGMA wal_checkpoint(PASSIVE)")
        self.commits = 0

    def at_once(self, work: Work[T]) -> "tuple[T] | None":
        """What the work gives, if the thread is idle and no other process writes; None if it has to wait."""
        # Without a log every commit waits for the disk, and for readers.
        if self.connection is None or not self.has_log or self.taken != self.done:
            return None
        try:
            return (work(self._waiting(self.connection, 0)),)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return None
            raise

    def committed(self) -> None:
        self.commits += 1
        if self.dirty_since is None:
            self.dirty_since = time.monotonic()

    def sync(self) -> None:
        """Everything committed is on the disk when this returns.

        It is what ``synchronous=FULL`` does at the end of a commit. Done here, a commit that need not wait
        does not have to switch that setting off and on.
        """
        try:
            if self.log is None:
                self.log = os.open(f"{self.path}-wal", os.O_RDWR)
            started = time.perf_counter()
            getattr(os, _sync_file)(self.log)
            self._took(time.perf_counter() - started)
        except FileNotFoundError:
            pass  # without a log, SQLite has done it
        except OSError as error:
            raise StoreError(
                f"{self.path}: {error.strerror}; what was written may not last",
                hint="check the disk",
            ) from error
        self.dirty_since = None

    def _took(self, seconds: float) -> None:
        # One slow sync is believed at once, quick ones only by and by.
        self.sync_takes = max(seconds, 0.75 * self.sync_takes + 0.25 * seconds)

    def close(self) -> None:
        if self.commits:
            # Only the last one to leave a database copies its log unasked: beside one that stays open and writes
            # little, the log of many who come and go would never end.
            self._checkpoint()
        if self.log is not None:
            os.close(self.log)
            self.log = None
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        self.commits = 0


class Lane:
    """Belongs to the event loop that uses it."""

    def __init__(
        self, path: Path, connect: Connect, undone: Callable[[], None] = lambda: None
    ) -> None:
        """``undone`` is called after a transaction that came to nothing."""
        self._bench = _Bench(path, connect, undone)
        self._thread: threading.Thread | None = None

    @property
    def unsynced_for(self) -> float | None:
        """For how many seconds something that was committed is not on the disk."""
        since = self._bench.dirty_since
        return None if since is None else time.monotonic() - since

    def start(
        self, work: Work[T], *, lasting: bool = False, alone: bool = False
    ) -> "asyncio.Future[T]":
        """It is done in its turn, whether or not anybody waits for it; not if it is cancelled before."""
        bench = self._bench
        return self._give(lambda: work(bench.patient()), lasting, alone)

    def _give(
        self, work: Callable[[], T], lasting: bool = False, alone: bool = False
    ) -> "asyncio.Future[T]":
        bench = self._bench
        if self._thread is None:
            self._thread = threading.Thread(target=bench.run, name="sill-store", daemon=True)
            self._thread.start()
            finalize(self, bench.jobs.put, None)
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        bench.taken += 1
        bench.jobs.put(Job(work, future, lasting, alone))
        return future

    def write(self, work: Work[T], *, lasting: bool, short: bool) -> "asyncio.Future[T]":
        """``work`` in a transaction that may write: at once, if it is ``short`` and can be."""
        transaction = self._transaction(work, "BEGIN IMMEDIATE")
        if not short or self._bench.commits >= 2 * CHECKPOINT_AFTER:
            return self.start(transaction, lasting=lasting)
        try:
            done = self._bench.at_once(transaction)
        except Exception as error:
            return _failed(spoken(self._bench.path, error))
        if done is None:
            return self.start(transaction, lasting=lasting)
        (answer,) = done
        if lasting:
            return self._lasting(answer)
        if self._bench.commits >= CHECKPOINT_AFTER:
            self._give(lambda: None)
        return _succeeded(answer)

    def _lasting(self, answer: T) -> "asyncio.Future[T]":
        """The answer, once all that was committed is on the disk."""
        if self._bench.sync_takes > SWIFT:
            return self._give(lambda: answer, lasting=True)
        try:
            self._bench.sync()
        except StoreError as error:
            return _failed(error)
        return _succeeded(answer)

    def read(self, work: Work[T]) -> "asyncio.Future[T]":
        return self.start(self._transaction(work, "BEGIN"))

    def _transaction(self, work: Work[T], begin: str) -> Work[T]:
        """All of it or nothing."""
        bench, writes = self._bench, begin != "BEGIN"

        def transaction(connection: sqlite3.Connection) -> T:
            connection.execute(begin)
            try:
                answer = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                bench.undone()
                raise
            if writes:
                bench.committed()
            return answer

        return transaction

    def sync(self) -> "asyncio.Future[None]":
        return self._give(self._bench.sync)

    async def close(self) -> None:
        if self._thread is not None:
            await self._give(self._bench.close, alone=True)
            self._bench.jobs.put(None)
            self._thread = None


def _succeeded(answer: T) -> "asyncio.Future[T]":
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    future.set_result(answer)
    return future


def _failed(problem: BaseException) -> "asyncio.Future[Any]":
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.set_exception(problem)
    return future


def _tell(job: Job, answer: Any, problem: BaseException | None = None) -> None:
    def settle() -> None:
        if job.future.cancelled():
            return
        if problem is None:
            job.future.set_result(answer)
        else:
            job.future.set_exception(problem)

    # The loop may be gone: then nobody is there to hear it.
    with contextlib.suppress(RuntimeError):
        job.future.get_loop().call_soon_threadsafe(settle)


# --- What went wrong ------------------------------------------------------------------------------

_HINTS = {
    sqlite3.SQLITE_FULL: ("the disk is full", "free some space and say it again"),
    sqlite3.SQLITE_READONLY: ("the database is read-only", "check who may write the file"),
    sqlite3.SQLITE_BUSY: ("another program keeps the database busy", "try again"),
    sqlite3.SQLITE_LOCKED: ("another program keeps the database busy", "try again"),
    sqlite3.SQLITE_CANTOPEN: ("the database cannot be opened", "check the folder and its rights"),
    sqlite3.SQLITE_CORRUPT: ("the database is damaged", "restore a backup, or move the file away"),
    sqlite3.SQLITE_NOTADB: ("this is not a database", "choose another file"),
    sqlite3.SQLITE_IOERR: ("the disk fails", "check the disk"),
}


def spoken(path: Path, error: BaseException) -> BaseException:
    """Database failures as ``StoreError``, others as they are; they hold no text of messages."""
    match error:
        case sqlite3.Error():
            # Extended codes carry the plain one in their low byte.
            code = getattr(error, "sqlite_errorcode", None) or 0
            what, hint = _HINTS.get(code & 0xFF, (str(error), ""))
        case OSError():
            what, hint = error.strerror or str(error), "check the folder and its rights"
        case _:
            return error
    told = StoreError(f"{path}: {what}; nothing was written", hint=hint)
    told.__cause__ = error
    return told


@contextlib.contextmanager
def speaking(path: Path) -> Iterator[None]:
    """For work outside a lane."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise spoken(path, error) from error
