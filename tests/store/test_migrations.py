"""A database of every earlier form opens, with everything in it, and ends in today's form."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sill.adapters.store import migrations, open_store
from sill.errors import StoreError
from tests.store.examples import asked, body, say
from tests.store.freeze import BETWEEN, PRICE, VERSIONS

EARLIER = range(1, len(migrations.STEPS) + 1)
ROOT = Path(__file__).resolve().parents[2]


def lay_down(place: str, version: int) -> None:
    """The database as that version left it."""
    if place.startswith("postgresql:"):
        import psycopg

        with psycopg.connect(place, autocommit=True) as server:
            for statement in (VERSIONS / f"{version}.postgres.sql").read_text().split(BETWEEN):
                server.execute(statement)
    else:
        with closing(sqlite3.connect(place, isolation_level=None)) as connection:
            for statement in (VERSIONS / f"{version}.sqlite.sql").read_text().split(BETWEEN):
                connection.execute(statement)


def form(place: str) -> list[tuple[str, ...]]:
    """Tables, columns and indexes as the database itself describes them."""
    if place.startswith("postgresql:"):
        import psycopg

        with psycopg.connect(place) as server:
            columns = server.execute(
                "SELECT table_name, column_name, data_type, is_nullable FROM"
                " information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"
            ).fetchall()
            indexes = server.execute(
                "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
            ).fetchall()
            policies = server.execute("SELECT tablename FROM pg_policies ORDER BY 1").fetchall()
            return [*columns, *indexes, *policies]
    with closing(sqlite3.connect(place)) as connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY 2").fetchall()


@pytest.mark.parametrize("version", EARLIER)
def test_an_earlier_database_keeps_everything(place, version):
    lay_down(place, version)

    async def check():
        store = await open_store(place)
        (chat,) = await store.chats("w")
        first, second = await store.turns(chat.id)
        found = {
            "title": chat.title,
            "questions": asked([first, second]),
            "references": [first.references, second.references],
            "referred": sorted({told for _, told in await store.referred_to("w")}),
            "requests": [recorded.request for recorded in await store.requests(first.id)],
            "kept": await store.keep(second.id),
            "earlier": (await store.history(chat.id)).earlier,
            "epoch": (await store.history(chat.id)).epoch.number,
            "search": [hit.turn == first.id for hit in await store.search("harbour")],
            "costs": [row.settlement.cost for row in await store.attempts()],
            "prices": [row.attempt.price for row in await store.attempts()],
            "proposals": [p.id for p in await store.proposals(chat.id)],
            "notes": [note.text for note in await store.notes("w")],
        }
        await say(store, chat.id, "three")
        await store.delete_chat(chat.id)
        left = await store.search("harbour")
        await store.close()
        return found, left

    assert asyncio.run(check()) == (
        {
            "title": "A frozen chat",
            "questions": ["one harbour " * 20, "two"],
            "references": ['["note.md"]'] * 2,
            "referred": ['["note.md"]'],
            "requests": [body("one harbour " * 20), b"\xff raw"],
            "kept": True,
            "earlier": 0,
            "epoch": 1,
            "search": [True],
            "costs": [3],
            # Nobody knows any more what applied to a call before prices were kept.
            "prices": [PRICE if version >= 6 else None],
            "proposals": ["p"],
            "notes": ["tea"],
        },
        [],
    )


@pytest.mark.parametrize("version", EARLIER)
def test_an_earlier_database_ends_in_todays_form(place, version, tmp_path, request):
    new = str(tmp_path / "new.db")
    if place.startswith("postgresql:"):
        new = request.getfixturevalue("new_postgres")()
    lay_down(place, version)

    async def check():
        for one in (place, new):
            await (await open_store(one)).close()

    asyncio.run(check())
    assert form(place) == form(new)


def test_a_newer_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "sill.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=99")

    with pytest.raises(StoreError, match="a newer Sill has used it"):
        asyncio.run(open_store(path))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone() == (0,)


OPENER = """
import asyncio, sys
from sill.adapters.store import open_store

async def main():
    store = await open_store(sys.argv[1])
    await store.new_chat("w")
    await store.close()

asyncio.run(main())
"""


def test_many_processes_may_be_the_first(place):
    running = [subprocess.Popen([sys.executable, "-c", OPENER, place], cwd=ROOT) for _ in range(4)]

    async def chats():
        store = await open_store(place)
        found = await store.chats()
        await store.close()
        return len(found)

    assert [process.wait() for process in running] == [0] * 4
    assert asyncio.run(chats()) == 4


def test_a_failed_step_leaves_nothing_behind(tmp_path, monkeypatch):
    def broken(is_sqlite: bool) -> list[str]:
        return ["CREATE TABLE half_way (key INTEGER)", "this is no SQL"]

    asyncio.run(_open_and_close(tmp_path / "sill.db"))
    before = form(str(tmp_path / "sill.db"))
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, broken))
    with pytest.raises(StoreError):
        asyncio.run(open_store(tmp_path / "sill.db"))

    assert form(str(tmp_path / "sill.db")) == before


async def _open_and_close(path: Path) -> None:
    await (await open_store(path)).close()
