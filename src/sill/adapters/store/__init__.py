"""Where chats are kept: SQLite on one machine, PostgreSQL for many."""

from pathlib import Path

from .database import Database
from .leases import LeaseTimes
from .store import DatabaseStore

__all__ = ["POSTGRES_URLS", "DatabaseStore", "LeaseTimes", "open_store"]

POSTGRES_URLS = ("postgresql://", "postgres://")


async def open_store(
    place: str | Path, owner: str = "local", *, times: LeaseTimes | None = None
) -> DatabaseStore:
    """The owner's chats in a SQLite file or at a ``postgresql://`` address, brought up to date.

    Turns whose process died are closed as interrupted, with what had arrived.
    """
    store = DatabaseStore(await _database(place, owner), times)
    await store.close_abandoned()
    return store


async def _database(place: str | Path, owner: str) -> Database:
    if str(place).startswith(POSTGRES_URLS):
        from .postgres import open_postgres

        return await open_postgres(str(place), owner)
    from .sqlite import open_sqlite

    return await open_sqlite(Path(place), owner)
