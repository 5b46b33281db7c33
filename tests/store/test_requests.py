"""Requests that were sent can be read back exactly, whatever they looked like."""

import asyncio
import hashlib
import random
from collections.abc import Iterator

import pytest

from sill.adapters.store import open_store
from sill.core.request import ChatRequest, ToolSchema, WireMessage, encode
from tests.store.examples import CERTIFICATE, body, closing, opening

REQUESTS = 10_000
PER_TURN = 50


def random_requests(seed: int) -> Iterator[bytes]:
    """Chats that grow, lose their beginning, start anew, fold texts together and offer tools."""
    chance = random.Random(seed)
    alphabet = 'abc "\\\n\t{}[],:é漢🙂\x00\u2028/'
    texts = ["".join(chance.choices(alphabet, k=chance.randint(0, 200))) for _ in range(300)]
    window: list[WireMessage] = []
    while True:
        match chance.randrange(5):
            case 0:
                window = window[chance.randint(0, len(window)) :]
            case 1:
                window = []
        folded = chance.sample(texts, chance.randint(1, 3))
        window.append(WireMessage("user", "\n\n".join(folded)))
        window.append(WireMessage("assistant", chance.choice(texts)))
        schema = ToolSchema("read", chance.choice(texts), {"type": "object"})
        tools = (schema,) if chance.random() < 0.3 else ()
        yield encode(ChatRequest("m", tuple(window), chance.randint(1, 9), tools=tools).body())


@pytest.mark.slow
def test_ten_thousand_random_requests_come_back_byte_by_byte(tmp_path):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        bodies = random_requests(5)
        same = 0
        for _ in range(REQUESTS // PER_TURN):
            first = next(bodies)
            sent = [hashlib.sha256(first).digest()]
            turn = await store.begin(chat, opening("q", request=first))
            for _ in range(PER_TURN - 1):
                body = next(bodies)
                sent.append(hashlib.sha256(body).digest())
                await store.record_request(turn, CERTIFICATE, body)
            await store.finish(turn, closing())
            found = [hashlib.sha256(r.request).digest() for r in await store.requests(turn)]
            same += sum(a == b for a, b in zip(sent, found, strict=True))
        await store.close()
        return same

    assert asyncio.run(check()) == REQUESTS


def test_a_new_process_goes_on_where_the_last_one_stopped(tmp_path):
    """What is remembered between turns only saves work: without it the same bytes come back."""

    async def check():
        bodies = random_requests(6)
        sent = {}
        chat = None
        for _ in range(60):
            store = await open_store(tmp_path / "sill.db")
            chat = chat or await store.new_chat("w")
            body = next(bodies)
            turn = await store.begin(chat, opening("q", request=body))
            sent[turn] = (body, opening("q").plan)
            await store.finish(turn, closing())
            await store.close()
        store = await open_store(tmp_path / "sill.db")
        found = {id: await store.turn(id) for id in sent}
        listed = await store.turns(chat)
        await store.close()
        assert {id: (turn.request, turn.plan) for id, turn in found.items()} == sent
        assert [turn.plan for turn in listed] == [plan for _, plan in sent.values()]

    asyncio.run(check())


def test_a_chat_that_was_deleted_and_imported_elsewhere_goes_on(tmp_path):
    """One process remembers the chat as it was; another has replaced it, and keys mean other texts now."""

    async def check():
        one, two = await open_store(tmp_path / "sill.db"), await open_store(tmp_path / "sill.db")
        long = [f"text number {n} that is long enough for a row of its own, " * 3 for n in range(6)]
        chat = await one.new_chat("w")
        turn = await one.begin(chat, opening("q", request=body(*long[:3])))
        await one.finish(turn, closing())
        copied = await two.copy_chat(chat)
        await two.delete_chat(chat)
        other = await two.new_chat("w")
        turn = await two.begin(other, opening("q", request=body(*long[::-1])))
        await two.finish(turn, closing())
        await two.add_copy(copied)
        last = await one.begin(chat, opening("q", request=body(*long[:4])))
        await one.finish(last, closing())
        found = await two.turn(last)
        await one.close()
        await two.close()

        assert found.request == body(*long[:4])

    asyncio.run(check())
