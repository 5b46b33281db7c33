"""What keeping chats costs: opening a long one, appending a turn, room on the disk.

    python bench/store.py [--json] [--messages 100000] [--turns 2000] [--appends 300]

Three figures, each with the bound it has to hold. Everything runs on SQLite in a temporary folder, with
the context engine in front of it where a plan is asked for. Appending is measured a second time in memory
(/dev/shm), where syncing costs nothing and only the work itself is left.
"""

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sill.adapters.store import DatabaseStore, open_store
from sill.adapters.store import sqlite as sqlite_adapter
from sill.adapters.store import turns as turn_scripts
from sill.adapters.store import words as words_index
from sill.adapters.store.drafts import Recent, draft, message_texts
from sill.adapters.store.leases import LeaseTimes
from sill.adapters.store.shelf import new_id
from sill.core.budget import Profile
from sill.core.certificate import Certificate, Usage
from sill.core.documents import Document
from sill.core.messages import Epoch, Message
from sill.core.request import ChatRequest, WireMessage, encode
from sill.engine.chat import Chat
from sill.engine.prepare import Call, Means, Question, prepare
from sill.engine.sizing import Sizer
from sill.ports import Closing, Opening
from sill.testing import ScriptedModel, WordCounter

SYSTEM = "You answer from the files you are shown, briefly, and say so when they do not tell. " * 4
CALL = Call("m", Profile(window=16_384, reply=1_024), 16_384, SYSTEM)
EPOCH_TURNS = 40
IN_MEMORY = "/dev/shm"


@dataclass
class Words:
    """Text in about the proportions of real text: pieces of a long one, each from another place in it."""

    chance: random.Random
    pool: str

    def text(self, characters: int) -> str:
        start = self.pool.index(" ", self.chance.randrange(len(self.pool) - characters - 20)) + 1
        return self.pool[start : start + characters]


def sentences(seed: int, vocabulary: int = 6_000) -> Words:
    chance = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(vocabulary)]
    weights = [1 / (rank + 2) for rank in range(vocabulary)]
    return Words(chance, " ".join(chance.choices(words, weights, k=500_000)))


# --- Opening a long chat --------------------------------------------------------------------------


