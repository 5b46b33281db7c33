"""Chroma on the passages of an index that Sill has made: a program for an environment of its own.

It is given the passages as they are in Sill's index, with vectors made at random, and does what it can of the same
work: takes them in, finds by a vector, takes in an edited note and finds a word of it. Cutting notes into passages and
looking at the folder is not its work and is not in its times; it has no ranking by words and follows no links.
"""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from _peers import peer_python

MOST_SECONDS = 900

_PROGRAM = """
import json, resource, sqlite3, sys, time
from pathlib import Path
import chromadb, numpy
database, folder, dimensions, queries = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rows = sqlite3.connect(database).execute(
    "SELECT p.id, f.path, p.text FROM passages p JOIN files f ON f.id = p.file ORDER BY p.id").fetchall()
chance = numpy.random.default_rng(1)
def vectors(number):
    return chance.standard_normal((number, dimensions)).astype("float32")
client = chromadb.PersistentClient(folder, settings=chromadb.Settings(anonymized_telemetry=False))
held = client.create_collection("notes", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None)
def add(some):
    held.add(ids=[str(id) for id, _, _ in some], embeddings=vectors(len(some)), documents=[text for _, _, text in some],
             metadatas=[{"path": path} for _, path, _ in some])
size = min(5000, client.get_max_batch_size())
began = time.perf_counter()
for start in range(0, len(rows), size):
    add(rows[start : start + size])
held.query(query_embeddings=vectors(1), n_results=10)
ready = time.perf_counter() - began
edits = []
for number in range(5):
    path = rows[number * 211 % len(rows)][1]
    began = time.perf_counter()
    held.delete(where={"path": path})
    add([(f"{id}-{number}", own, text + f" freshword{number}") for id, own, text in rows if own == path])
    found = held.get(where_document={"$contains": f"freshword{number}"})
    edits.append(time.perf_counter() - began)
    assert found["ids"]
times = []
for asked in vectors(queries + 5):
    began = time.perf_counter()
    held.query(query_embeddings=[asked], n_results=10)
    times.append(time.perf_counter() - began)
times = sorted(times[5:])
print(json.dumps({
    "passages": len(rows), "ready s": round(ready, 2), "edit seen ms": round(max(edits) * 1000, 1),
    "query p95 ms": round(times[int(len(times) * 0.95)] * 1000, 2),
    "memory MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    "index MB": round(sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 1e6, 1),
    "version": chromadb.__version__}))
"""


def chroma(database: Path, dimensions: int, queries: int) -> dict[str, Any] | str:
    """What Chroma measures on the passages of ``database``, or why there is nothing."""
    try:
        python = peer_python("chroma", "chromadb")
        with tempfile.TemporaryDirectory() as folder:
            given = [str(database), folder, str(dimensions), str(queries)]
            done = subprocess.run(
                [str(python), "-c", _PROGRAM, *given],
                capture_output=True,
                text=True,
                timeout=MOST_SECONDS,
            )
    except subprocess.CalledProcessError:
        return "could not be installed"
    except subprocess.TimeoutExpired:
        return f"took longer than {MOST_SECONDS} s"
    if done.returncode != 0:
        return "failed: " + (done.stderr.strip().splitlines() or ["without a word"])[-1]
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report
