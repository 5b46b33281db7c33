"""A copy of everything an owner has, taken while the store is in use, as one SQLite file."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from ...errors import StoreError, UsageError
from . import chats, desk, ledger, transfer
from .database import Transaction
from .lanes import speaking
from .shelf import new_id
from .sqlite import SqliteDatabase, open_sqlite
from .store import DatabaseStore

PAGES_AT_ONCE = 2_000


async def back_up(store: DatabaseStore, file: Path) -> int:
    """Write ``file`` whole or not at all, and how many bytes it has. It opens like any other database."""
    part = _begun(file)
    try:
        database = store.database
        if isinstance(database, SqliteDatabase):
            await database.call_reading(lambda source: _copy_pages(source, part))
        else:
            await _copy_chats(store, part)
        return _done(part, file)
    finally:
        _cleared(part)


def _begun(file: Path) -> Path:
    """An empty file beside the wanted one, its owner's alone."""
    if file.exists():
        raise UsageError(f"{file} is there already", hint="name a new file")
    part = file.with_name(f".{file.name}.{new_id()}")
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror}", hint="name another place") from error
    return part


def _done(part: Path, file: Path) -> int:
    with part.open("rb") as whole:
        os.fsync(whole.fileno())
    part.rename(file)
    return file.stat().st_size


def _cleared(part: Path) -> None:
    for name in ("", "-wal", "-shm", "-journal"):
        part.with_name(part.name + name).unlink(missing_ok=True)


def _copy_pages(source: sqlite3.Connection, part: Path) -> None:
    with speaking(part), closing(sqlite3.connect(part)) as target:
        # SQLite starts over by itself when somebody writes in between: the copy is of one moment.
        source.backup(target, pages=PAGES_AT_ONCE)
        target.execute("PRAGMA journal_mode=DELETE")


async def _copy_chats(store: DatabaseStore, part: Path) -> None:
    """From one consistent state, chat by chat."""
    target = DatabaseStore(await open_sqlite(part, store.owner))

    async def script(source: Transaction) -> None:
        for info in reversed(await chats.every(source, None)):
            await target.add_copy(await transfer.copy(source, info.id))
        notes = await desk.notes(source, None)
        attempts = await ledger.every(source, 0, None, None)

        async def rest(transaction: Transaction) -> None:
            await desk.put_notes(transaction, notes)
            for attempt in attempts:
                await transfer.put_attempt(transaction, attempt)

        await target.database.write(rest)

    try:
        await store.database.read(script)
    finally:
        await target.close()
