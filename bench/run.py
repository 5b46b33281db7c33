"""Every benchmark, one after the other, into one table; fails where a held figure got worse by a tenth.

    python bench/run.py [--only NAME ...] [--quick] [--recall FILE] [--docs FOLDER] [--bills FILE] [--keep | --accept]

Each runs in a process of its own. What it prints is shown as it comes; what it measured goes to docs/benchmarks.md and
docs/benchmarks.json unless --keep leaves them as they are, or something got worse; --accept writes that too, for a
loss that was meant, and still fails. Peers are installed by the benchmarks themselves, each in an
environment of its own in the cache directory; where one cannot be had, the table says so. --quick runs everything on
small amounts, for a first look: it takes some minutes, compares nothing and writes nothing. --recall names
conversations with marked evidence, --docs the sources of Python's documentation, --bills recorded bills of services;
without the first, recall is left out. A benchmark that takes longer than half an hour is ended and counts as failed.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from _figures import FIGURES, Measured, measured, worse

import sill
from sill.adapters.embed.fetch import is_ready
from sill.paths import cache_dir

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
TABLE = PAGE.with_suffix(".json")
MOST_SECONDS = 1_800
PACKAGES = ("splintr-rs", "tiktoken", "mistral-common", "tokenizers", "xllamacpp")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="small amounts; nothing is compared")
    parser.add_argument("--recall", type=Path, metavar="FILE")
    parser.add_argument("--docs", type=Path, metavar="FOLDER")
    parser.add_argument("--bills", type=Path, metavar="FILE")
    parser.add_argument("--keep", action="store_true", help="leave the table as it is")
    parser.add_argument("--accept", action="store_true", help="write what got worse, too")
    options = parser.parse_args()
    machine, began = here(), time.monotonic()
    reports, failed = run_all(chosen(options))
    print(f"bench: {(time.monotonic() - began) / 60:.0f} minutes in all", flush=True)
    for name in failed:
        print(f"bench: {name}: the benchmark failed", file=sys.stderr)
    if options.quick:
        return 1 if failed else 0
    now = list(measured(reports))
    before = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    lost = worse(now, before.get("figures", {}), quiet_both(machine, before))
    if not options.keep and (options.accept or not lost):
        write(now, before, machine)
    for line in [*lost, *missed(now)]:
        print(f"bench: {line}", file=sys.stderr)
    return 1 if lost or failed else 0


def run_all(commands: Sequence["Command"]) -> tuple[dict[str, Any], list[str]]:
    """What each reported, and the names of those that failed."""
    reports: dict[str, Any] = {}
    failed = []
    for number, command in enumerate(commands, 1):
        print(f"== {command} ({number} of {len(commands)})", flush=True)
        started = time.monotonic()
        report = run(command)
        if report is None:
            failed.append(str(command))
        else:
            whole = {command.part: report} if command.part else report
            reports[command.bench] = {**reports.get(command.bench, {}), **whole}
            for line in figures(command.bench, whole):
                print(f"   {line}", flush=True)
        print(f"== {command}: {time.monotonic() - started:.0f} s", flush=True)
    return reports, failed


def figures(bench: str, report: Any) -> Iterator[str]:
    """What goes into the table, a line each."""
    for one in measured({bench: report}):
        _, what, ours, against, theirs, ratio, bound, _ = row(one)
        other = f"; {against} {theirs}".rstrip() if against else ""
        times = f"; {ratio} times better" if ratio else ""
        yield f"{what}: {ours}{other}{times}{f'; meant {bound}' if bound else ''}"


def missed(now: Iterable[Measured]) -> Iterator[str]:
    """Bounds that were not held; they are told and fail nothing, because they depend on the machine."""
    for one in now:
        if one.misses:
            yield f"{one.figure.key}: {one.ours:g}, meant {one.figure.bound:g}"


@dataclass(frozen=True)
class Command:
    bench: str
    arguments: tuple[str, ...] = ()
    part: str = ""  # of the benchmark, where it is run several times

    def __str__(self) -> str:
        return f"{self.bench} {self.part}".strip()


# Each with what makes a quick run of it.
ALWAYS: Mapping[str, tuple[str, ...]] = {
    "exact": ("--texts", "200"),
    "count": ("--skip-litellm",),
    "assembly": ("--turns", "40", "--no-peers"),
    "session": ("--turns", "10"),
    "memory": ("--chats", "8", "--long", "600", "--no-peers"),
    "prefix": (),
    "store": ("--messages", "4000", "--turns", "150", "--appends", "40"),
    "apply": ("--rounds", "5"),
    "stream": ("--runs", "3", "--tokens", "60"),
    "index": ("--notes", "500", "--no-peers"),
    "start": (),
    "serve": ("--streams", "10", "--seconds", "3", "--idle", "100"),
    "page": ("--runs", "1"),
}
RECALL_BUDGETS = (2_048, 4_096, 8_192)


def chosen(options: argparse.Namespace) -> list[Command]:
    """What is run, in this order; what needs something that is not here is left out, and that is told."""
    bills = ("--bills", str(options.bills)) if options.bills else ()
    commands = [
        Command(name, (*(quick if options.quick else ()), *(bills if name == "exact" else ())))
        for name, quick in ALWAYS.items()
    ]
    if not any(map(shutil.which, BROWSERS)):
        _left_out("page", "there is no Chromium here")
        commands = [one for one in commands if one.bench != "page"]
    if options.recall:
        # Without an embedder: the same figures on every machine.
        given = ("--data", str(options.recall), "--out", os.devnull, "--embedder", "none")
        commands += [
            Command("recall", (*given, "--budget", str(budget)), str(budget))
            for budget in RECALL_BUDGETS[: 1 if options.quick else None]
        ]
    else:
        _left_out("recall", "--recall names no conversations")
    commands += retrieval(options)
    return [one for one in commands if not options.only or one.bench in options.only]


def retrieval(options: argparse.Namespace) -> Iterator[Command]:
    """By words, which is the same on every machine; and by meaning, where the embedder is at hand."""
    docs = ("--docs", str(options.docs)) if options.docs else ()
    small = ("--notes", "80", "--questions", "12") if options.quick else ()
    yield Command("retrieval", ("--embedder", "none", *docs, *small), "words")
    if options.quick:
        return
    if not is_ready():
        _left_out("retrieval by meaning", "`sill model pull --embedder` was not run")
        return
    kept = str(cache_dir() / "bench" / "retrieval")
    yield Command("retrieval", ("--embedder", "bundled", "--cache", kept, *docs), "meaning")


def _left_out(name: str, why: str) -> None:
    print(f"bench: *** {name} IS LEFT OUT: {why} ***", flush=True)


def run(given: Command) -> Any | None:
    """What the benchmark reports as its last JSON object; None if it failed. The rest is shown as it comes."""
    command = [sys.executable, str(HERE / f"{given.bench}.py"), *given.arguments, "--json"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    body: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        end = threading.Timer(MOST_SECONDS, process.kill)
        end.start()
        for line in process.stdout:
            if line.startswith("{") or body:
                body.append(line)
            else:
                print(line, end="", flush=True)
        end.cancel()
    if process.returncode != 0:
        print("".join(body), end="")
        print(f"bench: {given} ended with code {process.returncode}", file=sys.stderr)
        return None
    try:
        return json.loads("".join(body))
    except ValueError:
        print("".join(body))
        return None


# --- The table ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """Where and when a run began. It is quiet where nothing else wants the cores."""

    about: str
    load: float

    @property
    def is_quiet(self) -> bool:
        return self.load < (os.cpu_count() or 1) / 2


def here() -> Machine:
    about = f"{os.cpu_count()} cores, {_memory()} GB, {platform.machine()}"
    return Machine(f"{about}, Python {platform.python_version()}", os.getloadavg()[0])


def quiet_both(machine: Machine, before: Mapping[str, Any]) -> set[str]:
    """The figures that may be compared although they are ratios of times."""
    same = before.get("about", {}).get("machine") == machine.about
    return set(before.get("quiet", ())) if same and machine.is_quiet else set()


def write(now: Sequence[Measured], before: Mapping[str, Any], machine: Machine) -> None:
    """The page for people and the figures the next run is compared with; what was not run stays."""
    new = {one.figure.key for one in now}
    ours = {**before.get("figures", {}), **{one.figure.key: one.ours for one in now}}
    theirs = {**before.get("theirs", {}), **{one.figure.key: one.theirs for one in now}}
    listed = [
        Measured(figure, ours[figure.key], theirs.get(figure.key))
        for figure in FIGURES
        if figure.key in ours
    ]
    keys = {one.figure.key for one in listed}
    quiet = (set(before.get("quiet", ())) - new) | (new if machine.is_quiet else set())
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.about,
        "load": round(machine.load, 1),
        "versions": {"sill": sill.__version__, **{name: version(name) for name in PACKAGES}},
    }
    body = {
        "about": about,
        "figures": {key: value for key, value in ours.items() if key in keys},
        "theirs": {key: value for key, value in theirs.items() if key in keys},
        "quiet": sorted(quiet & keys),
    }
    TABLE.write_text(json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    PAGE.write_text(page(about, [row(one) for one in listed]))


def row(one: Measured) -> list[str]:
    figure = one.figure
    bound = "" if figure.bound is None else shown(figure.bound, figure.unit)
    held = {"always": "yes", "quiet": "when quiet", "never": ""}[figure.held]
    match one.theirs:
        case None:
            theirs = ""
        case str(words):
            theirs = words
        case number:
            theirs = shown(number, figure.unit)
    return [
        figure.bench,
        figure.name,
        shown(one.ours, figure.unit),
        figure.against,
        theirs,
        "" if one.ratio is None else f"{one.ratio:,.3g}",
        bound and f"{'≤' if figure.better == 'lower' else '≥'} {bound}",
        held,
    ]


def shown(value: float, unit: str) -> str:
    """A number as people read it; shares of one are per cent."""
    if unit == "%":
        return f"{100 * value:.1f} %"
    number = f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:,.3g}"
    return f"{number} {unit}".strip()


def page(about: Mapping[str, Any], rows: Sequence[Sequence[str]]) -> str:
    head = ["benchmark", "what", "Sill", "against", "theirs", "times better", "bound", "held"]
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    return f"""# Benchmarks

Written by `make bench` on {about["date"]}: {about["machine"]}, load {about["load"]:g} when it began; {versions}.

Each line is one run on one machine; the others did the same work in the same run, or what they can of it. *Times
better* is above 1 where Sill is better and below 1 where it is not. `make bench` fails where a *held* figure, which
depends neither on the machine nor on how busy it is, gets worse by more than a tenth; a ratio of times (*when quiet*)
only if both runs were on the same quiet machine. Other times differ from run to run, and those of a busy machine are
too long. What a benchmark does exactly stands at the head of its file in `bench/`.

{chr(10).join(lines)}

*session*: Sill sends more tokens than a layout that forgets most of the conversation, because it keeps all forty turns;
nearly all of them come from the server's cache. *recall*: how much of the marked evidence for a question is in the
prompt, when the conversation is many times longer than the prompt; searched by words alone. *index*: Chroma is given
passages and vectors, finds by vector, and neither ranks by words nor follows links.
"""


def _memory() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


if __name__ == "__main__":
    sys.exit(main())
