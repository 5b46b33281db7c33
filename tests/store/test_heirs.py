"""A text that several chats hold goes with the last of them."""

import asyncio
from itertools import permutations

import pytest

from sill.adapters.store import open_store
from tests.store.examples import asked, body, closing, opening, say

SHARED = "a text that three chats hold, long enough to be a row of its own " * 3


async def left(store) -> tuple[int, int]:
    """How many texts there are, and how many of their further users."""

    async def script(transaction):
        rows = [
            await transaction.row(f"SELECT COUNT(*) FROM {table}") for table in ("contents", "uses")
        ]
        return tuple(row[0] for row in rows)

    return await store.database.read(script)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_shared_text_goes_with_its_last_chat(place, order):
    async def check():
        store = await open_store(place)
        chats = [await store.new_chat("w") for _ in range(3)]
        for chat in chats:
            await say(store, chat, SHARED)
        users, seen = [(await left(store))[1] > 0], []
        for number in order:
            await store.delete_chat(chats[number])
            rest = [chat for chat in chats if await store.chat(chat)]
            seen += [asked(await store.turns(chat)) for chat in rest]
        found = await left(store)
        await store.close()
        return users, seen, found

    assert asyncio.run(check()) == ([True], [[SHARED]] * 3, (0, 0))


def test_a_turn_that_is_taken_back_leaves_its_texts_to_those_who_use_them(place):
    async def check():
        store = await open_store(place)
        one, two = await store.new_chat("w"), await store.new_chat("w")
        first = await store.begin(one, opening(SHARED))
        second = await store.begin(two, opening(SHARED))
        await store.discard(first)
        await store.finish(second, closing("yes"))
        found = await store.turn(second)
        await store.delete_chat(two)
        rest = await left(store)
        await store.close()
        return found.request, asked([found]), rest

    assert asyncio.run(check()) == (body(SHARED), [SHARED], (0, 0))
