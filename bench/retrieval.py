"""How well search finds what answers a question.

    python bench/retrieval.py [--docs FOLDER] [--cranfield FOLDER] [--cisi FOLDER] [--json]

First a generated vault with one-hop, two-hop and unanswerable questions: which share of the passages
that must be read is among the first five, and within 4,000 tokens. Then nDCG@10 on public sets, made from
Python's documentation (fetched with apt, or --docs is its `_sources` folder), its standard library and
dpkg's list of packages; --cranfield and --cisi are folders with those collections in their own format, which no
package index has. Vectors are kept in --cache, so that a second run takes seconds.

How much meaning counts beside words, and how quickly places lose their worth, are two numbers that have to
be chosen. "chosen elsewhere" is the result on each set with the numbers that are best on all the others.
"""

import argparse
import asyncio
import math
import tempfile
from pathlib import Path

from _shape import finish, show
from data_classic import CISI, CRANFIELD, load
from data_docs import Set, fetch_sources, package_set, python_sets
from data_vault import Place, Question, generate

from sill.adapters.embed.choice import embedder_for
from sill.adapters.index.search import DEPTH, Signals, by_words
from sill.adapters.vault.index import DiskVault
from sill.core.query import parse_query
from sill.core.rank import Hit, Ranking, fit, fuse
from sill.ports import Embedder

MEANING = [0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0]
DAMPING = [1, 2, 3, 5, 8, 12, 20, 40, 60]
MODES = ["text", "vectors", "text + vectors", "text + links", "hybrid"]
BUDGET = 4_000


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--cranfield", type=Path)
    parser.add_argument("--cisi", type=Path)
    parser.add_argument("--cache", type=Path, help="where indexes with their vectors are kept")
    parser.add_argument("--embedder", default="auto")
    parser.add_argument("--embedder-folder", type=Path)
    parser.add_argument("--notes", type=int, default=400)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    embedder = embedder_for(given.embedder, folder=given.embedder_folder)
    report: dict[str, object] = {
        "bench": "retrieval",
        "embedder": embedder.name if embedder else None,
    }
    with tempfile.TemporaryDirectory() as scratch:
        cache = given.cache or Path(scratch)
        cache.mkdir(parents=True, exist_ok=True)
        report["vault"] = await generated(given, cache, Path(scratch), embedder)
        docs = given.docs or fetch_sources(cache / "python-doc")
        sets = python_sets(docs) if docs else []
        if packages := package_set():
            sets.append(packages)
        for collection, folder in ((CRANFIELD, given.cranfield), (CISI, given.cisi)):
            if folder:
                sets.append(load(collection, folder))
        if sets:
            report["sets"] = await public(sets, cache, Path(scratch), embedder)
    finish(report)


async def generated(
    given: argparse.Namespace, cache: Path, scratch: Path, embedder: Embedder | None
) -> object:
    folder = scratch / "generated"
    folder.mkdir()
    questions = generate(folder, given.notes, given.questions, given.seed)
    vault = await ready(folder, cache / f"generated-{given.notes}-{given.seed}.sqlite", embedder)
    results = {}
    for mode in modes(embedder):
        found = [(q, await ask(vault, q.text, mode, 60)) for q in questions]
        one = [(q, hits) for q, hits in found if q.kind == "one-hop"]
        two = [(q, hits) for q, hits in found if q.kind == "two-hop"]
        none = [(q, hits) for q, hits in found if q.kind == "unanswerable"]
        results[mode] = {
            "one-hop recall@5": share(one, lambda hits: hits[:5]),
            "one-hop at 4k": share(one, within),
            "two-hop recall@5": share(two, lambda hits: hits[:5]),
            "two-hop at 4k": share(two, within),
            "both hops at 4k": whole(two, within),
            "unanswerable: all of its note at 4k": seen(vault, none),
        }
    columns = list(next(iter(results.values())))
    rows = [
        [mode, *(f"{values[column]:.3f}" for column in columns)] for mode, values in results.items()
    ]
    count = {
        kind: sum(q.kind == kind for q in questions)
        for kind in ("one-hop", "two-hop", "unanswerable")
    }
    show(
        f"Generated vault: {given.notes} notes, questions {count}, seed {given.seed}",
        ["", *columns],
        rows,
    )
    await vault.close()
    return results


async def public(sets: list[Set], cache: Path, scratch: Path, embedder: Embedder | None) -> object:
    results: dict[str, dict[str, float]] = {}
    grids: dict[str, dict[Numbers, float]] = {}
    for number, one in enumerate(sets):
        folder = scratch / f"set{number}"
        folder.mkdir()
        ending = "py" if "function" in one.name else "md"
        for id, text in one.documents.items():
            (folder / f"{id}.{ending}").write_text(text)
        # One index for all: a text that is in two sets is embedded once.
        vault = await ready(folder, cache / "public.sqlite", embedder)
        results[one.name] = {
            mode: sum([await ndcg(vault, text, grades, mode) for text, grades in one.questions])
            / len(one.questions)
            for mode in modes(embedder)
            if "links" not in mode
        }
        print(
            f"  {one.name}: {len(one.documents):,} documents, {len(one.questions)} questions",
            flush=True,
        )
        if embedder:
            grids[one.name] = await grid(vault, one)
        await vault.close()
    for name, values in results.items():
        if len(grids) > 1:
            others = [grids[other] for other in grids if other != name]
            values["chosen elsewhere"] = grids[name][best(others)]
    columns = list(next(iter(results.values())))
    rows = [[name, *(f"{values[c]:.3f}" for c in columns)] for name, values in results.items()]
    means = {c: sum(values[c] for values in results.values()) / len(results) for c in columns}
    rows.append(["mean", *(f"{means[c]:.3f}" for c in columns)])
    show("nDCG@10", ["", *columns], rows)
    chosen = {name: best([grids[o] for o in grids if o != name]) for name in grids}
    overall = best(list(grids.values())) if grids else None
    for name, numbers in chosen.items():
        print(f"  {name}: meaning {numbers[0]}, damping {numbers[1]} chosen by the others")
    print(f"  by all: {overall}\n")
    return {"ndcg@10": results, "mean": means, "chosen": chosen, "overall": overall}


