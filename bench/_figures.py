"""Which figures of which benchmark stand in the table, and how two tables are compared.

A figure is *held* where it does not depend on how busy the machine is: counts, sizes, shares, and ratios against
a peer or a bare baseline of the same run. Only held figures can fail a run; times are shown for people.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

WORSE_BY = 0.10

Step = str | dict[str, Any]  # a key, or the row of a list that has these values


@dataclass(frozen=True)
class Figure:
    bench: str
    name: str
    path: tuple[Step, ...]
    better: Literal["lower", "higher"]
    unit: str = ""
    held: bool = True
    against: str = ""  # who the figure is compared with in the same run
    theirs: tuple[Step, ...] = ()
    bound: float | None = None

    @property
    def key(self) -> str:
        other = f", against {self.against}" if self.against else ""
        return f"{self.bench}: {self.name}{other}"


def _count(family: str, size: str, peer: str) -> tuple[Step, ...]:
    return ("throughput", {"family": family, "size": size, "peer": peer}, "ratio")


FIGURES: Sequence[Figure] = (
    *(
        Figure("count", f"new 10 KB in {family}", _count(family, "10 KB", peer), "higher", "times as fast",
               against=peer, bound=3)
        for family, peer in (
            ("o200k_base", "tiktoken"), ("cl100k_base", "tiktoken"), ("tekken", "tiktoken"),
            ("tekken", "mistral-common"), ("o200k_base", "litellm"),
        )
    ),
    Figure("count", "repeat of 10 KB", ("remembered", {"family": "o200k_base", "what": "repeat of 10 KB"},
           "x_tiktoken"), "higher", "times as fast", against="tiktoken", bound=100),
    Figure("count", "one-line edit of 100 KB", ("remembered", {"family": "o200k_base", "what":
           "one-line edit of 100 KB"}, "x_full"), "higher", "times as fast", against="a full count", bound=10),
    *(
        Figure("assembly", f"plan, {stored} messages", ("messages", stored, "plan_ms"), "lower", "ms", held=False,
               against="langchain-core", theirs=("messages", stored, "langchain_ms"),
               bound=1 if stored == "10000" else None)
        for stored in ("100", "1000", "10000", "100000")
    ),
    *(
        Figure("assembly", f"plan, {stored} messages", ("messages", stored, "plan_ms"), "lower", "ms", held=False,
               against=peer, theirs=("messages", stored, f"{peer}_ms"))
        for stored in ("100", "1000")
        for peer in ("litellm", "llama-index", "mojentic")
    ),
    Figure("assembly", "growth from 1,000 to 100,000 messages", ("growth_1000_to_100000",), "lower", "times", bound=2),
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
    Figure("memory", "a chat of 200 messages", ("kb_per_chat",), "lower", "KB", held=False, against="langchain-core",
           theirs=("langchain_kb_per_chat",)),
    Figure("memory", "a chat of 4,000 messages", ("kb_of_long_chat",), "lower", "KB", held=False),
    *(
        Figure("recall", f"evidence in a prompt of {budget:,} tokens", (str(budget), "evidence_recall"), "higher",
               "%", against=other, theirs=(str(budget), "baselines", other))
        for budget in (2048, 4096, 8192)
        for other in ("last messages", "BM25", "BM25 with neighbours")
    ),
    Figure("prefix", "reused with recall, no eviction", ("recall", "reuse_without_eviction"), "higher", "%",
           bound=0.9),
    Figure("start", "first prompt", ("start", {"program": "sill, to the first prompt"}, "median_ms"), "lower", "ms",
           held=False, against="llm --help", theirs=("start", {"program": "llm --help"}, "median_ms"), bound=300),
    Figure("serve", "words lost of 50 answers at once", ("load", "lost"), "lower", "words", bound=0),
    Figure("serve", "added delay of a word, p95", ("load", "delay_ms", "p95"), "lower", "ms", held=False,
           against="no server between", theirs=("load", "without_server_ms", "p95")),
    Figure("serve", "memory of 1,000 waiting readers", ("idle", "readers_mb"), "lower", "MB", held=False),
    *(
        Figure("retrieval", f"{what}, generated vault, by words", ("vault", "text", what), "higher", "%")
        for what in ("one-hop recall@5", "one-hop at 4k", "two-hop at 4k")
    ),
    Figure("store", "open and plan a chat of 100,000 messages", ("open", "open_and_plan_ms"), "lower", "ms",
           held=False, bound=20),
    Figure("store", "rows read for that", ("open", "rows_read"), "lower", "rows"),
    Figure("store", "append a turn", ("append", "ratio"), "lower", "times", held=False,
           against="one bare transaction", bound=2),
    Figure("store", "room for a chat with its recordings", ("room", "ratio"), "lower", "times",
           against="its distinct contents", bound=1.5),
    Figure("apply", "ten files as one transaction", ("ratio",), "lower", "times", held=False,
           against="ten bare write+fsync+rename", bound=5),
    Figure("stream", "added to the first token", ("rows", {"rate": 50}, "added_first_token_ms"), "lower", "ms",
           held=False, against="reading the socket", bound=5),
    Figure("stream", "throughput", ("rows", {"rate": 1000}, "throughput_ratio"), "higher", "times",
           against="reading the socket", bound=0.95),
    Figure("index", "full text of 10,000 notes ready", ("results", {"notes": 10000}, "full text s"), "lower", "s",
           held=False, bound=10),
    Figure("index", "a look without any change", ("results", {"notes": 10000}, "no-change ms"), "lower", "ms",
           held=False, bound=200),
    Figure("index", "one edit found", ("results", {"notes": 10000}, "edit seen ms"), "lower", "ms", held=False,
           bound=1000),
    Figure("index", "hybrid query, p95", ("results", {"notes": 10000}, "query p95 ms"), "lower", "ms", held=False,
           bound=50),
    Figure("index", "memory", ("results", {"notes": 10000}, "memory MB"), "lower", "MB"),
)  # fmt: skip


def value(report: Any, path: Sequence[Step]) -> float | None:
    """The number at ``path``; None where the run has none."""
    for step in path:
        match step:
            case str():
                report = report.get(step) if isinstance(report, dict) else None
            case dict():
                rows = report if isinstance(report, list) else []
                report = next(
                    (r for r in rows if all(r.get(k) == v for k, v in step.items())), None
                )
    return float(report) if isinstance(report, int | float) else None


@dataclass(frozen=True)
class Measured:
    figure: Figure
    ours: float
    theirs: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times better than the other; above 1 is better."""
        if self.theirs is None or not self.ours or not self.theirs:
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
        ours = value(reports.get(figure.bench), figure.path)
        if ours is not None:
            yield Measured(figure, ours, value(reports[figure.bench], figure.theirs or ("-",)))


def worse(now: Sequence[Measured], before: Mapping[str, float]) -> list[str]:
    """One line for each held figure that lost more than a tenth against the table before."""
    lines = []
    for one in now:
        was = before.get(one.figure.key)
        if not was or not one.figure.held:
            continue
        lost = one.ours / was - 1 if one.figure.better == "lower" else 1 - one.ours / was
        if round(lost, 9) > WORSE_BY:
            lines.append(f"{one.figure.key}: {was:g} before, {one.ours:g} now ({lost:.0%} worse)")
    return lines
