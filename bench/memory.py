"""Memory that a chat takes in a process that serves many of them.

    python bench/memory.py [--json] [--chats 60] [--messages 200] [--long 4000] [--no-peers]

So many stored chats of so many messages. A fresh process opens the store (SQLite), asks one question in a few chats
until everything that is loaded once is there, and then in all the others, with counts remembered and recall as they are
shipped. What the process takes more after that, by chat, is the first figure. The second is the same for one long chat
over one of the usual length. The peer, LangChain's ``InMemoryChatMessageHistory``, holds the same messages in an
environment and a process of its own; the texts themselves, in UTF-8, are given beside it. Memory is what the system has
in pages for the process (resident), after a collection.
"""

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _peers import peer_or_none
from _shape import finish, show
from store import CALL, build_long_chat

from sill.adapters.store import open_store
from sill.app.seat import RECALL_INSISTS, RECALL_LEAST
from sill.engine.chat import Chat
from sill.engine.prepare import Question
from sill.engine.recall import Recollection
from sill.engine.sizes import Remembered
from sill.engine.sizing import Sizer
from sill.testing import ScriptedModel, WordCounter

WARM = 10


def resident() -> int:
    """Bytes of this process that are in memory now."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def inside(database: Path) -> dict[str, Any]:
    store = await open_store(database)
    counter = WordCounter()
    model = ScriptedModel()
    remembered = Remembered(counter, store)
    chat = Chat(
        store,
        model,
        counter,
        Sizer(counter, remembered.count, "folded"),
        CALL,
        "bench",
        recollection=Recollection(store, least=RECALL_LEAST, insists=RECALL_INSISTS),
        summaries="extract",
    )
    # The oldest first: the long one is the last.
    ids = [info.id for info in await store.chats("bench")][::-1]

    async def ask(id: str) -> None:
        model._replies.append(["Nothing came of it."])
        async for _ in chat.ask(id, Question("And what came of it?")):
            pass
        model.sent.clear()  # a real model keeps no requests
        await chat.recollection.settled()

    for id in ids[:WARM]:
        await ask(id)
    before = resident()
    for id in ids[WARM:]:
        await ask(id)
    after = resident()
    await store.close()
    return {"before": before, "after": after, "chats": len(ids) - WARM}


PEER = """
import gc, json, os, sqlite3, sys
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage
def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
held = []
def take(said):
    history = InMemoryChatMessageHistory()
    for question, answer in zip(said[::2], said[1::2]):
        history.add_message(HumanMessage(question))
        history.add_message(AIMessage(answer))
    held.append(history)
warm = int(sys.argv[1])
for number, line in enumerate(sys.stdin):
    if number == warm:
        before = resident()
    take(json.loads(line))
print(json.dumps({"before": before, "after": resident(), "chats": len(held) - warm}))
"""


async def texts(database: Path) -> list[list[str]]:
    store = await open_store(database)
    said = []
    for info in await store.chats("bench"):
        turns = await store.turns(info.id)
        said.append([message.text for turn in turns for message in turn.messages])
    await store.close()
    return said


def measured(database: Path) -> dict[str, Any]:
    """In a process of its own, so that nothing else is in its memory."""
    done = subprocess.run(
        [sys.executable, __file__, "--inside", str(database)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def per_chat(report: dict[str, Any]) -> float:
    """Kilobytes."""
    return max(0.0, (report["after"] - report["before"]) / report["chats"] / 1024)


async def build(database: Path, chats: int, messages: int) -> None:
    for _ in range(chats):
        await build_long_chat(database, messages)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chats", type=int, default=60)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--long", type=int, default=4_000)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(asyncio.run(inside(options.inside))))
        return
    with tempfile.TemporaryDirectory() as folder:
        usual, long = Path(folder, "usual.db"), Path(folder, "long.db")
        asyncio.run(build(usual, WARM + options.chats, options.messages))
        said = asyncio.run(texts(usual))
        ours = measured(usual)
        asyncio.run(build(long, WARM, options.messages))
        asyncio.run(build(long, 1, options.long))
        longest = measured(long)
    theirs = "not asked" if options.no_peers else peer(said)
    bare = sum(len(text.encode()) for chat in said[WARM:] for text in chat) / options.chats / 1024
    rows: list[tuple[object, ...]] = [
        ("Sill, a chat", f"{per_chat(ours):,.1f}"),
        (f"Sill, a chat of {options.long:,} messages", f"{per_chat(longest):,.1f}"),
        ("its texts alone", f"{bare:,.1f}"),
    ]
    others = round(theirs, 1) if isinstance(theirs, float) else theirs
    rows.append(("langchain-core, a chat", f"{others:,}" if isinstance(others, float) else others))
    rows.append(("Sill, the whole process", f"{ours['after'] / 1024:,.0f}"))
    show(f"Kilobytes of memory, {options.messages} messages a chat", ("", "KB"), rows)
    finish(
        {
            "chats": options.chats,
            "messages": options.messages,
            "kb_per_chat": round(per_chat(ours), 1),
            "kb_of_long_chat": round(per_chat(longest), 1),
            "long_messages": options.long,
            "text_kb_per_chat": round(bare, 1),
            "langchain_kb_per_chat": others,
            "process_mb": round(ours["after"] / 2**20, 1),
        }
    )


def peer(said: list[list[str]]) -> float | str:
    """Kilobytes, or why there is no number."""
    python = peer_or_none("langchain", "langchain-core")
    if python is None:
        return "could not be installed"
    done = subprocess.run(
        [str(python), "-c", PEER, str(WARM)],
        input="\n".join(json.dumps(chat) for chat in said),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        print(f"bench: langchain-core failed: {done.stderr[-400:]}", file=sys.stderr)
        return "failed"
    return per_chat(json.loads(done.stdout))


if __name__ == "__main__":
    main()
