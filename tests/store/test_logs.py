"""Logs say how much and how it went, never what."""

import asyncio
import logging

import pytest

from sill.adapters.store import LeaseTimes, open_store
from sill.errors import SillError
from sill.records import StoredProposal
from tests.store.examples import CERTIFICATE, body, closing, opening, say

CANARY = "canary-7d1f"


def test_no_text_reaches_the_logs_or_the_errors(place, caplog):
    caplog.set_level(logging.DEBUG)
    errors = []

    async def check():
        store = await open_store(place, times=LeaseTimes(lasts=0.1, beats=60))
        chat = await store.new_chat("w", CANARY)
        await say(store, chat, CANARY)
        turn = await store.begin(chat, opening(CANARY))
        await store.checkpoint(turn, CANARY * 50)
        await store.record_request(turn, CERTIFICATE, body(CANARY * 9))
        await asyncio.sleep(0.2)
        other = await open_store(place)
        for call in (
            store.finish(turn, closing(CANARY)),
            store.begin("nowhere", opening(CANARY)),
            store.search(f'"{CANARY}'),
            store.add_proposal(StoredProposal("p", chat, turn, CANARY)),
            store.add_proposal(StoredProposal("p", chat, turn, CANARY)),
        ):
            try:
                await call
            except SillError as error:
                errors.append(f"{error} {error.hint}")
        await store.close()
        await other.close()

    asyncio.run(check())
    assert [line for line in errors if CANARY in line] == []
    assert len(errors) == 3  # fenced out, no such chat, a proposal that is there already
    assert CANARY not in caplog.text
    for word in ("begun turn=", "finished turn=", "fenced out turn=", "interrupted turns=1"):
        assert word in caplog.text


@pytest.mark.slow
def test_a_password_reaches_neither_logs_nor_errors(caplog):
    caplog.set_level(logging.DEBUG)

    with pytest.raises(SillError) as caught:
        asyncio.run(open_store(f"postgresql://ann:{CANARY}@127.0.0.1:1/chats"))

    assert CANARY not in str(caught.value) + caplog.text
