"""How SQLite is written: at once where that is possible, in order, and never in the way of others."""

import asyncio
import gc
import os
import sqlite3
import threading
import time

import pytest

from sill.adapters.store import open_store
from sill.errors import StoreError, UsageError
from tests.store.examples import asked, closing, opening, say
from tests.store.test_lasting import SYNC


def test_questions_that_come_together_share_the_disk(tmp_path, monkeypatch):
    syncs, sync, all_have_asked = [], getattr(os, SYNC), threading.Event()

    def slow(descriptor: int) -> None:
        on_the_spot = threading.current_thread() is threading.main_thread()
        syncs.append(on_the_spot)
        if on_the_spot:
            time.sleep(0.02)  # from now on the disk is known to be slow
        else:
            all_have_asked.wait(60)
        sync(descriptor)

    async def check():
        store = await open_store(tmp_path / "sill.db")
        chats = [await store.new_chat("w") for _ in range(20)]
        monkeypatch.setattr(os, SYNC, slow)
        bench = store._database._writer._bench
        before = bench.taken
        begun = [asyncio.ensure_future(store.begin(chat, opening("q"))) for chat in chats]
        for _ in range(6000):
            if bench.taken - before + sum(syncs) >= len(chats):
                break
            await asyncio.sleep(0.01)
        all_have_asked.set()
        turns = await asyncio.gather(*begun)
        together = len(syncs)
        found = [await store.turn(turn) for turn in turns]
        await store.close()
        return together, asked(found)

    together, questions = asyncio.run(check())
    assert questions == ["q"] * 20
    assert 1 <= together < 5


def test_a_busy_database_keeps_nobody_else_from_working(tmp_path):
    path = tmp_path / "sill.db"

    async def check():
        store = await open_store(path)
        chat = await store.new_chat("w")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.ensure_future(say(store, chat, "one"))
        ticks = 0
        while ticks < 20:
            await asyncio.sleep(0.001)
            ticks += 1
        waits = not writing.done()
        other.execute("COMMIT")
        await writing
        other.close()
        turns = asked(await store.turns(chat))
        await store.close()
        return waits, turns

    assert asyncio.run(check()) == (True, ["one"])


def test_a_question_that_is_given_up_while_the_database_is_busy_leaves_no_open_turn(tmp_path):
    path = tmp_path / "sill.db"

    async def check():
        store = await open_store(path)
        chat = await store.new_chat("w")
        await say(store, chat, "one")
        other = sqlite3.connect(path, isolation_level=None)
        statuses = []
        for steps in range(4):
            other.execute("BEGIN IMMEDIATE")
            beginning = asyncio.ensure_future(store.begin(chat, opening("q")))
            for _ in range(steps):
                await asyncio.sleep(0)
            beginning.cancel()
            asyncio.get_running_loop().call_later(0.01, other.execute, "COMMIT")
            with pytest.raises(asyncio.CancelledError):
                await beginning
            for _ in range(1200):  # whoever gave up has not waited for its end
                found = [turn.status for turn in await store.turns(chat)]
                if "open" not in found and not other.in_transaction:
                    break
                await asyncio.sleep(0.05)
            statuses += found
        await say(store, chat, "two")
        other.close()
        await store.close()
        return set(statuses)

    assert asyncio.run(check()) == {"complete", "cancelled"}


def test_a_write_that_fails_leaves_the_connection_as_it_was(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        with pytest.raises(UsageError):
            await store.begin("nobody", opening("q"))
        turn = await say(store, chat, "one")
        found = await store.turn(turn)
        await store.close()
        return found.status

    assert asyncio.run(check()) == "complete"


def test_what_is_written_in_a_row_is_written_in_order(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        turn = await store.begin(chat, opening("q"))
        # A write that takes long is under way when the short ones come.
        slow = asyncio.ensure_future(store.compact())
        await asyncio.sleep(0)
        parts = [asyncio.ensure_future(store.checkpoint(turn, "x" * 300 * n)) for n in (1, 2, 3)]
        await asyncio.gather(slow, *parts)
        kept = await store.partial(turn)
        await store.finish(turn, closing("done"))
        await store.close()
        return kept

    assert asyncio.run(check()) == "x" * 900


def test_the_log_does_not_grow_for_ever(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        for number in range(300):
            await say(store, chat, f"question {number}")
        size = (tmp_path / "sill.db-wal").stat().st_size
        await store.close()
        return size

    # Without copying it into the database, three hundred turns are more than twenty megabytes.
    assert asyncio.run(check()) < 12_000_000


def test_a_forgotten_store_ends_its_threads(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        await store.new_chat("w")

    before = threading.active_count()
    asyncio.run(check())
    for _ in range(600):
        gc.collect()
        if threading.active_count() <= before:
            break
        time.sleep(0.1)

    assert threading.active_count() <= before


def test_a_disk_that_fails_to_sync_fails_all_who_wait_for_it(tmp_path, monkeypatch):
    def failing(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    async def check():
        store = await open_store(tmp_path / "sill.db")
        chats = [await store.new_chat("w") for _ in range(3)]
        with monkeypatch.context() as broken:
            broken.setattr(os, SYNC, failing)
            tried = await asyncio.gather(
                *(store.begin(chat, opening("q")) for chat in chats), return_exceptions=True
            )
        await store.close()
        return [type(one) for one in tried]

    assert asyncio.run(check()) == [StoreError] * 3


def test_whoever_leaves_copies_the_log_though_another_stays(tmp_path):
    path = tmp_path / "sill.db"

    async def check():
        stays = await open_store(path)
        leaves = await open_store(path)
        await leaves.new_chat("w", title="seen")
        await leaves.close()
        # A database that is told not to change is read without its log.
        without_log = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
        titles = without_log.execute("SELECT title FROM chats").fetchall()
        without_log.close()
        await stays.close()
        return titles

    assert asyncio.run(check()) == [("seen",)]
