"""Counting tokens: throughput on new real text, repeats, edits, and texts that make counters hang.

    python bench/count.py [--json] [--skip-litellm]

Every text is new to every counter, as files and questions are. Counters take turns on the same text, so that
all meet the machine in the same state; a ratio is the median over texts. Ours is measured through the port
that the engine uses, event loop and all. Ranks come from the packages; nothing is downloaded but LiteLLM,
which gets an environment of its own.
"""

import asyncio
import base64
import json
import os
import random
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench._peers import peer_python  # noqa: E402
from bench._shape import finish, show  # noqa: E402
from sill.adapters.tokens import counter_for  # noqa: E402
from sill.engine.sizes import Remembered  # noqa: E402
from sill.ports import TokenCounter  # noqa: E402
from tests.tokens import references  # noqa: E402

SIZES = {"500 B": (500, 200), "10 KB": (10_000, 40), "1 MB": (1_000_000, 1)}
LITELLM = "litellm==1.80.0"
Count = Callable[[str], Awaitable[int]]
Counter = TokenCounter | Remembered


def real_text() -> str:
    """Source code and documentation of this Python installation, in a fixed order."""
    library = Path(sysconfig.get_paths()["stdlib"])
    files = [p for p in sorted(library.rglob("*.py")) if "test" not in p.parts]
    files += sorted((ROOT / ".venv").rglob("*.md")) + sorted((ROOT / "src").rglob("*.md"))
    random.Random(1).shuffle(files)
    texts, size = [], 0
    for path in files:
        if size > 13_000_000:
            break
        texts.append(path.read_text(errors="replace"))
        size += len(texts[-1])
    return "\n".join(texts)


def chunks(text: str, turn: int) -> dict[str, list[str]]:
    """Disjoint pieces of each size, other ones in each turn: no counter sees a text twice."""
    pieces: dict[str, list[str]] = {}
    at = turn * 1_600_000
    for name, (size, count) in SIZES.items():
        pieces[name] = [text[at + size * n : at + size * (n + 1)] for n in range(count)]
        at += size * count
    return pieces


async def in_turns(ours: Count, theirs: Count, texts: Sequence[str]) -> list[tuple[float, float]]:
    """Seconds of both counters for each text; who begins changes from text to text."""
    times = []
    for number, text in enumerate(texts):
        if number % 2:
            mine, first = await _timed(ours, text)
            other, second = await _timed(theirs, text)
        else:
            other, second = await _timed(theirs, text)
            mine, first = await _timed(ours, text)
        assert mine == other, f"counters disagree: {mine} and {other}"
        times.append((first, second))
    return times


async def _timed(count: Count, text: str) -> tuple[int, float]:
    started = time.perf_counter()
    tokens = await count(text)
    return tokens, time.perf_counter() - started


def peer(encode: Callable[[str], Sequence[int]]) -> Count:
    async def count(text: str) -> int:
        return len(encode(text))

    return count


def through(counter: Counter) -> Count:
    async def count(text: str) -> int:
        return (await counter.count([text])).tokens[0]

    return count


async def throughput(text: str) -> list[dict[str, Any]]:
    """Each peer against ours, on texts that neither has seen."""
    o200k_ranks = references.packaged_ranks("o200k_base", 0, 199_998)
    pairs = [
        ("o200k_base", "gpt-5", "tiktoken", references.official("o200k_base")),
        ("cl100k_base", "gpt-4", "tiktoken", references.official("cl100k_base")),
        ("tekken", "devstral-small-2", "tiktoken", tekken_in_tiktoken()),
        ("tekken", "devstral-small-2", "mistral-common", references.tekken()),
        ("o200k_base", "gpt-5", "tokenizers", references.byte_level(o200k_ranks, (references.O200K,))),
    ]  # fmt: skip
    rows = []
    for number, (family, model, name, encode) in enumerate(pairs):
        ours, theirs = through((await counter_for(model)).counter), peer(encode)
        for count in (ours, theirs):
            await count("to warm up: naïve café")
        for size, texts in chunks(text, number).items():
            times = await in_turns(ours, theirs, texts)
            mine, other = zip(*times, strict=True)
            rows.append(
                {
                    "family": family,
                    "size": size,
                    "peer": name,
                    "sill_mb_per_s": round(len(texts[0]) / statistics.median(mine) / 1e6, 2),
                    "peer_mb_per_s": round(len(texts[0]) / statistics.median(other) / 1e6, 2),
                    "ratio": round(statistics.median(b / a for a, b in times), 2),
                }
            )
    return rows


def tekken_in_tiktoken() -> Callable[[str], Sequence[int]]:
    """Tekken as a plain tiktoken encoding: the fastest way the reference library could have it."""
    import tiktoken
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    carried = MistralTokenizer.v3(is_tekken=True).instruct_tokenizer.tokenizer._model
    encoding = tiktoken.Encoding(
        "tekken",
        pat_str=carried._pat_str,
        mergeable_ranks=carried._mergeable_ranks,
        special_tokens={},
    )
    return encoding.encode_ordinary