async def build_long_chat(path: Path, messages: int) -> str:
    """A chat of that many messages, in epochs of forty turns, written many turns at a time."""
    store = await open_store(path)
    chat = await store.new_chat("bench")
    words = sentences(1)
    recent, epoch, window = Recent(), Epoch(), [WireMessage("system", SYSTEM)]
    for start in range(0, messages // 2, 500):

        async def script(transaction: Any, start: int = start) -> None:
            nonlocal recent, epoch, window
            for number in range(start, min(start + 500, messages // 2)):
                id = new_id()
                if number and number % EPOCH_TURNS == 0:
                    epoch = Epoch(epoch.number + 1, id)
                    window = window[:1]
                question, reply = words.text(160), words.text(400)
                window.append(WireMessage("user", question))
                request = encode(ChatRequest("m", tuple(window), 500).body())
                begun = Opening(
                    (Message("user", question),),
                    "m",
                    "http://localhost/v1",
                    Certificate("exact", "words", 100),
                    # The turn that opens an epoch is its first one.
                    epoch,
                    "{}",
                    request,
                )
                held, recent = await turn_scripts.begin(
                    transaction, chat, draft(id, begun, recent), "bench", LeaseTimes()
                )
                answer = (Message("assistant", reply),)
                closing = Closing("complete", answer, usage=Usage(100, 80))
                await turn_scripts.finish(transaction, held, closing, message_texts(answer))
                window.append(WireMessage("assistant", reply))

        await store._database.write(script)
    while await store._database.read(words_index.are_waiting):
        await store._database.write(words_index.catch_up)
    await store.close()
    return chat


class RowCount:
    """Counts the rows that SQLite hands out."""

    def __init__(self) -> None:
        self.rows = 0
        transaction = sqlite_adapter.SqliteTransaction
        rows, row = transaction.rows, transaction.row

        async def counted_rows(me: Any, sql: str, *values: object) -> Any:
            found = await rows(me, sql, *values)
            self.rows += len(found)
            return found

        async def counted_row(me: Any, sql: str, *values: object) -> Any:
            found = await row(me, sql, *values)
            self.rows += found is not None
            return found

        transaction.rows, transaction.row = counted_rows, counted_row  # type: ignore[method-assign]


async def open_and_plan(path: Path, chat: str, repeats: int) -> dict[str, Any]:
    counter = WordCounter()
    counts = RowCount()
    whole, reads = [], []
    for _ in range(repeats):
        counts.rows = 0
        started = time.perf_counter()
        store = await open_store(path)
        history = await store.history(chat)
        read = time.perf_counter()
        means = Means(CALL, counter, Sizer(counter, counter.count, "folded"))
        ready = await prepare(means, history, Question("And what came of it?"))
        ended = time.perf_counter()
        assert type(ready).__name__ == "Prepared"
        whole.append((ended - started) * 1000)
        reads.append((read - started) * 1000)
        rows = counts.rows
        await store.close()
    stored = sqlite3.connect(path).execute("SELECT COUNT(*) FROM messages").fetchone()[0]
    return {
        "messages_stored": stored,
        "turns_before_the_window": history.earlier,
        "turns_read": len(history.turns),
        "rows_read": rows,
        "open_and_read_ms": round(statistics.median(reads), 2),
        "open_and_plan_ms": round(statistics.median(whole), 2),
        "worst_ms": round(max(whole), 2),
        "bound_ms": 20,
    }


# --- Appending a turn -----------------------------------------------------------------------------


def bare_transaction(connection: sqlite3.Connection, texts: list[str], *more: bytes) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    for body in (*(text.encode() for text in texts), *more):
        connection.execute("INSERT INTO texts VALUES (?)", (body,))
    connection.execute("COMMIT")
    return (time.perf_counter() - started) * 1000


def exchange(words: Words, window: list[WireMessage]) -> tuple[Opening, Closing]:
    """A turn behind those in the window."""
    question, reply = words.text(300), words.text(1_200)
    plan = json.dumps({"items": [words.text(20) for _ in range(3)]})
    window.append(WireMessage("user", question))
    opening = Opening(
        (Message("user", question),),
        "m",
        "http://localhost/v1",
        Certificate("exact", "words", 100),
        Epoch(),
        plan,
        encode(ChatRequest("m", tuple(window), 500).body()),
    )
    window.append(WireMessage("assistant", reply))
    return opening, Closing("complete", (Message("assistant", reply),), usage=Usage(100, 80))


async def append(folder: Path, repeats: int) -> dict[str, Any]:
    """Begin and finish of a turn against one bare transaction that writes the same bytes.

    Those are what the store is given: question, answer, plan and the request as it is sent. The second
    comparison leaves the request out, as if recording it cost nothing at all. Turns are put in their places
    later: what that takes for each of them, when somebody reads, is a figure of its own.
    """
    store = await open_store(folder / "append.db")
    chat = await store.new_chat("bench")
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode=WAL")
    bare.execute("PRAGMA synchronous=FULL")
    bare.execute("CREATE TABLE texts (body BLOB)")
    words = sentences(2)
    window = [WireMessage("system", SYSTEM)]
    ours, theirs, without, begins, finishes = [], [], [], [], []
    for number in range(repeats):
        if number % EPOCH_TURNS == 0:
            window = window[:1]
        opening, closing = exchange(words, window)
        texts = [opening.messages[0].text, closing.messages[0].text, opening.plan]

        started = time.perf_counter()
        turn = await store.begin(chat, opening)
        begun = time.perf_counter()
        await store.finish(turn, closing)
        ended = time.perf_counter()
        theirs.append(bare_transaction(bare, texts, opening.request))
        without.append(bare_transaction(bare, texts))
        ours.append((ended - started) * 1000)
        begins.append((begun - started) * 1000)
        finishes.append((ended - begun) * 1000)
    later = [await put_away(store, chat, words) for _ in range(10)]
    await store.close()
    bare.close()
    turn_ms, bare_ms = statistics.median(ours), statistics.median(theirs)
    return {
        "turns": repeats,
        "turn_ms": round(turn_ms, 3),
        "begin_ms": round(statistics.median(begins), 3),
        "finish_ms": round(statistics.median(finishes), 3),
        "put_away_ms": round(statistics.median(later), 3),
        "bare_transaction_ms": round(bare_ms, 3),
        "bare_without_request_ms": round(statistics.median(without), 3),
        "mean_turn_ms": round(statistics.mean(ours), 3),
        "mean_bare_transaction_ms": round(statistics.mean(theirs), 3),
        "sync_ms": round(sync_ms(folder), 3),
        "ratio": round(turn_ms / bare_ms, 2),
        "ratio_without_request": round(turn_ms / statistics.median(without), 2),
        "bound": 2,
    }


async def put_away(store: DatabaseStore, chat: str, words: Words, turns: int = 20) -> float:
    """Milliseconds that the first reader waits for each of the turns that nobody has read."""
    await store.chats()
    window = [WireMessage("system", SYSTEM)]
    for _ in range(turns):
        opening, closing = exchange(words, window)
        await store.finish(await store.begin(chat, opening), closing)
    started = time.perf_counter()
    await store.chats()
    return (time.perf_counter() - started) * 1000 / turns


def sync_ms(folder: Path, times: int = 50) -> float:
    """How long the disk takes to keep four kilobytes."""
    took = []
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(times):
            file.write(b"x" * 4096)
            started = time.perf_counter()
            os.fsync(file.fileno())
            took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


# --- Room -----------------------------------------------------------------------------------------


async def room(folder: Path, turns: int, changes: int = 200, files: int = 5) -> dict[str, Any]:
    """A long chat through the whole engine, with files that change, and its database on the disk."""
    words, chance = sentences(3), random.Random(3)
    path = folder / "room.db"
    store = await open_store(path)
    documents = {
        f"notes/{n}.md": "\n".join(words.text(78) for _ in range(104)) for n in range(files)
    }
    states = set(documents.values())
    counter = WordCounter()
    model = ScriptedModel()
    chat = Chat(
        store,
        model,
        counter,
        Sizer(counter, counter.count, "folded"),
        CALL,
        "bench",
    )
    id: str | None = None
    due = set(range(0, turns, max(1, turns // changes)))
    for number in range(turns):
        if number in due:
            name = chance.choice(sorted(documents))
            lines = documents[name].split("\n")
            lines[chance.randrange(len(lines))] = words.text(78)
            documents[name] = "\n".join(lines)
            states.add(documents[name])
        model._replies.append([words.text(900)])
        shown = tuple(Document(path, body) for path, body in documents.items())
        async for event in chat.ask(id, Question(words.text(200), shown)):
            id = getattr(event, "chat", id)
    assert id is not None
    stored = await store.turns(id)
    bodies = {message.text for turn in stored for message in turn.messages} | {SYSTEM}
    requests = sum(size for (size,) in sqlite3.connect(path).execute("SELECT size FROM requests"))
    await store.close()
    distinct = sum(len(body.encode()) for body in bodies)
    size = path.stat().st_size
    return {
        "turns": len(stored),
        "epochs": stored[-1].epoch.number + 1,
        "file_states": len(states),
        "distinct_contents_bytes": distinct,
        "requests_bytes_as_sent": requests,
        "database_bytes": size,
        "ratio": round(size / distinct, 3),
        "bound": 1.5,
    }


async def main(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=options.dir) as name:
        folder = Path(name)
        appended = {"append": await append(folder, options.appends)}
        if os.path.isdir(IN_MEMORY):  # noqa: PTH112, ASYNC240
            with tempfile.TemporaryDirectory(dir=IN_MEMORY) as other:
                appended["append_in_memory"] = await append(Path(other), options.appends)
        size = await room(folder, options.turns)
        long = folder / "long.db"
        chat = await build_long_chat(long, options.messages)
        opened = await open_and_plan(long, chat, 20)
    return {"open": opened, **appended, "room": size}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--appends", type=int, default=300)
    parser.add_argument("--dir", help="where the databases are made (default: the system's)")
    results = asyncio.run(main(parser.parse_args()))
    if "--json" in sys.argv:
        print(json.dumps(results, indent=1))
    else:
        for part, figures in results.items():
            print(part)
            for name, value in figures.items():
                print(f"  {name.replace('_', ' '):28} {value:>14,}")
