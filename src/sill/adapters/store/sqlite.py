"""SQLite: one file, WAL, one writing and one reading connection, each in a thread of its own."""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from ...errors import StoreError
from . import migrations, words
from .database import Row, Script
from .lanes import BUSY_MS, Lane
from .loose import Loose

T = TypeVar("T")

SYNC_AFTER = 0.05  # seconds until a write that was not lasting is put on the disk
READ_TRIES = 3  # while others lay down more and more


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

    async def insert(self, sql: str, *values: object) -> int | None:
        done = self.connection.execute(sql, values)
        return done.lastrowid if done.rowcount else None

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


def put_away(loose: Loose, connection: sqlite3.Connection) -> None:
    """Whatever lies loose in the database is in its place."""
    everybodys = SqliteTransaction(connection, owner="")
    finished(loose.put_away(everybodys, lambda owner: SqliteTransaction(connection, owner)))


async def _nothing(transaction: object) -> None:
    """For what happens before a script."""


@dataclass(slots=True)
class SqliteDatabase:
    """Open with ``open_sqlite``."""

    path: Path
    owner: str
    loose: Loose
    _writer: Lane
    _reader: Lane
    _timers: list[asyncio.TimerHandle]
    borrowed: bool = False

    async def read(self, script: Script[T]) -> T:
        for _ in range(READ_TRIES):
            answers = await self._reader.read(self._if_nothing_is_loose(script))
            if answers:
                return answers[0]
            try:
                await self.write(_nothing, lasting=False)
            except StoreError:
                # The disk is full, or may only be read.
                return await self._reader.start(self._of_copy(script), alone=True)
        return await self.write(script, lasting=False)

    async def write(
        self,
        script: Script[T],
        *,
        lasting: bool = True,
        short: bool = False,
        loosely: bool = False,
    ) -> T:
        return await self.start(script, lasting=lasting, short=short, loosely=loosely)

    def start(
        self,
        script: Script[T],
        *,
        lasting: bool = True,
        short: bool = False,
        loosely: bool = False,
    ) -> asyncio.Future[T]:
        if (loosely or not lasting) and not self._timers:
            self._sync_after(SYNC_AFTER)
        if loosely:
            return self._writer.write(self._of(script), lasting=lasting, short=short)
        # Whatever has to be put away first may be much.
        short = short and not self.loose.is_waiting
        return self._writer.write(self._of_all(script), lasting=lasting, short=short)

    def _of(self, script: Script[T]) -> Callable[[sqlite3.Connection], T]:
        def work(connection: sqlite3.Connection) -> T:
            running = script(SqliteTransaction(connection, self.owner))
            return finished(cast(Coroutine[Any, Any, T], running))

        return work

    def _of_all(self, script: Script[T]) -> Callable[[sqlite3.Connection], T]:
        """With everything in its place."""

        def work(connection: sqlite3.Connection) -> T:
            put_away(self.loose, connection)
            return self._of(script)(connection)

        return work

    def _if_nothing_is_loose(self, script: Script[T]) -> Callable[[sqlite3.Connection], list[T]]:
        """The answer, or nothing if that could depend on what is not in its place yet."""

        def work(connection: sqlite3.Connection) -> list[T]:
            if connection.execute("SELECT 1 FROM loose LIMIT 1").fetchone():
                return []
            return [self._of(script)(connection)]

        return work

    def _of_copy(self, script: Script[T]) -> Callable[[sqlite3.Connection], T]:
        """Of a database that cannot be written, read as if it could be."""

        def work(connection: sqlite3.Connection) -> T:
            with contextlib.closing(_connected(":memory:")) as copy:
                connection.backup(copy)
                put_away(Loose(), copy)
                return self._of(script)(copy)

        return work

    def as_owner(self, owner: str) -> "SqliteDatabase":
        return replace(self, owner=owner, borrowed=True)

    # A lasting commit carries everything before it to the disk. Where none follows, a timer does it,
    # so that a reply is safe from a power cut a moment after it was stored, and nobody waits for it.

    def _sync_after(self, seconds: float) -> None:
        self._timers.append(asyncio.get_running_loop().call_later(seconds, self._sync_if_due))

    def _sync_if_due(self) -> None:
        self._timers.clear()
        age = self._writer.unsynced_for
        if age is None and not self.loose.is_waiting:
            return
        if age is not None and age < SYNC_AFTER:
            self._sync_after(SYNC_AFTER - age)
        else:
            # Nobody waits for it; the next lasting commit says what is wrong with the disk.
            self._settle().add_done_callback(lambda done: done.cancelled() or done.exception())

    def _settle(self) -> asyncio.Future[None]:
        """All is in its place, the index of words knows every finished turn, and all of it is on the disk."""
        self._writer.write(self._of_all(words.catch_up), lasting=False, short=False)
        return self._writer.sync()

    async def call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Work outside any transaction, by the connection that writes."""
        return await self._writer.start(work, alone=True)

    async def call_reading(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Work that takes long and writes nothing here."""
        return await self._reader.start(work, alone=True)

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
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        if self.loose.is_waiting or self._writer.unsynced_for is not None:
            with contextlib.suppress(StoreError):
                await self._settle()
        await self._reader.close()
        await self._writer.close()


async def open_sqlite(path: Path, owner: str) -> SqliteDatabase:
    """The database in its newest form; made when it is not there yet."""
    loose = Loose()
    writer = Lane(path, lambda: connect(path, writes=True), loose.forget)
    reader = Lane(path, lambda: connect(path, writes=False))
    database = SqliteDatabase(path, owner, loose, writer, reader, [])
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
    if mode == "wal":
        # ``Lane`` does that when nobody waits.
        connection.execute("PRAGMA wal_autocheckpoint=0")
    # With a log, a commit that has to last is followed by a sync in ``Lane``. Some file systems allow none.
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
