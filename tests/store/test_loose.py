"""Turns that are laid down first and put in their places later: nobody ever sees the difference."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing as closed
from dataclasses import replace
from pathlib import Path

import pytest

from sill.adapters.store import open_store, sqlite
from sill.core.certificate import Usage
from sill.core.messages import Epoch, Message
from sill.errors import Fenced, StoreError, UsageError
from tests.store.examples import CERTIFICATE, EVERYTHING, asked, body, closing, opening, say

ROOT = Path(__file__).resolve().parents[2]
LONG = "a sentence that is long enough to be stored in a row of its own, "


@pytest.fixture(autouse=True)
def no_idle_moment(monkeypatch):
    """Nothing is put away because nobody has anything to do, however long that lasts."""
    monkeypatch.setattr(sqlite, "SYNC_AFTER", 3_600)


def lying(path) -> int:
    with closed(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT COUNT(*) FROM loose").fetchone()[0]


TALKER = """
import asyncio, os, sys
from sill.adapters.store import open_store, sqlite
from tests.store.examples import closing, opening

sqlite.SYNC_AFTER = 3_600

async def main(place, chat, turns):
    store = await open_store(place)
    for number in range(int(turns)):
        turn = await store.begin(chat, opening(f"question {number}", *["a long line of a file " * 9] * 3))
        if number + 1 < int(turns):
            await store.finish(turn, closing(f"answer {number}"))
    os._exit(9)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("turns", [1, 2, 9])
def test_what_a_dead_process_laid_down_is_there_for_the_next(tmp_path, turns):
    path = str(tmp_path / "sill.db")

    async def prepare():
        store = await open_store(path)
        chat = await store.new_chat("w")
        await store.close()
        return chat

    async def look():
        store = await open_store(path)
        found = await store.turns(chat)
        sent = [one.request for turn in found for one in await store.requests(turn.id)]
        info = await store.chat(chat)
        await store.close()
        return found, sent, info.turns

    chat = asyncio.run(prepare())
    ended = subprocess.run([sys.executable, "-c", TALKER, path, chat, str(turns)], cwd=ROOT)
    laid_down = lying(path)
    found, sent, counted = asyncio.run(look())

    questions = [(f"question {n}", *["a long line of a file " * 9] * 3) for n in range(turns)]
    assert (ended.returncode, laid_down, counted) == (9, 2 * turns - 1, turns)
    assert [turn.status for turn in found] == ["complete"] * (turns - 1) + ["interrupted"]
    assert [tuple(m.text for m in turn.messages[:4]) for turn in found] == questions
    assert [turn.messages[4].text for turn in found[:-1]] == [
        f"answer {n}" for n in range(turns - 1)
    ]
    assert sent == [opening(*texts).request for texts in questions]
    assert lying(path) == 0


def test_a_damaged_recording_takes_only_the_request_that_begins_like_it(tmp_path):
    """Of a process that died; what was said is kept, and no request is shown that was not sent."""
    path, left = tmp_path / "sill.db", tmp_path / "left.db"
    file = "a long line of a file " * 30

    async def talk():
        store = await open_store(path)
        chat = await store.new_chat("w")
        first = await store.begin(chat, opening("one", file))
        await store.finish(first, closing("1"))
        await store.turns(chat)  # the first one is put in its place
        second = await store.begin(
            chat, opening("two", file, request=body("one", file, "1", "two"))
        )
        await store.finish(second, closing("2"))
        with closed(sqlite3.connect(path)) as here, closed(sqlite3.connect(left)) as there:
            here.backup(there)
            there.execute("UPDATE requests SET hash = zeroblob(32)")
            there.commit()
        await store.close()
        return chat

    async def look(chat):
        store = await open_store(left)
        found = await store.turns(chat)
        sent = await store.requests(found[1].id)
        third = await store.turn(await store.begin(chat, opening("three")))
        await store.close()
        return [[message.text for message in turn.messages] for turn in found], sent, third.request

    chat = asyncio.run(talk())
    laid_down = lying(left)
    said, sent, third = asyncio.run(look(chat))

    assert laid_down == 2
    assert (said, sent) == ([["one", file, "1"], ["two", file, "2"]], [])
    assert third == opening("three").request


