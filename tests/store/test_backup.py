"""A backup is of one moment, whole, and a database like any other."""

import asyncio
import random
import sqlite3
from contextlib import closing as closed

import pytest

from sill.adapters.store import open_store
from sill.adapters.store.backup import back_up
from sill.errors import StoreError, UsageError
from sill.records import Attempt
from tests.store.examples import say
from tests.store.test_transfer import fill


def test_a_backup_holds_everything(place, tmp_path):
    async def check():
        store = await open_store(place)
        chat = await fill(store)
        await store.note("w", "tea")
        await store.open_attempt(Attempt("probe", "m", "http://x"))
        size = await back_up(store, tmp_path / "copy.db")
        copy = await open_store(tmp_path / "copy.db")

        assert size == (tmp_path / "copy.db").stat().st_size
        assert await copy.copy_chat(chat) == await store.copy_chat(chat)
        assert await copy.notes("w") == await store.notes("w")
        assert await copy.attempts() == await store.attempts()
        await say(copy, chat, "the copy goes its own way")
        await copy.close()
        await store.close()

    asyncio.run(check())


def test_a_backup_taken_while_chats_go_on_is_whole(place, tmp_path):
    async def check():
        store = await open_store(place)
        chats = [await store.new_chat("w") for _ in range(3)]
        for chat in chats:
            for number in range(10):
                await say(store, chat, f"{number} " + "some text to fill pages with " * 40)
        stop = asyncio.Event()

        async def go_on(chat):
            number = 10
            while not stop.is_set():
                await say(store, chat, f"{number} " + "some text to fill pages with " * 40)
                number += 1

        talking = [asyncio.ensure_future(go_on(chat)) for chat in chats]
        for number in range(3):
            await back_up(store, tmp_path / f"{number}.db")
        stop.set()
        await asyncio.gather(*talking)
        await store.close()
        for number in range(3):
            with closed(sqlite3.connect(tmp_path / f"{number}.db")) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            copy = await open_store(tmp_path / f"{number}.db")
            for chat in chats:
                turns = (await copy.history(chat)).turns
                numbers = [int(turn.messages[0].text.split()[0]) for turn in turns]
                assert numbers == list(range(len(turns))) and len(turns) >= 10
            await copy.close()

    asyncio.run(check())


def test_a_backup_never_replaces_a_file(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        (tmp_path / "taken").write_text("mine")
        with pytest.raises(UsageError, match="is there already"):
            await back_up(store, tmp_path / "taken")
        with pytest.raises(StoreError, match="name another place"):
            await back_up(store, tmp_path / "nowhere" / "copy.db")
        await store.close()

        assert (tmp_path / "taken").read_text() == "mine"
        assert sorted(p.name for p in tmp_path.iterdir()) == ["sill.db", "taken"]

    asyncio.run(check())


def test_what_is_deleted_leaves_the_file(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat, other = await store.new_chat("w"), await store.new_chat("w")
        await say(store, chat, "Xylographie")
        # Text that cannot be compressed: most of the file is this chat's.
        await say(store, other, random.Random(1).randbytes(200_000).hex())
        await store.close()
        before = (tmp_path / "sill.db").stat().st_size
        store = await open_store(tmp_path / "sill.db")
        await store.delete_chat(other)
        await store.delete_chat(chat)
        await store.compact()
        await store.close()
        after = (tmp_path / "sill.db").read_bytes()

        assert b"ylographie" not in after.lower()
        assert before - len(after) > 150_000

    asyncio.run(check())
