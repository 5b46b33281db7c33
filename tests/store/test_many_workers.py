"""Forty workers on two hundred chats of one PostgreSQL server, some of them too slow for their lease."""

import asyncio
import itertools
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sill.adapters.store import LeaseTimes, open_store
from sill.errors import Fenced, TurnInProgress
from tests.store.examples import closing, opening

ROOT = Path(__file__).resolve().parents[2]
PROCESSES, WORKERS, CHATS, TURNS = 4, 10, 200, 15
TIMES = LeaseTimes(lasts=0.6, beats=60)


async def worker(store, number, chats):
    """What one worker saw: (chat, turn, when it was begun, when it was to be finished, how that went)."""
    chance = random.Random(number)
    seen = []
    for _ in range(TURNS):
        # The first chats are wanted most.
        chat = chats[int(len(chats) * chance.random() ** 3)]
        try:
            turn = await store.begin(chat, opening(f"from {number}"))
        except TurnInProgress:
            seen.append((chat, "", 0, 0, "busy"))
            continue
        begun = time.monotonic()
        await asyncio.sleep(0.8 if chance.random() < 0.06 else chance.uniform(0, 0.02))
        late = time.monotonic()
        try:
            await store.finish(turn, closing(f"by {number}"))
            seen.append((chat, turn, begun, late, "finished"))
        except Fenced:
            seen.append((chat, turn, begun, late, "fenced"))
    return seen


async def process(place, first):
    store = await open_store(place, times=TIMES)
    chats = sorted(chat.id for chat in await store.chats())
    # Each has its own holder; the connections are shared.
    workers = [store.as_owner("local") for _ in range(WORKERS)]
    seen = await asyncio.gather(
        *(worker(one, first + number, chats) for number, one in enumerate(workers))
    )
    await store.close()
    return list(itertools.chain(*seen))


def together(intervals):
    """Pairs of turns that were in flight at the same moment."""
    ordered = sorted(intervals)
    return [(a, b) for a, b in itertools.pairwise(ordered) if b[0] < a[1]]


@pytest.mark.slow
def test_no_chat_has_two_turns_in_flight_and_nobody_writes_without_its_fence(new_postgres):
    place = new_postgres()

    async def prepare():
        store = await open_store(place)
        for _ in range(CHATS):
            await store.new_chat("w")
        await store.close()

    async def stored():
        store = await open_store(place)
        turns = {
            turn.id: turn for chat in await store.chats() for turn in await store.turns(chat.id)
        }
        await store.close()
        return turns

    asyncio.run(prepare())
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.store.test_many_workers", place, str(n * WORKERS)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        for n in range(PROCESSES)
    ]
    seen = [line for one in running for line in json.loads(one.communicate()[0])]
    turns = asyncio.run(stored())
    by_chat: dict[str, list[tuple[float, float]]] = {}
    for chat, _, begun, late, how in seen:
        if how == "finished":
            by_chat.setdefault(chat, []).append((begun, late))
    said = {turn: how for _, turn, _, _, how in seen if turn}

    assert {chat: pairs for chat, times in by_chat.items() if (pairs := together(times))} == {}
    assert {id: turn.status for id, turn in turns.items()} == {
        id: "complete" if how == "finished" else "interrupted" for id, how in said.items()
    }
    assert {len(turns[id].messages) for id, how in said.items() if how == "fenced"} <= {1}
    assert len(seen) == PROCESSES * WORKERS * TURNS
    # The test means something only if they did get in each other's way.
    assert min(sum(how == kind for *_, how in seen) for kind in ("finished", "busy", "fenced")) > 0


if __name__ == "__main__":
    print(json.dumps(asyncio.run(process(sys.argv[1], int(sys.argv[2])))))
