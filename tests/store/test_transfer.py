"""Chats leave as files and come back whole."""

import asyncio
import json
from dataclasses import replace

import pytest

from sill.adapters.store import open_store
from sill.adapters.store.export import from_json, to_json
from sill.adapters.store.markdown import to_markdown
from sill.core.certificate import Usage
from sill.core.messages import Epoch, Message
from sill.errors import UsageError
from sill.ports import ChatCopy
from sill.records import Attempt, Settlement, StoredProposal
from sill.testing import MemoryStore
from tests.store.examples import CERTIFICATE, EVERYTHING, body, closing, opening, say
from tests.store.freeze import PRICE


async def fill(store) -> str:
    """A chat with a branch, an epoch, tools, files, odd requests, a proposal and costs."""
    chat = await store.new_chat("w", "All: of it")
    first = await say(store, chat, "one question that is long enough to be worth a row")
    turn = await store.begin(chat, replace(opening("q"), messages=EVERYTHING))
    await store.record_request(turn, CERTIFICATE, b"\xff\x00 raw")
    await store.finish(turn, closing("half \ud800 of it", "partial"))
    left = await say(store, chat, "left behind")
    await store.branch(chat, first)
    await say(store, chat, "said better", Epoch(1, first, frozenset({(first, 0)})))
    await store.add_proposal(StoredProposal("p-1", chat, left, '{"ops": []}'))
    await store.decide_proposal("p-1", "applied", "ann")
    attempt = await store.open_attempt(
        Attempt("main", "m", "http://x", chat, left, 5, 90, price=PRICE)
    )
    await store.settle_attempt(attempt, Settlement("complete", 200, Usage(5, 6), 70))
    await store.open_attempt(Attempt("title", "m", "http://x", chat))
    await store.change_chat(chat, pinned=True)
    return chat


def test_an_exported_chat_comes_back_whole(place):
    async def check():
        store = await open_store(place)
        chat = await fill(store)
        copied = await store.copy_chat(chat)
        read = from_json(to_json(copied))
        with pytest.raises(UsageError, match="is here already"):
            await store.add_copy(read)
        before = [await store.turn(turn.id) for turn in copied.turns]
        history, hits = await store.history(chat), await store.search("question")
        await store.delete_chat(chat)
        await store.add_copy(read)

        assert read == copied
        assert await store.copy_chat(chat) == copied
        assert [await store.turn(turn.id) for turn in copied.turns] == before
        assert await store.history(chat) == history
        assert await store.search("question") == hits
        await say(store, chat, "and on it goes")
        await store.close()

    asyncio.run(check())


def test_a_chat_moves_from_one_database_to_another(tmp_path, place):
    async def check():
        one, two, three = (
            await open_store(tmp_path / "one.db"),
            await open_store(place),
            MemoryStore(),
        )
        copied = await one.copy_chat(await fill(one))
        await two.add_copy(copied)
        await three.add_copy(await two.copy_chat(copied.info.id))

        assert await three.copy_chat(copied.info.id) == copied
        await one.close()
        await two.close()

    asyncio.run(check())


def test_an_exported_chat_stores_each_text_once():
    async def check():
        store = MemoryStore()
        chat = await store.new_chat("w")
        long = "the same very long question, again and again " * 30
        for number in range(20):
            turn = await store.begin(chat, opening(long, request=body(*[long] * (number + 1))))
            await store.finish(turn, closing())
        return to_json(await store.copy_chat(chat))

    text = asyncio.run(check())
    # It stands in the plans of turns too, which are kept as they are.
    assert (
        list(json.loads(text)["texts"].values()).count(
            "the same very long question, again and again " * 30
        )
        == 1
    )


def change(text: str, **changes) -> str:
    return json.dumps(json.loads(text) | changes)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda text: text[:-9], id="cut off"),
        pytest.param(lambda text: "[]", id="something else"),
        pytest.param(lambda text: change(text, format="other"), id="another format"),
        pytest.param(lambda text: change(text, version=99), id="a newer version"),
        pytest.param(lambda text: change(text, texts={}), id="texts missing"),
        pytest.param(lambda text: text.replace("said better", "said worse"), id="a changed text"),
        pytest.param(lambda text: change(text, head="nobody"), id="no such turn"),
        pytest.param(
            lambda text: text.replace('"status": "partial"', '"status": "open"'), id="open"
        ),
        pytest.param(lambda text: change(text, chat={"id": "x"}), id="half a chat"),
    ],
)
def test_a_spoiled_file_is_refused(spoil):
    async def check():
        store = MemoryStore()
        return to_json(await store.copy_chat(await fill(store)))

    text = asyncio.run(check())
    assert isinstance(from_json(text), ChatCopy)
    with pytest.raises(UsageError):
        from_json(spoil(text))


def test_markdown():
    async def check():
        store = MemoryStore(clock=lambda: 1_700_000_000_000)
        chat = await store.new_chat("w", 'Boats: a "talk"')
        turn = await store.begin(
            chat, replace(opening("q"), messages=EVERYTHING[:1] + EVERYTHING[-2:])
        )
        await store.finish(
            turn, replace(closing("They float."), references='[{"path": "boats.md"}]')
        )
        await say(store, chat, "Left behind?")
        await store.branch(chat, turn)
        half = await store.begin(chat, replace(opening("q"), messages=(Message("user", "And?"),)))
        await store.finish(half, replace(closing("Because", "partial"), references=""))
        return to_markdown(await store.copy_chat(chat))

    assert (
        asyncio.run(check())
        == """\
---
title: "Boats: a \\"talk\\""
chat: chat-1
created: 2023-11-14T22:13:20Z
updated: 2023-11-14T22:13:20Z
models: ["m"]
references: ["[[note]]", "[[boats]]"]
---

# Boats: a "talk"

> used `read`

## m

They float.

References: [[note]], [[boats]]

## You, 2023-11-14T22:13:20Z

And?

## m

Because

> *partial*: stop
"""
    )
