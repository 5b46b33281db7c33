"""Which figures of which benchmark stand in the table, and how two tables are compared.

A figure is *held* where it depends neither on the machine nor on how busy it is: counts, sizes, shares. A ratio of two
times of one run is held where both tables come from the same machine when it was quiet. Only what is held can fail a
run; times are shown for people.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

WORSE_BY = 0.10

Step = str | dict[str, Any]  # a key, or the row of a list that has these values
Held = Literal["always", "quiet", "never"]


@dataclass(frozen=True)
class Figure:
    bench: str
    name: str
    path: tuple[Step, ...]
    better: Literal["lower", "higher"]
    unit: str = ""
    held: Held = "always"
    against: str = ""  # who the figure is compared with in the same run
    theirs: tuple[Step, ...] = ()
    bound: float | None = None

    @property
    def key(self) -> str:
        other = f", against {self.against}" if self.against else ""
        return f"{self.bench}: {self.name}{other}"


def _count(family: str, size: str, peer: str) -> tuple[Step, ...]:
    return ("throughput", {"family": family, "size": size, "peer": peer}, "ratio")


def _chroma(what: str) -> tuple[Step, ...]:
    return ("results", {"notes": 10000}, "chromadb", what)


FIGURES: Sequence[Figure] = (
    *(
        Figure("exact", f"hard texts counted to the token, {name}", ("vocabularies", name, "equal"), "higher", "%",
               against=other, theirs=("vocabularies", name, key), bound=1)
        for name in ("o200k_base", "cl100k_base", "llama3", "tekken", "deepseek")
        for other, key in (("cl100k for every model", "cl100k"), ("characters / 4", "quarter"))
    ),
    *(
        Figure("exact", "farthest from a real server's bill", ("server", "drift"), "lower", "tokens", against=other,
               theirs=("server", key), bound=0)
        for other, key in (("cl100k for every model", "cl100k"), ("characters / 4", "quarter"))
    ),
    Figure("exact", "recorded bills counted too low", ("bills", "too_low"), "lower", "bills", against="characters / 4",
           theirs=("bills", "quarter_too_low"), bound=0),
    Figure("exact", "above recorded bills, on the average", ("bills", "mean_over"), "lower", "%", bound=0.03),
    *(
        Figure("count", f"new 10 KB in {family}", _count(family, "10 KB", peer), "higher", "times as fast",
               held="quiet", against=peer, bound=3)
        for family, peer in (
            ("o200k_base", "tiktoken"), ("cl100k_base", "tiktoken"), ("tekken", "tiktoken"),
            ("tekken", "mistral-common"), ("o200k_base", "litellm"),
        )
    ),
    Figure("count", "repeat of 10 KB", ("remembered", {"family": "o200k_base", "what": "repeat of 10 KB"},
           "x_tiktoken"), "higher", "times as fast", held="quiet", against="tiktoken", bound=100),
    Figure("count", "one-line edit of 100 KB", ("remembered", {"family": "o200k_base", "what":
           "one-line edit of 100 KB"}, "x_full"), "higher", "times as fast", held="quiet", against="a full count",
           bound=10),
    *(
        Figure("assembly", f"plan, {stored} messages", ("messages", stored, "plan_ms"), "lower", "ms", held="never",
               against="langchain-core", theirs=("messages", stored, "langchain_ms"),
               bound=1 if stored == "10000" else None)
        for stored in ("100", "1000", "10000", "100000")
    ),
    *(
        Figure("assembly", f"plan, {stored} messages", ("messages", stored, "plan_ms"), "lower", "ms", held="never",
               against=peer, theirs=("messages", stored, f"{peer}_ms"))
        for stored in ("100", "1000")
        for peer in ("litellm", "llama-index", "mojentic")
    ),
    Figure("assembly", "growth from 1,000 to 100,000 messages", ("growth_1000_to_100000",), "lower", "times",
           held="quiet", bound=2),
    Figure("prefix", "prompt tokens evaluated", ("sill", "evaluated"), "lower", "tokens", against="files re-sent",
           theirs=("resend", "evaluated"), bound=6600),
    Figure("prefix", "prompt tokens evaluated", ("sill", "evaluated"), "lower", "tokens",
           against="sliding window", theirs=("sliding", "evaluated")),
    Figure("prefix", "prefix reused", ("sill", "reuse"), "higher", "%", bound=0.95),
    *(
        Figure("session", name, ("sill", key), "lower", "tokens", against=f"{order}, re-sent",
               theirs=(order.replace(" ", "_"), key))
        for name, key in (("tokens that are new to the server", "new"), ("tokens at cache prices", "cost"),
                          ("tokens sent", "sent"))
        for order in ("files last", "files first")
    ),
    Figure("memory", "a chat of 200 messages", ("kb_per_chat",), "lower", "KB", held="never", against="langchain-core",
           theirs=("langchain_kb_per_chat",)),
    Figure("memory", "a chat of 4,000 messages", ("kb_of_long_chat",), "lower", "KB", held="never"),
    *(
        Figure("recall", f"evidence in a prompt of {budget:,} tokens", (str(budget), "evidence_recall"), "higher",
               "%", against=other, theirs=(str(budget), "baselines", other), bound=0.9)
        for budget in (2048, 4096, 8192)
        for other in ("last messages", "BM25", "BM25 with neighbours")
    ),
    Figure("recall", "planning a question in the longest chat", ("2048", "longest", "median_ms"), "lower", "ms",
           held="never", bound=30),
    Figure("prefix", "reused with recall, no eviction", ("recall", "reuse_without_eviction"), "higher", "%",
           bound=0.95),
    Figure("start", "first prompt", ("start", {"program": "sill, to the first prompt"}, "median_ms"), "lower", "ms",
           held="never", against="llm --help", theirs=("start", {"program": "llm --help"}, "median_ms"), bound=300),
    Figure("serve", "words lost of 50 answers at once", ("load", "lost"), "lower", "words", bound=0),
    Figure("serve", "added delay of a word, p95", ("load", "delay_ms", "p95"), "lower", "ms", held="never",
           against="no server between", theirs=("load", "without_server_ms", "p95"), bound=50),
    Figure("serve", "the server's work for a word", ("load", "cpu_per_word_us"), "lower", "µs", held="never"),
    Figure("serve", "memory of the server with 1,000 waiting readers", ("idle", "server_mb"), "lower", "MB", bound=150),
    Figure("page", "until it can be used", ("usable_ms", "median"), "lower", "ms", held="never", bound=1500),
    Figure("page", "a key in a note of 5,000 lines", ("key_ms", "median"), "lower", "ms", held="never", bound=16),
    Figure("page", "a new plan on the screen after it came", ("plan_shown_after_answer_ms", "median"), "lower", "ms",
           held="never", bound=50),
    *(
        Figure("retrieval", f"{what}, generated vault, by words", ("words", "vault", "text", what), "higher", "%")
        for what in ("one-hop recall@5", "one-hop at 4k", "two-hop at 4k")
    ),
    Figure("retrieval", "two-hop at 4k, by words and links", ("words", "vault", "text + links", "two-hop at 4k"),
           "higher", "%", against="words alone", theirs=("words", "vault", "text", "two-hop at 4k")),
    Figure("retrieval", "two-hop at 4k, by words, meaning and links", ("meaning", "vault", "hybrid", "two-hop at 4k"),
           "higher", "%", against="words and meaning", theirs=("meaning", "vault", "text + vectors", "two-hop at 4k")),
    # What the sets hold depends on which packages are installed.
    *(
        Figure("retrieval", "mean nDCG@10 of public sets, words and meaning", ("meaning", "sets", "mean", "hybrid"),
               "higher", held="never", against=other, theirs=("meaning", "sets", "mean", key))
        for other, key in (("words alone", "text"), ("meaning alone", "vectors"))
    ),
    Figure("store", "open and plan a chat of 100,000 messages", ("open", "open_and_plan_ms"), "lower", "ms",
           held="never", bound=20),
    Figure("store", "rows read for that", ("open", "rows_read"), "lower", "rows"),
    Figure("store", "append a turn", ("append", "ratio"), "lower", "times", held="never",
           against="one bare transaction", bound=2),
    Figure("store", "room for a chat with its recordings", ("room", "ratio"), "lower", "times",
           against="its distinct contents", bound=1.5),
    Figure("apply", "ten files as one transaction", ("ratio",), "lower", "times", held="never",
           against="ten bare write+fsync+rename", bound=5),
    Figure("stream", "added to the first token", ("rows", {"rate": 50}, "added_first_token_ms"), "lower", "ms",
           held="never", against="reading the socket", bound=5),
    Figure("stream", "throughput", ("rows", {"rate": 1000}, "throughput_ratio"), "higher", "times", held="quiet",
           against="reading the socket", bound=0.95),
    Figure("index", "full text of 10,000 notes ready", ("results", {"notes": 10000}, "full text s"), "lower", "s",
           held="never", bound=10),
    Figure("index", "a look without any change", ("results", {"notes": 10000}, "no-change ms"), "lower", "ms",
           held="never", bound=200),
    Figure("index", "notes cut, words and given vectors in", ("results", {"notes": 10000}, "with vectors s"), "lower",
           "s", held="never", against="chromadb, passages and vectors given", theirs=_chroma("ready s")),
    Figure("index", "one edit found", ("results", {"notes": 10000}, "edit seen ms"), "lower", "ms", held="never",
           against="chromadb, told which note", theirs=_chroma("edit seen ms"), bound=1000),
    Figure("index", "hybrid query, p95", ("results", {"notes": 10000}, "query p95 ms"), "lower", "ms", held="never",
           against="chromadb, by vector alone", theirs=_chroma("query p95 ms"), bound=50),
    Figure("index", "memory", ("results", {"notes": 10000}, "memory MB"), "lower", "MB", held="quiet",
           against="chromadb", theirs=_chroma("memory MB")),
    Figure("index", "room on the disk", ("results", {"notes": 10000}, "index MB"), "lower", "MB",
           against="chromadb", theirs=_chroma("index MB")),
)  # fmt: skip


def value(report: Any, path: Sequence[Step]) -> float | None:
    """The number at ``path``; None where the run has none."""
    found = _at(report, path)
    return float(found) if isinstance(found, int | float) else None


def reason(report: Any, path: Sequence[Step]) -> str | None:
    """Why there is no number at ``path``, where the benchmark says so in words on the way there."""
    for length in range(1, len(path) + 1):
        if isinstance(found := _at(report, path[:length]), str):
            return found
    return None


def _at(report: Any, path: Sequence[Step]) -> Any:
    for step in path:
        match step:
            case str():
                report = report.get(step) if isinstance(report, dict) else None
            case dict():
                rows = report if isinstance(report, list) else []
                report = next(
                    (r for r in rows if all(r.get(k) == v for k, v in step.items())), None
                )
    return report


@dataclass(frozen=True)
class Measured:
    figure: Figure
    ours: float
    theirs: float | str | None = None  # words say why there is no number

    @property
    def ratio(self) -> float | None:
        """How many times better than the other; above 1 is better."""
        if not isinstance(self.theirs, int | float) or not self.ours or not self.theirs:
            return None
        return self.theirs / self.ours if self.figure.better == "lower" else self.ours / self.theirs

    @property
    def misses(self) -> bool:
        bound = self.figure.bound
        if bound is None:
            return False
        return self.ours > bound if self.figure.better == "lower" else self.ours < bound


def measured(reports: Mapping[str, Any]) -> Iterator[Measured]:
    for figure in FIGURES:
        report = reports.get(figure.bench)
        ours = value(report, figure.path)
        if ours is not None:
            theirs = value(report, figure.theirs) if figure.theirs else None
            yield Measured(
                figure, ours, reason(report, figure.theirs) if theirs is None else theirs
            )


def _lost(one: Measured, was: float) -> float:
    """The share by which a figure got worse; where nothing was lost before, anything is all."""
    if not was:
        return 1.0 if one.figure.better == "lower" and one.ours > 0 else 0.0
    return one.ours / was - 1 if one.figure.better == "lower" else 1 - one.ours / was


def worse(
    now: Sequence[Measured], before: Mapping[str, float], quiet: Collection[str] = ()
) -> list[str]:
    """One line for each held figure that lost more than a tenth against the table before.

    ``quiet`` are the keys of those that were measured on this machine when it was quiet, both times.
    """
    lines = []
    for one in now:
        key, was = one.figure.key, before.get(one.figure.key)
        is_held = one.figure.held == "always" or (one.figure.held == "quiet" and key in quiet)
        if was is None or not is_held:
            continue
        lost = _lost(one, was)
        if round(lost, 9) > WORSE_BY:
            lines.append(f"{key}: {was:g} before, {one.ours:g} now ({lost:.0%} worse)")
    return lines