Numbers = tuple[float, int]  # the weight of meaning, and the damping of places


async def grid(vault: DiskVault, one: Set) -> dict[Numbers, float]:
    """Mean nDCG@10 of words and meaning together, for every choice of the numbers."""
    assert vault.embedder is not None
    connection = vault.index._connection
    path_of = dict(
        connection.execute("SELECT p.id, f.path FROM passages p JOIN files f ON f.id = p.file")
    )
    sums = {(weight, damping): 0.0 for weight in MEANING for damping in DAMPING}
    for question, grades in one.questions:
        (vector,) = await vault.embedder.embed([question])
        words = by_words(vault.index._place.words, parse_query(plain(question)), None)
        close = tuple(vault.index._vectors.nearest(connection, vector, DEPTH))
        for weight, damping in sums:
            rankings = [Ranking("text", words), Ranking("meaning", close, weight)]
            ids = [path_of[ranked.key].rsplit(".", 1)[0] for ranked in fuse(rankings, damping)]
            sums[weight, damping] += gain(ids, grades)
    return {numbers: total / len(one.questions) for numbers, total in sums.items()}


def best(grids: list[dict[Numbers, float]]) -> Numbers:
    return max(grids[0], key=lambda numbers: sum(grid[numbers] for grid in grids))


async def ready(folder: Path, database: Path, embedder: Embedder | None) -> DiskVault:
    vault = DiskVault(folder, database, embedder=embedder)
    await vault.refresh()
    await vault.embed_pending()
    return vault


async def ask(vault: DiskVault, question: str, mode: str, limit: int) -> list[Hit]:
    vector = None
    if vault.embedder and ("vectors" in mode or mode == "hybrid"):
        (vector,) = await vault.embedder.embed([question])
    signals = Signals(
        text=mode != "vectors", vector=vector, links="links" in mode or mode == "hybrid"
    )
    return vault.index.search(plain(question), limit, signals)


def plain(question: str) -> str:
    """A question is words here, whatever characters are in it."""
    return "".join(character if character.isalnum() else " " for character in question)


async def ndcg(vault: DiskVault, question: str, grades: dict[str, int], mode: str) -> float:
    hits = await ask(vault, question, mode, 60)
    return gain([hit.path.rsplit(".", 1)[0] for hit in hits], grades)


def gain(found: list[str], grades: dict[str, int]) -> float:
    """nDCG@10 of documents by the first of their passages."""
    ids = list(dict.fromkeys(found))[:10]
    gained = sum(grades.get(id, 0) / math.log2(place + 2) for place, id in enumerate(ids))
    ideal = sorted(grades.values(), reverse=True)[:10]
    return gained / sum(grade / math.log2(place + 2) for place, grade in enumerate(ideal))


def modes(embedder: Embedder | None) -> list[str]:
    return MODES if embedder else ["text", "text + links"]


def within(hits: list[Hit]) -> list[Hit]:
    return fit(hits, lambda hit: len(hit.text) // 4 + 10, BUDGET)


def covered(question: Question, hits: list[Hit]) -> list[bool]:
    return [any(holds(hit, place) for hit in hits) for place in question.places]


def holds(hit: Hit, place: Place) -> bool:
    first, last = place.lines
    return hit.path == place.path and hit.lines[0] <= first and last <= hit.lines[1]


def share(found: list[tuple[Question, list[Hit]]], cut) -> float:
    """The share of places with the answer itself that are among the hits."""
    return sum(covered(q, cut(hits))[-1] for q, hits in found) / max(1, len(found))


def whole(found: list[tuple[Question, list[Hit]]], cut) -> float:
    return sum(all(covered(q, cut(hits))) for q, hits in found) / max(1, len(found))


def seen(vault: DiskVault, found: list[tuple[Question, list[Hit]]]) -> float:
    """The share of notes that are read to their end: only then can somebody say that the answer is not there."""
    rows = vault.index._connection.execute(
        "SELECT f.path, count(*) FROM passages p JOIN files f ON f.id = p.file GROUP BY f.path"
    )
    passages = dict(rows)
    read = [sum(hit.path == q.about for hit in within(hits)) for q, hits in found]
    return sum(passages[q.about] == n for (q, _), n in zip(found, read, strict=True)) / max(
        1, len(found)
    )


if __name__ == "__main__":
    asyncio.run(main())
