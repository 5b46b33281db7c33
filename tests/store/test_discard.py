"""A turn that is taken back leaves no row and no text behind."""

import asyncio
import contextlib
import sqlite3

import pytest

from sill.adapters.store import open_store, schema
from sill.core.messages import Epoch
from sill.errors import StoreError
from tests.store.examples import CERTIFICATE, body, opening, say

LONG = "a sentence that is long enough to be stored in a row of its own "


def rows(path) -> dict[str, list]:
    """Everything but the lease, whose number only grows."""
    tables = [table for table in schema.OWNED if table != "leases"]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {
            t: connection.execute(f"SELECT * FROM {t} ORDER BY 1, 2").fetchall() for t in tables
        }


def test_the_database_holds_what_it_held_before(tmp_path):
    path = tmp_path / "sill.db"

    async def check():
        store = await open_store(path)
        chat = await store.new_chat("w")
        await say(store, chat, LONG)
        await store.chats()  # whoever reads finds everything in its place
        before = rows(path)
        epoch = Epoch(1, None, frozenset({("turn-9", 0)}))
        turn = await store.begin(chat, opening(LONG, LONG * 2, epoch=epoch))
        await store.chats()
        during = rows(path)
        await store.record_request(turn, CERTIFICATE, body(LONG, LONG * 3))
        await store.checkpoint(turn, "half an answer " * 40)
        await store.discard(turn)
        after = rows(path)
        await store.close()
        return before, during, after

    before, during, after = asyncio.run(check())

    assert len(during["contents"]) > len(before["contents"])
    assert after == before


def test_what_cannot_be_taken_back_now_is_before_the_next_turn(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        turn = await store.begin(chat, opening("in vain"))
        await store._database.call(lambda c: c.execute("PRAGMA query_only=ON"))
        with pytest.raises(StoreError):
            await store.discard(turn)
        await store._database.call(lambda c: c.execute("PRAGMA query_only=OFF"))
        await say(store, chat, "said")
        turns = await store.turns(chat)
        await store.close()
        return [(turn.sequence, turn.messages[0].text) for turn in turns]

    assert asyncio.run(check()) == [(1, "said")]