def test_a_turn_is_read_as_it_was_written(tmp_path):
    """Every field, of whatever kind, comes out of the row as it went in."""
    path = tmp_path / "sill.db"
    begun = replace(
        opening("q", epoch=Epoch(3, "turn-1", frozenset({("turn-1", 2)}), frozenset({("t", 0)}))),
        messages=(*EVERYTHING, Message("user", "\ud83d\ude00 in two halves\x00")),
        plan='{"items": ["\ud83d"]}',
    )
    ended = replace(
        closing("a\udfff", "partial"),
        outcome="stopped",
        usage=Usage(7, 3),
        certificate=CERTIFICATE,
        took_ms=12,
        references='["n\udc00.md"]',
        epoch=Epoch(4, "turn-2"),
    )

    async def check():
        store = await open_store(path)
        chat = await store.new_chat("w")
        turn = await store.begin(chat, begun)
        open_turn = await store.turn(turn)
        await store.finish(turn, ended)
        finished = await store.turn(turn)
        await store.close()
        return open_turn, finished

    first, last = asyncio.run(check())
    assert (first.messages, first.epoch, first.plan, first.request, first.certificate) == (
        *(begun.messages, begun.epoch, begun.plan, begun.request),
        begun.certificate,
    )
    assert (last.messages, last.status, last.outcome, last.usage, last.took_ms) == (
        *((*begun.messages, *ended.messages), ended.status, ended.outcome),
        *(ended.usage, ended.took_ms),
    )
    assert (last.references, last.epoch) == (ended.references, ended.epoch)


