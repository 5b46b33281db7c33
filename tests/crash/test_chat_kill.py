"""kill -9 in the middle of chats: what was acknowledged is there, and the database is whole."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sill.adapters.store import open_store
from tests.crash.chat_writer import WORKSPACE, answer, question
from tests.store.places import place
from tests.store.servers import new_postgres

__all__ = ["new_postgres", "place"]
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def killed_runs(place: str, kills: int) -> list[list[list[str]]]:
    """What each process was told by the store before it died."""
    chance = random.Random(kills)
    runs = []
    with subprocess.Popen(
        [sys.executable, "-m", "tests.crash.chat_writer", place],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as starter:
        for _ in range(kills):
            starter.stdin.write("\n")
            starter.stdin.flush()
            pid = int(starter.stdout.readline().split()[1])
            # Some die while they open the database, most in the middle of a turn.
            lines = [] if chance.random() < 0.1 else [starter.stdout.readline().split()]
            time.sleep(chance.uniform(0, 0.07))
            os.kill(pid, signal.SIGKILL)
            while (line := starter.stdout.readline().split()) != ["ended"]:
                lines.append(line)
            runs.append(lines)
        starter.stdin.close()
    return runs


async def lost(place: str, runs: list[list[list[str]]]) -> list[str]:
    """Every promise that was not kept."""
    store = await open_store(place)
    wrong = []
    for what, turn, number in (line for lines in runs for line in lines):
        found = await store.turn(turn)
        if found is None or found.status == "open":
            wrong.append(f"{what} {turn}: {found and found.status}")
            continue
        texts = [message.text for message in found.messages]
        match what:
            case "begun":
                kept = texts[0] == question(int(number)) and found.request
            case "said":
                kept = len(texts) == 2 and len(texts[1]) >= int(number)
            case _:
                kept = texts[1:] == [answer(int(number))] and found.status == "complete"
        if not kept:
            wrong.append(f"{what} {turn}: {found.status}")
    chat = await store.latest_chat(WORKSPACE)
    open_turns = [turn for turn in await store.turns(chat) if turn.status == "open"]
    await store.close()
    return wrong + [f"still open: {turn.id}" for turn in open_turns]


def check(place: str, kills: int) -> None:
    runs = killed_runs(place, kills)
    acknowledged = sum(len(lines) for lines in runs)

    assert asyncio.run(lost(place, runs)) == []
    assert len(runs) == kills
    assert acknowledged > kills, "the processes died before they could promise anything"
    if not place.startswith("postgresql:"):
        whole = sqlite3.connect(place).execute("PRAGMA integrity_check").fetchall()
        assert whole == [("ok",)]


def test_two_hundred_kills_lose_nothing(place):
    check(place, kills=200)


@pytest.mark.long
def test_two_thousand_kills_lose_nothing(place):
    check(place, kills=2_000)
