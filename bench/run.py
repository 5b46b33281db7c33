"""Every benchmark, one after the other, into one table; fails where a held figure got worse by a tenth.

    python bench/run.py [--only NAME ...] [--recall FILE] [--docs FOLDER] [--keep]

Each runs in a process of its own. What it prints is shown; what it measured goes to docs/benchmarks.md and
docs/benchmarks.json unless --keep leaves them as they are. Peers are installed by the benchmarks themselves,
each in an environment of its own in the cache directory. --recall names conversations with marked evidence, --docs the
sources of Python's documentation; without the first, recall is left out. A benchmark that takes longer than half an
hour is ended and counts as failed.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from _figures import FIGURES, Measured, measured, worse

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
TABLE = PAGE.with_suffix(".json")
MOST_SECONDS = 1_800
PACKAGES = ("sill", "splintr-rs", "tiktoken", "mistral-common", "tokenizers", "xllamacpp")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--recall", type=Path, metavar="FILE")
    parser.add_argument("--docs", type=Path, metavar="FOLDER")
    parser.add_argument("--keep", action="store_true", help="leave the table as it is")
    options = parser.parse_args()
    commands = chosen(options)
    reports: dict[str, Any] = {}
    failed = []
    for number, command in enumerate(commands, 1):
        print(f"== {command} ({number} of {len(commands)})", flush=True)
        started = time.monotonic()
        report = run(command)
        if report is None:
            failed.append(str(command))
        elif command.part:
            reports.setdefault(command.bench, {})[command.part] = report
        else:
            reports[command.bench] = report
        print(f"== {command}: {time.monotonic() - started:.0f} s", flush=True)
    now = list(measured(reports))
    before = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    lost = worse(now, before.get("figures", {}))
    if not options.keep and not lost:
        write(now, before)
    for line in [*lost, *(f"{name}: the benchmark failed" for name in failed)]:
        print(f"bench: {line}", file=sys.stderr)
    for one in now:
        if one.misses:
            print(
                f"bench: {one.figure.key}: {one.ours:g}, meant {one.figure.bound:g}",
                file=sys.stderr,
            )
    return 1 if lost or failed else 0


@dataclass(frozen=True)
class Command:
    bench: str
    arguments: tuple[str, ...] = ()
    part: str = ""  # of the benchmark, where it is run several times

    def __str__(self) -> str:
        return f"{self.bench} {self.part}".strip()


ALWAYS = (
    "count", "assembly", "session", "memory", "prefix", "store", "apply", "stream", "index", "start", "serve",
)  # fmt: skip
RECALL_BUDGETS = (2_048, 4_096, 8_192)


def chosen(options: argparse.Namespace) -> list[Command]:
    """What is run, in this order; what needs data that was not given is left out."""
    commands = [Command(name) for name in ALWAYS]
    if options.recall:
        # Without an embedder: the same figures on every machine.
        given = ("--data", str(options.recall), "--out", os.devnull, "--embedder", "none")
        commands += [
            Command("recall", (*given, "--budget", str(budget)), str(budget))
            for budget in RECALL_BUDGETS
        ]
    else:
        print("bench: recall is left out: --recall names no conversations", flush=True)
    docs = ("--docs", str(options.docs)) if options.docs else ()
    commands.append(Command("retrieval", ("--embedder", "none", *docs)))
    return [one for one in commands if not options.only or one.bench in options.only]


def run(given: Command) -> Any | None:
    """What the benchmark reports as its last JSON object; None if it failed."""
    name = str(given)
    command = [sys.executable, str(HERE / f"{given.bench}.py"), *given.arguments, "--json"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"bench: {name} took longer than {MOST_SECONDS} s", file=sys.stderr)
        return None
    start = done.stdout.rfind("\n{")
    shown, body = (
        (done.stdout[:start], done.stdout[start + 1 :]) if start >= 0 else ("", done.stdout)
    )
    print(shown)
    try:
        return json.loads(body)
    except ValueError:
        print(body)
        return None


# --- The table ------------------------------------------------------------------------------------


def write(now: Sequence[Measured], before: Mapping[str, Any]) -> None:
    """The page for people and the figures the next run is compared with; what was not run stays."""
    ours = {**before.get("figures", {}), **{one.figure.key: one.ours for one in now}}
    theirs = {**before.get("theirs", {}), **{one.figure.key: one.theirs for one in now}}
    shown = [
        Measured(figure, ours[figure.key], theirs.get(figure.key))
        for figure in FIGURES
        if figure.key in ours
    ]
    keys = {one.figure.key for one in shown}
    about = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {_memory()} GB, {platform.machine()}, "
        f"load {os.getloadavg()[2]:.0f}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
    }
    body = {
        "about": about,
        "figures": {key: value for key, value in ours.items() if key in keys},
        "theirs": {key: value for key, value in theirs.items() if key in keys},
    }
    TABLE.write_text(json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    PAGE.write_text(page(about, [row(one) for one in shown]))


def row(one: Measured) -> list[str]:
    figure = one.figure
    bound = "" if figure.bound is None else shown(figure.bound, figure.unit)
    return [
        figure.bench,
        figure.name,
        shown(one.ours, figure.unit),
        figure.against,
        "" if one.theirs is None else shown(one.theirs, figure.unit),
        "" if one.ratio is None else f"{one.ratio:,.3g}",
        bound and f"{'≤' if figure.better == 'lower' else '≥'} {bound}",
        "yes" if figure.held else "",
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

Written by `make bench` on {about["date"]}: {about["machine"]}, Python {about["python"]}; {versions}.

Each line is one run on one machine; the others did the same work in the same run. *Times better* is above 1 where Sill
is better and below 1 where it is not. *Held* figures do not depend on how busy the machine is, or are ratios within one
run: `make bench` fails where one of them gets worse by more than a tenth. Times of the other lines differ from run to
run, and those of a busy machine are too long. What a benchmark does exactly stands at the head of its file in `bench/`.

{chr(10).join(lines)}

*session*: Sill sends more tokens than a layout that forgets most of the conversation, because it keeps all forty turns;
nearly all of them come from the server's cache. *recall*: how much of the marked evidence for a question is in the
prompt, when the conversation is many times longer than the prompt; searched by words alone.
"""


def _memory() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


if __name__ == "__main__":
    sys.exit(main())
