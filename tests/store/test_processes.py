"""Several processes on one database at once, as a terminal and a page are."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from sill.adapters.store import open_store
from sill.errors import TurnInProgress
from tests.store.examples import say

ROOT = Path(__file__).resolve().parents[2]
PROCESSES, TURNS = 3, 25


async def talk(place: str, name: str, own: str, shared: str) -> dict[str, int]:
    """Turns in a chat of its own and in one that all want."""
    store = await open_store(place)
    busy = 0
    for number in range(TURNS):
        await say(store, own, f"{name} {number}")
        while True:
            try:
                await say(store, shared, f"{name} {number}")
                break
            except TurnInProgress:
                busy += 1
                await asyncio.sleep(0.002)
        await store.search(name)
        await store.remember_counts("words", {})
    await store.close()
    return {"busy": busy}


def test_processes_share_a_database_without_errors(place):
    async def prepare():
        store = await open_store(place)
        ids = [await store.new_chat("w") for _ in range(PROCESSES + 1)]
        await store.close()
        return ids

    async def said(chats):
        store = await open_store(place)
        found = [
            [turn.messages[0].text for turn in (await store.history(chat)).turns] for chat in chats
        ]
        await store.close()
        return found

    *own, shared = asyncio.run(prepare())
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.store.test_processes", place, f"p{n}", own[n], shared],
            cwd=ROOT,
            stdout=subprocess.PIPE,
        )
        for n in range(PROCESSES)
    ]
    for process in running:
        json.loads(process.communicate()[0])
    *alone, together = asyncio.run(said([*own, shared]))

    assert [process.returncode for process in running] == [0] * PROCESSES
    assert alone == [[f"p{n} {i}" for i in range(TURNS)] for n in range(PROCESSES)]
    assert sorted(together) == sorted(text for texts in alone for text in texts)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(talk(*sys.argv[1:]))))