def test_a_database_that_cannot_be_written_is_read_with_what_lies_loose(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        await say(store, chat, "one")
        await say(store, chat, "two")
        await store._database.call(lambda c: c.execute("PRAGMA query_only=ON"))
        read = asked((await store.history(chat)).turns), (await store.chat(chat)).turns
        found = [hit.turn for hit in await store.search("two")]
        with pytest.raises(StoreError, match="read-only"):
            await store.delete_chat(chat)
        loose = lying(tmp_path / "sill.db")
        await store._database.call(lambda c: c.execute("PRAGMA query_only=OFF"))
        turns = await store.turns(chat)
        await store.close()
        return read, found == [turns[1].id], loose, asked(turns), lying(tmp_path / "sill.db")

    assert asyncio.run(check()) == ((["one", "two"], 2), True, 4, ["one", "two"], 0)


def test_two_stores_take_turns_in_a_chat(tmp_path):
    async def check():
        one, two = [await open_store(tmp_path / "sill.db") for _ in range(2)]
        chat = await one.new_chat("w")
        said, sent = [], []
        for number in range(12):
            store = (one, two)[number % 5 > 2]
            texts = [f"{LONG}{n}" for n in range(number + 1)]
            turn = await store.begin(chat, opening(*texts))
            if number % 4 == 3:
                await store.record_request(turn, CERTIFICATE, body(*texts, "more"))
            await store.finish(turn, closing(f"answer {number}"))
            said.append(turn)
            sent.append([body(*texts)] + [body(*texts, "more")] * (number % 4 == 3))
        found = await two.turns(chat)
        requests = [[r.request for r in await one.requests(turn)] for turn in said]
        chain = [turn.parent for turn in found]
        for store in (one, two):
            await store.close()
        return [turn.id for turn in found] == said, requests == sent, chain == [None, *said[:-1]]

    assert asyncio.run(check()) == (True, True, True)


def test_a_turn_that_another_put_away_can_be_taken_back_without_a_trace(tmp_path):
    """The other one keeps nothing against it."""

    async def check():
        mine, other = [await open_store(tmp_path / "sill.db") for _ in range(2)]
        chat = await mine.new_chat("w")
        await say(mine, chat, LONG)
        before = await other.chat(chat)
        turn = await mine.begin(chat, opening(LONG, LONG * 2))
        during = asked(await other.turns(chat))
        await mine.discard(turn)
        after = await other.chat(chat)
        next_turn = await other.begin(chat, opening(LONG, LONG * 2, "x"))
        await other.finish(next_turn, closing("yes"))
        sent = [one.request for one in await mine.requests(next_turn)]
        turns = [turn.sequence for turn in await mine.turns(chat)]
        for store in (mine, other):
            await store.close()
        return during, before == after, sent, turns

    during, is_same, sent, turns = asyncio.run(check())
    assert during == [LONG, LONG]
    assert (is_same, sent, turns) == (True, [body(LONG, LONG * 2, "x")], [1, 2])


def test_a_holder_that_was_shut_out_lays_nothing_down(tmp_path):
    async def check():
        frozen, next_one = [await open_store(tmp_path / "sill.db") for _ in range(2)]
        chat = await frozen.new_chat("w")
        await say(frozen, chat, "one")
        turn = await frozen.begin(chat, opening("two"))
        # As a process on another machine that was silent for too long.
        await next_one._database.write(
            lambda t: t.run("UPDATE leases SET holder = 'elsewhere/1//x', expires = 1")
        )
        await say(next_one, chat, "three")
        with pytest.raises(Fenced):
            await frozen.finish(turn, closing("too late"))
        await say(frozen, chat, "four")
        turns = await next_one.turns(chat)
        for store in (frozen, next_one):
            await store.close()
        return [(turn.messages[0].text, turn.status, len(turn.messages)) for turn in turns]

    assert asyncio.run(check()) == [
        ("one", "complete", 2),
        ("two", "interrupted", 1),
        ("three", "complete", 2),
        ("four", "complete", 2),
    ]


def test_a_failure_while_things_are_put_away_leaves_them_where_they_were(tmp_path):
    path = tmp_path / "sill.db"

    async def check():
        store = await open_store(path)
        chat = await store.new_chat("w")
        await say(store, chat, "one")

        def fails(connection: sqlite3.Connection) -> None:
            connection.execute(
                "CREATE TRIGGER broken BEFORE INSERT ON requests BEGIN SELECT RAISE(ABORT, 'no'); END"
            )

        await store._database.call(fails)
        with pytest.raises(StoreError):
            await store.delete_chat(chat)
        kept = lying(path)
        await store._database.call(lambda c: c.execute("DROP TRIGGER broken"))
        await say(store, chat, "two")
        turns = await store.turns(chat)
        sent = [(await store.turn(turn.id)).request for turn in turns]
        await store.close()
        return kept, asked(turns), sent

    assert asyncio.run(check()) == (2, ["one", "two"], [body("one"), body("two")])


def test_a_turn_instead_of_one_that_is_not_there_is_refused_at_once(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        await say(store, chat, "one")
        with pytest.raises(UsageError, match="the chat has no turn nobody"):
            await store.begin(chat, replace(opening("two"), instead_of="nobody"))
        await say(store, chat, "three")
        turns = asked(await store.turns(chat))
        await store.close()
        return turns

    assert asyncio.run(check()) == ["one", "three"]


# As they were first written. Every later version puts them away.
EARLIER = [
    (
        "first",
        b'[[[["user",""]],"m","http://x","[\\"exact\\",\\"words\\",3]",null,null,1000],[3,2]]\none{}',
        *(None, None, 0, b'{"messages":["one"]}'),
    ),
    (
        "first",
        b'[[1,false,[["assistant",""]],"complete","","[3,1]",5,null],[3,0,11]]\nyes["note.md"]',
        *(None, None, None, None),
    ),
    (
        "second",
        b'[[[["user",""]],"m","http://x","[\\"exact\\",\\"words\\",4]","[1,\\"second\\",[]]",null,2000],[3,2]]\ntwo{}',
        *("first", 0, 17, b'","two"]}'),
    ),
]


def test_rows_of_every_earlier_form_are_put_away(tmp_path):
    path = tmp_path / "sill.db"

    async def check():
        store = await open_store(path)
        chat = await store.new_chat("w")
        await store.close()
        with closed(sqlite3.connect(path)) as connection:
            connection.executemany(
                "INSERT INTO loose (owner, chat, fence, turn, said, base, number, start, request)"
                " VALUES ('local', 1, 1, ?, ?, ?, ?, ?, ?)",
                EARLIER,
            )
            connection.commit()
        store = await open_store(path)
        turns = await store.turns(chat)
        first = (await store.turn("first")).request
        second = (await store.turn("second")).request
        await store.close()
        return turns, first, second

    turns, *sent = asyncio.run(check())
    assert [(t.id, t.parent, t.status, t.started_ms, t.took_ms) for t in turns] == [
        ("first", None, "complete", 1000, 5),
        ("second", "first", "open", 2000, None),
    ]
    assert [[m.text for m in turn.messages] for turn in turns] == [["one", "yes"], ["two"]]
    assert [turn.epoch for turn in turns] == [Epoch(), Epoch(1, "second")]
    assert (turns[0].references, turns[0].usage) == ('["note.md"]', Usage(3, 1))
    assert sent == [b'{"messages":["one"]}', b'{"messages":["one","two"]}']
