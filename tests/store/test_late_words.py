"""SQLite's index of words is told late, and nobody notices."""

import asyncio
import sqlite3
from contextlib import closing as closed

import pytest

from sill.adapters.store import open_store
from sill.adapters.store.finding import counted, ranks, tokens
from tests.store.examples import closing, opening, say


def rows(path, sql: str) -> list[tuple]:
    with closed(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def test_a_turn_that_the_index_was_not_told_of_is_found_by_the_next_process(tmp_path):
    path = tmp_path / "sill.db"

    async def check():
        one, two = await open_store(path), await open_store(path)
        turn = await say(one, await one.new_chat("w"), "harbour")
        await one.chats()  # puts the turn in its place
        waiting = rows(path, "SELECT COUNT(*) FROM unindexed")
        found = [hit.turn for hit in await two.search("harbour")]
        left = rows(path, "SELECT COUNT(*) FROM unindexed")
        for store in (one, two):
            await store.close()
        return turn, waiting, found, left

    turn, *seen = asyncio.run(check())
    assert seen == [[(1,)], [turn], [(0,)]]


def test_a_database_that_may_only_be_read_is_searched_whole(tmp_path):
    path = tmp_path / "sill.db"

    async def fill():
        store = await open_store(path)
        chat = await store.new_chat("w")
        turns = [await say(store, chat, "a harbour"), await say(store, chat, "another harbour")]
        await store.close()
        return turns

    turns = asyncio.run(fill())
    with closed(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO unindexed VALUES (2)")
        connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        connection.execute("INSERT INTO words (rowid, text) VALUES (1, 'a harbour')")
        connection.commit()

    async def look():
        from sill.adapters.store.finding import search
        from sill.adapters.store.sqlite import open_sqlite

        database = await open_sqlite(path, "local")
        found = await database.read(lambda t: search(t, "harbour", None, 9))
        await database.close()
        return [hit.turn for hit in found]

    assert asyncio.run(look()) == turns[::-1]


@pytest.mark.parametrize("is_told", [False, True])
def test_a_deleted_chat_leaves_nothing_in_the_index(tmp_path, is_told):
    path = tmp_path / "sill.db"

    async def check():
        store = await open_store(path)
        chat = await store.new_chat("w")
        for number in range(5):
            await say(store, chat, f"harbour {number}")
        if is_told:
            await store.search("harbour")
        await store.delete_chat(chat)
        hits = await store.search("harbour")
        await store.close()
        return hits

    assert asyncio.run(check()) == []
    assert rows(path, "SELECT rowid FROM words WHERE words MATCH 'harbour'") == []
    assert rows(path, "SELECT * FROM unindexed") == []


def test_the_best_turn_comes_first_and_of_two_alike_the_newer(tmp_path):
    said = [
        "boats and sheep and hills and a harbour at the end of a long road over the hills",
        "harbour, harbour, harbour",
        "boats and sheep and hills and a harbour at the end of a long road over the hills",
        "no boats",
    ]

    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        turns = []
        for text in said:
            turn = await store.begin(chat, opening(text))
            await store.finish(turn, closing("yes"))
            turns.append(turn)
        found = [turns.index(hit.turn) for hit in await store.search("Hárbour")]
        rare = [turns.index(hit.turn) for hit in await store.search("harbour sheep")]
        await store.close()
        return found, rare

    assert asyncio.run(check()) == ([1, 2, 0], [2, 0])


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("Straße, café & snake_case!", ["straße", "cafe", "snake", "case"], id="words"),
        pytest.param("e\u0301te\u0301", ["ete"], id="accents of their own"),
        pytest.param("港の船", ["港の船"], id="a script without spaces"),
        pytest.param('"*:^', [], id="signs"),
    ],
)
def test_words_are_compared_as_the_index_does(text, expected):
    assert tokens(text) == expected


def test_phrases_are_counted_whole():
    words = tokens("The red harbour. A red, red harbour; harbours.")

    assert counted([["red"], ["red", "harbour"], ["harbour", "red"]], words) == [3, 2, 0]


def test_a_text_without_one_of_the_phrases_is_left_out():
    scores = ranks({1: [2, 1], 2: [2, 0], 3: [1, 1]}, {1: 10, 2: 10, 3: 10}, [1.0, 2.0])

    assert sorted(scores, key=scores.__getitem__, reverse=True) == [1, 3]
