"""How fast a vault is ready, and stays ready.

    python bench/index.py [--notes 10000 100000] [--database postgresql://...] [--json]

For each size: seconds until full text can be searched, a look without any change, one edit until it is
found, and the time of a hybrid query (with vectors made at random, so that their number is right; the
time to embed a question is measured by itself if the bundled embedder is there). Memory is the most that the
process and those that read for it ever used together, each size in a process of its own. Chroma does what it can of
the same (see ``_chroma``). With --database the index is in that PostgreSQL database; its processor time and memory
are the server's and are not counted, and its part of the database is removed at the end.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from _chroma import chroma
from _shape import finish, show
from data_vault import Made

from sill.adapters.index.index import Index
from sill.adapters.index.search import Signals

DIMENSIONS = 384
QUERIES = 200


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--notes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--database", help="a postgresql:// URL instead of a SQLite file")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.write:
        print(written(given.write, given.one))
        return
    if given.one:
        print(json.dumps(measured(given.one, given.database, with_peers=not given.no_peers)))
        return
    peers = ["--no-peers"] if given.no_peers or given.database else []
    if given.database:
        peers += ["--database", given.database]
    results = [in_own_process(notes, *peers) for notes in given.notes]
    columns = [
        "notes", "MB", "passages", "links", "full text s", "CPU s", "notes/s", "no-change ms", "edit seen ms",
        "query p50 ms", "query p95 ms", "query CPU p95 ms",
        "embedding p95 ms", "memory MB", "index MB",
    ]  # fmt: skip
    show(
        "Index of a generated vault", columns, [[row[name] for name in columns] for row in results]
    )
    others = [row["chromadb"] for row in results]
    if told := [other for other in others if isinstance(other, dict)]:
        show(
            "Chroma, on the same passages", list(told[0]), [list(other.values()) for other in told]
        )
    for reason in (other for other in others if isinstance(other, str)):
        print(f"Chroma: {reason}")
    finish(
        {"bench": "index", "cores": os.cpu_count(), "load": os.getloadavg()[0], "results": results}
    )


def in_own_process(notes: int, *more: str) -> Any:
    command = [sys.executable, __file__, "--one", str(notes), *more]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measured(notes: int, url: str | None, *, with_peers: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "vault"
        root.mkdir()
        size = in_own_process(notes, "--write", str(root))
        database = Path(scratch) / "index.sqlite"
        index = Index(root, url or database, model="random")
        started, busy = time.perf_counter(), processor_time()
        with Peak() as peak:
            index.refresh()
        ready, used = time.perf_counter() - started, processor_time() - busy
        unchanged = min(timed(index.refresh) for _ in range(5))
        edits = [edit(index, root, number) for number in range(5)]
        status = index.status()
        started = time.perf_counter()
        fill_vectors(index)
        filled = time.perf_counter() - started
        walls, busies = zip(*queries(index), strict=True)
        times, works = sorted(walls), sorted(busies)
        memory = max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, peak.bytes)
        size_of_index = index.status().bytes
        if url:
            drop(url, root)
        index.close()
        if not url:
            size_of_index = database.stat().st_size  # without its log
        return {
            "notes": notes,
            "home": "PostgreSQL" if url else "SQLite",
            "MB": round(size / 1e6, 1),
            "passages": status.passages,
            "links": status.links,
            "full text s": round(ready, 2),
            "CPU s": round(used, 2),
            "with vectors s": round(ready + filled, 2),
            "notes/s": round(notes / ready),
            "no-change ms": round(unchanged * 1000),
            "edit seen ms": round(max(edits) * 1000),
            "query p50 ms": round(times[len(times) // 2] * 1000, 1),
            "query p95 ms": round(times[int(len(times) * 0.95)] * 1000, 1),
            "query CPU p95 ms": round(works[int(len(works) * 0.95)] * 1000, 1),
            "embedding p95 ms": embedding(),
            "memory MB": round(memory / 2**20),
            "index MB": round(size_of_index / 1e6, 1),
            "chromadb": chroma(database, DIMENSIONS, QUERIES) if with_peers else "not asked",
        }


def drop(url: str, root: Path) -> None:
    import psycopg

    from sill.adapters.index.postgres import tables

    with psycopg.connect(url, autocommit=True) as connection:
        tables.drop(connection, tables.schema_name(root))


def written(root: Path, notes: int) -> int:
    """About two kilobytes a note; in a process of its own, so that memory is the index's alone."""
    size = 0
    for path, text in Made(random.Random(1), notes, filler=2).files():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        size += len(text)
    return size


def edit(index: Index, root: Path, number: int) -> float:
    """Seconds from the end of a save until a search finds it, a look at the folder included."""
    path = root / index.paths()[number * 7]
    path.write_text(path.read_text() + f"\nfreshword{number}\n")
    started = time.perf_counter()
    index.refresh()
    hits = index.search(f"freshword{number}", 5, Signals(links=False))
    assert [root / hit.path for hit in hits] == [path]
    return time.perf_counter() - started


def fill_vectors(index: Index) -> None:
    import numpy

    chance = numpy.random.default_rng(1)
    after: int | None = None
    while waiting := index.pending(5_000, after):
        after = waiting[-1][0]
        vectors = chance.standard_normal((len(waiting), DIMENSIONS)).astype("float32")
        index.keep_vectors([(hash, row) for (hash, _), row in zip(waiting, vectors, strict=True)])


def queries(index: Index) -> list[tuple[float, float]]:
    import numpy

    chance = numpy.random.default_rng(2)
    names = [path.rsplit("/", 1)[-1][:-3] for path in index.paths()]
    asked = ["When did the construction of {} begin?", "Who is in charge at {}?", "price of timber {}",
             "What does the captain of {} eat in the morning?"]  # fmt: skip
    times = []
    for number in range(QUERIES + 5):
        question = asked[number % 4].format(names[number * 31 % len(names)])
        vector = chance.standard_normal(DIMENSIONS).astype("float32")
        vector /= numpy.linalg.norm(vector)
        started, busy = time.perf_counter(), time.process_time()
        index.search(question, 10, Signals(vector=vector.tolist()))
        times.append((time.perf_counter() - started, time.process_time() - busy))
    return times[5:]  # the first ones load names and vectors


def embedding() -> float | None:
    """Milliseconds until a question has its vector, nineteen times out of twenty."""
    from sill.adapters.embed.choice import embedder_for

    embedder = embedder_for("auto")
    if embedder is None:
        return None

    async def all_of_them() -> list[float]:
        times = []
        for number in range(QUERIES):
            started = time.perf_counter()
            await embedder.embed([f"When did the construction of the mill number {number} begin?"])
            times.append(time.perf_counter() - started)
        return sorted(times[5:])

    times = asyncio.run(all_of_them())
    return round(times[int(len(times) * 0.95)] * 1000, 1)


def processor_time() -> float:
    """Of this process and of those it started and has seen to their end."""
    user, system, others_user, others_system, _ = os.times()
    return user + system + others_user + others_system


class Peak:
    """The most memory that this process and its children hold at once while the block runs, looked at every 50 ms."""

    def __enter__(self) -> "Peak":
        self.bytes = 0
        self._over = threading.Event()
        self._looking = threading.Thread(target=self._look)
        self._looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._looking.join()

    def _look(self) -> None:
        while not self._over.wait(0.05):
            self.bytes = max(self.bytes, sum(map(resident, [os.getpid(), *children()])))


def children() -> list[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(id) for task in tasks for id in task.read_text().split()]


def resident(process: int) -> int:
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except OSError:  # gone meanwhile, or no Linux
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def timed(call) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
