"""Processes that chat until they are killed. Run as a program it starts one for every line it reads.

A chatting process says on its standard output what the store has acknowledged, line by line:
``begun TURN N``, ``said TURN CHARACTERS``, ``finished TURN N``; ``pid N`` comes first.
"""

import asyncio
import os
import sys

from sill.adapters.store import open_store
from sill.core.messages import Epoch
from tests.store.examples import closing, opening

if any("postgres" in argument for argument in sys.argv):
    import psycopg  # noqa: F401  once here, not in every process
    import psycopg_pool  # noqa: F401

WORKSPACE = "w"


def question(number: int) -> str:
    return f"question {number}, " + "with some words to fill a row of its own " * (number % 7)


def answer(number: int) -> str:
    return f"answer {number}: " + "word after word after word " * (20 + number % 11)


def say(*words: object) -> None:
    # One write: a killed process leaves whole lines or none.
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


async def talk(place: str) -> None:
    store = await open_store(place)
    chat = await store.latest_chat(WORKSPACE) or await store.new_chat(WORKSPACE)
    number = (await store.turns(chat, limit=1) or [None])[0]
    at = 0 if number is None else number.sequence
    first = None
    while True:
        at += 1
        epoch = Epoch(at // 20, first) if at % 20 else Epoch()
        turn = await store.begin(chat, opening(question(at), epoch=epoch))
        first = first or turn
        say("begun", turn, at)
        text = answer(at)
        for end in range(0, len(text), 90):
            await store.checkpoint(turn, text[:end])
        said = len(await store.partial(turn))
        say("said", turn, said)
        await store.finish(turn, closing(text))
        say("finished", turn, at)


def main(place: str) -> None:
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            say("pid", os.getpid())
            asyncio.run(talk(place))
        os.waitpid(child, 0)
        say("ended")


if __name__ == "__main__":
    main(sys.argv[1])
