"""SQLite: one file, WAL, one writing and one reading connection, each in a thread of its own."""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from ...errors import StoreError
from . import migrations
from .database import Row, Script

T = TypeVar("T")

BUSY_MS = 10_000
SYNC_AFTER = 0.05  # seconds until a write that was not lasting is put on the disk


@dataclass(slots=True)
class SqliteTransaction:
    connection: sqlite3.Connection
    owner: str
    now: str = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"
    is_sqlite: bool = True
    has_vectors: bool = False

    async def rows(self, sql: str, *values: object) -> list[Row]:
        return self.connection.execute(sql, values).fetchall()

    async def row(self, sql: str, *values: object) -> Row | None:
        return cast(Row | None, self.connection.execute(sql, values).fetchone())

    async def run(self, sql: str, *values: object) -> int:
        return self.connection.execute(sql, values).rowcount

    async def many(self, sql: str, rows: Iterable[Row]) -> None:
        self.connection.executemany(sql, rows)


def finished(script: Coroutine[Any, Any, T]) -> T:
    """The answer of a script that never waits."""
    try:
        script.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    script.close()
    raise RuntimeError("a script waited for something other than its transaction")


class _Lane:
    """One connection in one thread."""

    def __init__(self, path: Path, *, writes: bool) -> None:
        self._path = path
        self._writes = writes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sill-store")
        self._connection: sqlite3.Connection | None = None
        self._log: int | None = None

    async def call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def in_thread() -> T:
            with speaking(self._path):
                return work(self.connection())

        return await asyncio.get_running_loop().run_in_executor(self._thread, in_thread)

    def connection(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect(self._path, writes=self._writes)
        return self._connection

    def transact(self, connection: sqlite3.Connection, work: Callable[[], T], lasting: bool) -> T:
        connection.execute("BEGIN IMMEDIATE" if self._writes else "BEGIN")
        try:
            answer = work()
            connection.execute("COMMIT")
        except BaseException:
            # A full disk may have ended the transaction already.
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        if self._writes and lasting:
            self.sync()
        return answer

    def sync(self) -> None:
        """Everything committed is on the disk when this returns.

        It is what ``synchronous=FULL`` does at the end of a commit. Done here, a commit that need not wait
        does not have to switch that setting off and on.
        """
        try:
            if self._log is None:
                self._log = os.open(f"{self._path}-wal", os.O_RDWR)
            os.fsync(self._log)
        except FileNotFoundError:
            pass  # without a log, SQLite has done it
        except OSError as error:
            raise StoreError(
                f"{self._path}: {error.strerror}; what was written may not last",
                hint="check the disk",
            ) from error

    async def close(self) -> None:
        def in_thread() -> None:
            if self._log is not None:
                os.close(self._log)
                self._log = None
            if self._connection is not None:
                self._connection.close()
                self._connection = None

        await asyncio.get_running_loop().run_in_executor(self._thread, in_thread)
        self._thread.shutdown(wait=False)


@dataclass(slots=True)
class SqliteDatabase:
    """Open with ``open_sqlite``."""

    path: Path
    owner: str
    _writer: _Lane
    _reader: _Lane
    _unsynced: list[asyncio.TimerHandle]
    borrowed: bool = False

    async def read(self, script: Script[T]) -> T:
        lane = self._reader
        return await lane.call(
            lambda connection: lane.transact(
                connection, lambda: self._finished(script, connection), True
            )
        )

    async def write(self, script: Script[T], *, lasting: bool = True) -> T:
        lane = self._writer
        answer = await lane.call(
            lambda connection: lane.transact(
                connection, lambda: self._finished(script, connection), lasting
            )
        )
        self._plan_sync(lasting)
        return answer

    def _finished(self, script: Script[T], connection: sqlite3.Connection) -> T:
        running = script(SqliteTransaction(connection, self.owner))
        return finished(cast(Coroutine[Any, Any, T], running))

    def as_owner(self, owner: str) -> "SqliteDatabase":
        return replace(self, owner=owner, borrowed=True)

    # A lasting commit carries everything before it to the disk. Where none follows, a timer does it,
    # so that a reply is safe from a power cut a moment after it was stored, and nobody waits for it.

    def _plan_sync(self, lasting: bool) -> None:
        if lasting:
            self._cancel_sync()
        elif not self._unsynced:
            loop = asyncio.get_running_loop()
            self._unsynced.append(loop.call_later(SYNC_AFTER, self._sync_soon))

    def _cancel_sync(self) -> None:
        while self._unsynced:
            self._unsynced.pop().cancel()

    def _sync_soon(self) -> None:
        self._cancel_sync()
        loop = asyncio.get_running_loop()
        loop.run_in_executor(self._writer._thread, self._sync_quietly)

    def _sync_quietly(self) -> None:
        # Nobody waits for it; the next lasting commit says what is wrong with the disk.
        with contextlib.suppress(StoreError):
            self._writer.sync()

    async def call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Work outside any transaction, by the connection that writes."""
        return await self._writer.call(work)

    async def call_reading(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Work that takes long and writes nothing here."""
        return await self._reader.call(work)

    async def compact(self) -> None:
        def work(connection: sqlite3.Connection) -> None:
            # The index of words keeps what it was told to forget until it is merged.
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        await self.call(work)

    async def close(self) -> None:
        if self.borrowed:
            return
        if self._unsynced:
            self._cancel_sync()
            await self._writer.call(lambda _: self._sync_quietly())
        await self._reader.close()
        await self._writer.close()


async def open_sqlite(path: Path, owner: str) -> SqliteDatabase:
    """The database in its newest form; made when it is not there yet."""
    database = SqliteDatabase(path, owner, _Lane(path, writes=True), _Lane(path, writes=False), [])
    try:
        await database.call(migrations.bring_sqlite_up)
    except BaseException:
        await database.close()
        raise
    return database


def connect(path: Path, *, writes: bool) -> sqlite3.Connection:
    if path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return _connect_read_only(path)
    if writes:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            # Chats are private: the file is its owner's alone before anything is in it.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = _connected(str(path))
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA secure_delete=ON")  # what is deleted is overwritten
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    if writes and mode != "wal":
        mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    # With a log, a commit that has to last is followed by ``_Lane.sync``. Some file systems allow none.
    connection.execute(f"PRAGMA synchronous={'NORMAL' if mode == 'wal' else 'FULL'}")
    return connection


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """For a file that may be read; every write will say why it cannot be."""
    # Without a log nobody is writing, and none of SQLite's helper files is needed.
    unused = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    return _connected(f"{path.absolute().as_uri()}?mode=ro{unused}")


def _connected(name: str) -> sqlite3.Connection:
    return sqlite3.connect(
        name,
        timeout=BUSY_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        uri=name.startswith("file:"),
    )


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


@contextlib.contextmanager
def speaking(path: Path) -> Iterator[None]:
    """Database failures as ``StoreError``; they hold no text of messages."""
    try:
        yield
    except sqlite3.Error as error:
        # Extended codes carry the plain one in their low byte.
        code = getattr(error, "sqlite_errorcode", None) or 0
        what, hint = _HINTS.get(code & 0xFF, (str(error), ""))
        raise StoreError(f"{path}: {what}; nothing was written", hint=hint) from error
    except OSError as error:
        raise StoreError(
            f"{path}: {error.strerror}; nothing was written", hint="check the folder and its rights"
        ) from error