LITELLM_SCRIPT = """
import json, statistics, sys, time
import tiktoken
from litellm import token_counter
encode = tiktoken.get_encoding("o200k_base").encode_ordinary
token_counter(model="gpt-4o", text="warm up"); encode("warm up")
rows = []
for size, texts in json.load(open(sys.argv[1])).items():
    pairs = []
    for number, text in enumerate(texts):
        took = {}
        for name in ("litellm", "tiktoken") if number % 2 else ("tiktoken", "litellm"):
            started = time.perf_counter()
            token_counter(model="gpt-4o", text=text) if name == "litellm" else encode(text)
            took[name] = time.perf_counter() - started
        pairs.append(took)
    speed = len(texts[0]) / statistics.median(p["litellm"] for p in pairs) / 1e6
    ratio = statistics.median(p["litellm"] / p["tiktoken"] for p in pairs)
    rows.append([size, round(speed, 2), ratio])
print(json.dumps(rows))
"""


def litellm_throughput(text: str, speeds: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """LiteLLM in its own process, against tiktoken in the same process; its ranks are handed to it.

    Its ratio to ours is its ratio to tiktoken times tiktoken's to ours.
    """
    pieces = chunks(text, 5)
    python = peer_python("litellm", LITELLM)
    with tempfile.TemporaryDirectory() as folder:
        ranks = references.rank_file(references.packaged_ranks("o200k_base", 0, 199_998))
        small = references.rank_file(references.packaged_ranks("cl100k_base", 0, 100_256))
        (Path(folder) / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(ranks)
        (Path(folder) / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").write_bytes(small)
        (Path(folder) / "pieces.json").write_text(json.dumps(pieces))
        environment = {
            **os.environ,
            "CUSTOM_TIKTOKEN_CACHE_DIR": folder,
            "TIKTOKEN_CACHE_DIR": folder,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }
        command = [str(python), "-c", LITELLM_SCRIPT, str(Path(folder) / "pieces.json")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"bench: litellm failed: {done.stderr[-400:]}", file=sys.stderr)
        return []
    measured = [r for r in speeds if r["family"] == "o200k_base" and r["peer"] == "tiktoken"]
    rows = []
    for (size, speed, share), ours in zip(
        json.loads(done.stdout.splitlines()[-1]), measured, strict=True
    ):
        assert size == ours["size"]
        rows.append(
            {
                **ours,
                "peer": "litellm",
                "peer_mb_per_s": speed,
                "ratio": round(share * ours["ratio"], 2),
            }
        )
    return rows


async def remembered(text: str) -> list[dict[str, Any]]:
    """Repeats and one-line edits, against a count of the whole by the same counter."""
    rows = []
    for family, model, theirs in (
        ("o200k_base", "gpt-5", peer(references.official("o200k_base"))),
        ("tekken", "devstral-small-2", peer(tekken_in_tiktoken())),
    ):
        chosen = await counter_for(model)
        whole = through(chosen.counter)
        known = through(Remembered(chosen.counter, cuts=chosen.cuts))
        for name, size, count in (("10 KB", 10_000, 60), ("1 MB", 1_000_000, 2)):
            fresh, tiktoken, same, equal = [], [], [], []
            for number in range(count):
                piece = text[number * size : (number + 1) * size]
                fresh.append(await _seconds(whole, piece))
                tiktoken.append(await _seconds(theirs, piece))
                await known(piece)
                same.append(await _seconds(known, piece))
                copy = (piece + "x")[:-1]  # as a file that was read again: equal, another object
                equal.append(await _seconds(known, copy))
            rows.append(_row(family, f"repeat of {name}", same, fresh, tiktoken))
            rows.append(_row(family, f"equal copy of {name}", equal, fresh, tiktoken))

        source = text[1_000_000:1_100_000]
        for what, file in (
            ("one-line edit of 100 KB", source.encode("ascii", "replace").decode()),
            ("one-line edit of wide letters", "→" + source),
        ):
            rng = random.Random(2)
            await known(file)
            full, tiktoken, edited = [], [], []
            for number in range(60):
                at = file.index("\n", rng.randrange(len(file) - 5_000))
                file = f"{file[:at]}\n    edited = {number}{file[at:]}"
                edited.append(await _seconds(known, file))
                full.append(await _seconds(whole, file))
                tiktoken.append(await _seconds(theirs, file))
                assert await known(file) == await whole(file)
            rows.append(_row(family, what, edited, full, tiktoken))
    return rows


async def _seconds(count: Count, text: str) -> float:
    return (await _timed(count, text))[1]


def _row(
    family: str, what: str, quick: list[float], full: list[float], tiktoken: list[float]
) -> dict[str, Any]:
    return {
        "family": family,
        "what": what,
        "ms": round(statistics.median(quick) * 1e3, 4),
        "full_ms": round(statistics.median(full) * 1e3, 3),
        "tiktoken_ms": round(statistics.median(tiktoken) * 1e3, 3),
        "x_full": round(statistics.median(a / b for a, b in zip(full, quick, strict=True)), 1),
        "x_tiktoken": round(
            statistics.median(a / b for a, b in zip(tiktoken, quick, strict=True)), 1
        ),
    }


async def adversarial() -> list[dict[str, Any]]:
    texts = {
        "one letter": "a" * 1_000_000,
        "spaces": " " * 1_000_000,
        "newlines": "\n" * 1_000_000,
        "emoji": "👍" * 250_000,
        "base64": base64.b64encode(random.Random(1).randbytes(750_000)).decode(),
    }
    rows = []
    for model in ("gpt-5", "gpt-4", "devstral-small-2", "llama-3.1-8b", "deepseek-chat", "unknown"):
        counter = (await counter_for(model)).counter
        for name, text in texts.items():
            started = time.perf_counter()
            counts = await counter.count([text])
            took = time.perf_counter() - started
            rows.append(
                {
                    "text": name,
                    "tokenizer": counter.tokenizer.id,
                    "tokens": counts.tokens[0],
                    "kind": counts.kind,
                    "s": round(took, 2),
                }
            )
    return rows


def start_up() -> dict[str, Any]:
    """What ``import sill`` costs and which tokenizers it loads."""
    check = (
        "import sys, time; s = time.perf_counter(); import sill; took = time.perf_counter() - s;"
        "names = ('splintr', 'tiktoken', 'tokenizers', 'mistral_common');"
        "import json; print(json.dumps([took * 1e3, [n for n in names if n in sys.modules]]))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    took, loaded = json.loads(done.stdout)
    return {"import_ms": round(took, 1), "tokenizers_loaded": loaded}


def _at_least(times: float, speeds: Sequence[dict[str, Any]], family: str, peer: str) -> bool:
    return all(
        row["ratio"] >= times
        for row in speeds
        if row["size"] == "10 KB" and row["family"].endswith(family) and row["peer"] == peer
    )


async def main() -> None:
    text = real_text()
    speeds = await throughput(text)
    if "--skip-litellm" not in sys.argv:
        speeds += litellm_throughput(text, speeds)
    again = await remembered(text[-3_000_000:])
    hard = await adversarial()
    begun = start_up()
    show(
        "New real text, MB/s",
        ["family", "size", "sill", "peer", "its", "sill is x"],
        [
            [r["family"], r["size"], r["sill_mb_per_s"], r["peer"], r["peer_mb_per_s"], r["ratio"]]
            for r in speeds
        ],
    )
    show(
        "Counted before",
        ["family", "what", "ms", "full ms", "tiktoken ms", "x full", "x tiktoken"],
        [
            [
                r[k]
                for k in ("family", "what", "ms", "full_ms", "tiktoken_ms", "x_full", "x_tiktoken")
            ]
            for r in again
        ],
    )
    show(
        "A megabyte without a cut",
        ["text", "tokenizer", "tokens", "kind", "s"],
        [[r["text"], r["tokenizer"], r["tokens"], r["kind"], r["s"]] for r in hard],
    )
    print(f"import sill: {begun['import_ms']} ms, tokenizers loaded: {begun['tokenizers_loaded']}")
    bounds = {
        "new 10 KB, OpenAI: 3x tiktoken": _at_least(3, speeds, "_base", "tiktoken"),
        "new 10 KB, Tekken: 3x tiktoken": _at_least(3, speeds, "tekken", "tiktoken"),
        "new 10 KB, Tekken: 3x mistral-common": _at_least(3, speeds, "tekken", "mistral-common"),
        "repeats: 100x tiktoken": all(
            r["x_tiktoken"] >= 100 for r in again if r["what"].startswith("repeat")
        ),
        "one-line edit of 100 KB: 1 ms and 10x a full count": all(
            r["ms"] <= 1 and r["x_full"] >= 10 for r in again if "edit" in r["what"]
        ),
        "a megabyte without a cut: 2 s": all(r["s"] <= 2 for r in hard),
        "no tokenizer at import": begun["tokenizers_loaded"] == [],
    }
    for name, holds in bounds.items():
        print(f"{'holds ' if holds else 'MISSED'}  {name}")
    finish(
        {
            "bench": "count",
            "throughput": speeds,
            "remembered": again,
            "adversarial": hard,
            "start_up": begun,
            "bounds": bounds,
        }
    )


if __name__ == "__main__":
    asyncio.run(main())
