"""Disks and databases that cannot be used: a clear error, and nothing is lost."""

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys

import pytest

from sill.adapters.store import open_store
from sill.errors import SettingsError, StoreError
from tests.store.examples import asked, closing, opening, say


def words(n: int) -> str:
    """Text that does not compress to nothing."""
    return os.urandom(n // 2).hex()


def fill(store, chat):
    """Turns until one fails; the questions that were acknowledged, and the error."""

    async def go():
        kept = []
        while True:
            try:
                question = words(20_000)
                turn = await store.begin(chat, opening(question))
                kept.append(question)
                await store.finish(turn, closing())
            except StoreError as error:
                return kept, error

    return go()


def test_a_full_database_refuses_and_keeps_everything(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        await store._database.call(lambda c: c.execute("PRAGMA max_page_count=200"))
        kept, error = await fill(store, chat)
        await store._database.call(lambda c: c.execute("PRAGMA max_page_count=100000"))
        await store.close()
        store = await open_store(tmp_path / "sill.db")
        await say(store, chat, "there is room again")
        history = await store.history(chat)
        await store.close()

        assert "the disk is full; nothing was written" in error.message
        assert error.hint == "free some space and say it again"
        assert asked(history.turns) == [*kept, "there is room again"]

    asyncio.run(check())


@pytest.fixture
def small_disk(tmp_path):
    """A file system of two megabytes, where this process may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("may not mount a small file system here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_refuses_and_keeps_everything(small_disk):
    async def check():
        store = await open_store(small_disk / "sill.db")
        chat = await store.new_chat("w")
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(600_000))
        kept, error = await fill(store, chat)
        # The last answer may still wait for room. What is stored can still be read while the disk is full.
        history = await store.history(chat)
        ballast.unlink()
        await say(store, chat, "there is room again")
        after = await store.history(chat)
        await store.close()
        with contextlib.closing(sqlite3.connect(small_disk / "sill.db")) as connection:
            whole = connection.execute("PRAGMA integrity_check").fetchall()

        assert "the disk is full; nothing was written" in error.message
        assert asked(history.turns) in (kept, kept[:-1])
        assert asked(after.turns) == [*kept, "there is room again"]
        assert whole == [("ok",)]

    asyncio.run(check())


@pytest.mark.parametrize("kind", ["file", "disk"])
def test_a_read_only_database_can_be_read_and_says_so_when_written(tmp_path, request, kind):
    async def prepare():
        store = await open_store(path)
        chat = await store.new_chat("w")
        await say(store, chat, "one")
        await store.close()
        return chat

    async def check():
        store = await open_store(path)
        history = await store.history(chat)
        with pytest.raises(StoreError) as caught:
            await store.begin(chat, opening("q"))
        await store.close()
        return asked(history.turns), str(caught.value)

    if kind == "file" and os.geteuid() == 0:
        pytest.skip("root may write everything")
    folder = request.getfixturevalue("small_disk") if kind == "disk" else tmp_path
    path = folder / "sill.db"
    chat = asyncio.run(prepare())
    if kind == "disk":
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    else:
        path.chmod(0o444)
    said, error = asyncio.run(check())

    assert said == ["one"]
    assert error == (
        f"{path}: the database is read-only; nothing was written (check who may write the file)"
    )


def test_something_else_is_not_a_database(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ann, " * 200)

    with pytest.raises(StoreError, match="this is not a database"):
        asyncio.run(open_store(path))
    assert path.read_text() == "Dear Ann, " * 200


def test_a_folder_is_not_a_database(tmp_path):
    with pytest.raises(StoreError, match="cannot be opened"):
        asyncio.run(open_store(tmp_path))


def test_the_database_is_its_owners_alone(tmp_path):
    async def check():
        store = await open_store(tmp_path / "new" / "sill.db")
        await store.new_chat("w")
        modes = {
            item.name: oct(item.stat().st_mode & 0o777)
            for item in [tmp_path / "new", *(tmp_path / "new").iterdir()]
        }
        await store.close()
        return modes

    assert asyncio.run(check()) == {
        "new": "0o700",
        "sill.db": "0o600",
        "sill.db-wal": "0o600",
        "sill.db-shm": "0o600",
    }


@pytest.mark.parametrize(
    "url, said",
    [
        pytest.param(
            "postgresql://ann:hunter2@127.0.0.1:1/chats",
            "127.0.0.1/chats: the database cannot be reached; nothing was written (is it running?)",
            id="nobody there",
        ),
    ],
)
def test_a_server_that_cannot_be_reached_is_named_without_the_password(url, said):
    with pytest.raises(StoreError) as caught:
        asyncio.run(open_store(url))

    assert str(caught.value) == said


@pytest.mark.slow
def test_a_store_goes_on_after_the_server_dropped_its_connections(new_postgres):
    import psycopg

    from tests.store.servers import server_url

    place = new_postgres()

    async def check():
        store = await open_store(place)
        chat = await store.new_chat("w")
        await say(store, chat, "one")
        with psycopg.connect(server_url(), autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                (place.split("/")[3].split("?")[0],),
            )
        await say(store, chat, "two")
        history = await store.history(chat)
        await store.close()

        assert asked(history.turns) == ["one", "two"]

    asyncio.run(check())


def test_without_the_package_for_postgresql_the_way_out_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(SettingsError, match=r"pip install 'sill\[postgres\]'"):
        asyncio.run(open_store("postgresql://localhost/x"))
