"""How many small changes to the core would its tests notice? `make mutants` fails under 85 % of any group.

    python scripts/mutate.py [--show] [GROUP or MODULE ...]     groups: planner, ops, links, rest

mutmut makes the changes: every number, comparison, argument, string, branch and assignment of every function that no
decorator wraps. All of them are loaded at once, each behind its own name. One run of `tests/core` learns which tests
reach which function. Then this process forks for every change and runs just those tests, the quickest first, until one
fails; Hypothesis tries few examples, always the same ones. A change that makes tests run into their limit of time or
memory counts as noticed, one that no test reaches as missed. `--show` prints what was missed. Without a name the
groups that the limit holds for are scored: planner, ops and links.
"""

import argparse
import difflib
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, settings
from mutmut.configuration import config
from mutmut.mutation import trampoline
from mutmut.mutation.file_mutation import MutatedFile, mutate_file_contents

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "src" / "sill" / "core"
LEAST = 0.85
EXAMPLES = 30  # of Hypothesis, for each test
MEMORY = 4 * 1024**3  # bytes that one change may make the tests take

GROUPS: dict[str, tuple[str, ...]] = {
    "planner": (
        "plan", "eviction", "admission", "items", "ledger", "offers", "budget", "recall_room",
    ),
    "ops": ("ops", "edits"),
    "links": ("links", "resolve"),
}  # fmt: skip

# Changes that no test can notice, each as a module and the line it makes, and why.
EQUIVALENT = {
    ("plan", "left = (budget.high - ask.fixed) / 2"): "whole numbers up to a half",
    ("plan", "left = (budget.low - ask.fixed) / 4"): "whole numbers up to a quarter",
    (
        "eviction",
        "mark = min(budget.high, max(budget.low, (cost + budget.high) / 2))",
    ): "whole numbers up to a half",
    (
        "edits",
        "return find_snippet(text[start : start + 3 * len(snippet)], snippet)[0][1]",
    ): "the snippet begins where the text does",
    ("edits", "for number in range(len(lines)):"): "earlier lines end before the span begins",
    ("edits", "if lines.ends[number] >= span.end:"): "equal ones were taken a line before",
    (
        "edits",
        "return Rejected(tuple(sorted(problems, key=lambda problem: problem.op or 1)))",
    ): "a problem of the first op is found first",
    ("edits", 'content = content.removeprefix("\\uFEFF")'): "the same character",
}


@dataclass(frozen=True, slots=True)
class Mutant:
    module: str
    name: str
    diff: str

    @property
    def function(self) -> str:
        return f"sill.core.{self.module}.{self.name.partition('__mutmut_')[0]}"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Mutation score of sill.core.")
    parser.add_argument("names", nargs="*", help="groups or modules; by default every group")
    parser.add_argument("--show", action="store_true", help="print the changes that were missed")
    parser.add_argument("--tests", nargs="+", default=["tests/core"], help="run only these")
    chosen = parser.parse_args(arguments)
    groups = {name: modules_of(name) for name in chosen.names or GROUPS}
    modules = [module for group in groups.values() for module in group]

    os.chdir(ROOT)
    trampoline.get_mutant_under_test = lambda: ""
    config().do_not_mutate_patterns.append(r"assert_never\(|case never:")  # cannot be reached
    changed = {m: mutate_file_contents(m, (CORE / f"{m}.py").read_text()) for m in modules}
    sys.meta_path.insert(0, Finder({f"sill.core.{m}": file.code for m, file in changed.items()}))
    mutants = [
        mutant
        for module, file in changed.items()
        for mutant in read(module, file)
        if (module, mutant.diff.rpartition("\n+")[2]) not in EQUIVALENT
    ]
    trial = Trial(mutants)
    options = ["-p", "no:xdist", "-p", "no:cacheprovider", "--assert=plain", "--tb=no"]
    options += ["-m", "not slow and not long"]
    pytest.main(["-q", "--no-header", *options, *chosen.tests], plugins=[trial])
    if trial.failed:
        print("mutate: tests fail before anything is changed:", *trial.failed, sep="\n  ")
        return 2
    if chosen.show:
        for mutant in trial.missed:
            print(f"\n{mutant.module} {mutant.name}\n{mutant.diff}")
    for name, group in groups.items():
        report(name, group, trial)
    return 0 if all(score(group, trial) >= LEAST for group in groups.values()) else 1


def modules_of(name: str) -> tuple[str, ...]:
    if name == "rest":
        grouped = {module for group in GROUPS.values() for module in group}
        found = (path.stem for path in sorted(CORE.glob("*.py")))
        return tuple(module for module in found if module not in {*grouped, "__init__"})
    return GROUPS.get(name, (name,))


def score(group: Sequence[str], trial: "Trial") -> float:
    made = sum(mutant.module in group for mutant in trial.mutants)
    missed = sum(mutant.module in group for mutant in trial.missed)
    return 1 - missed / max(1, made)


def report(name: str, group: Sequence[str], trial: "Trial") -> None:
    for part, modules in [*((module, [module]) for module in group), (f"{name}, all", group)]:
        made = sum(mutant.module in modules for mutant in trial.mutants)
        missed = sum(mutant.module in modules for mutant in trial.missed)
        print(f"{part:<20}{made:>6} changes{made - missed:>6} noticed{score(modules, trial):>8.1%}")
    print()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Loads the changed modules in the place of those on disk."""

    def __init__(self, sources: dict[str, str]) -> None:
        self.sources = sources

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name in self.sources else None

    def get_source(self, name: str) -> str:
        return self.sources[name]


def read(module: str, file: MutatedFile) -> Iterator[Mutant]:
    """The changes of a file as differences of their functions."""
    lines = file.code.splitlines()

    def body(name: str) -> list[str]:
        span = file.line_span_by_function_name[name]
        return [line.replace(name, "f", 1) for line in lines[span.start - 1 : span.end]]

    for name in file.mutant_names:
        before = body(name.partition("__mutmut_")[0] + "__mutmut_orig")
        pairs = difflib.unified_diff(before, body(name), n=0, lineterm="")
        said = [line for line in pairs if not line.startswith(("---", "+++", "@@"))]
        yield Mutant(module, name, "\n".join(f"{line[0]}{line[1:].strip()}" for line in said))


class Trial:
    """A pytest plugin that learns which tests reach what, and then tries one change after the other."""

    def __init__(self, mutants: Sequence[Mutant]) -> None:
        self.mutants = mutants
        self.missed: list[Mutant] = []
        self.failed: list[str] = []
        self.reached: dict[str, list[tuple[float, int]]] = defaultdict(list)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            test = getattr(item, "obj", None)
            wanted = getattr(test, "_hypothesis_internal_use_settings", None)
            if wanted is not None:
                few = min(wanted.max_examples, EXAMPLES)
                test._hypothesis_internal_use_settings = settings(
                    wanted, max_examples=few, database=None, derandomize=True, deadline=None,
                    phases=(Phase.explicit, Phase.generate), suppress_health_check=list(HealthCheck),
                )  # fmt: skip

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        started = time.monotonic()
        if session.testsfailed:
            self.failed.append("some could not be collected")
        for at, item in enumerate(session.items):
            self._learn(at, item)
        tests = {test for found in self.reached.values() for test in found}
        items = [session.items[at] for _, at in tests]
        if not self.failed and noticed(None, items, sum(seconds for seconds, _ in tests)):
            self.failed.append("with nothing changed, in a child process and its limits")
        if self.failed:
            return True
        print(f"\n{len(session.items)} tests; {len(self.mutants)} changes", flush=True)
        gc.collect()
        gc.freeze()  # children share what is there already instead of copying it
        for at, mutant in enumerate(self.mutants):
            tests = [session.items[test] for _, test in sorted(self.reached[mutant.function])]
            usual = sum(seconds for seconds, _ in self.reached[mutant.function])
            if not noticed(mutant, tests, usual):
                self.missed.append(mutant)
            if at % 100 == 99:
                print(
                    f"{at + 1} tried, {len(self.missed)} missed, {time.monotonic() - started:.0f} s",
                    flush=True,
                )
        return True

    def _learn(self, at: int, item: pytest.Item) -> None:
        hit: set[str] = set()

        def look(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code.co_name.endswith("__mutmut_orig"):
                name = frame.f_code.co_name.removesuffix("__mutmut_orig")
                hit.add(f"{frame.f_globals['__name__']}.{name}")

        started = time.process_time()
        sys.setprofile(look)
        reports = runtestprotocol(item, log=False, nextitem=None)
        sys.setprofile(None)
        if any(report.failed for report in reports):
            self.failed.append(item.nodeid)
        spent = time.process_time() - started
        for function in hit:
            self.reached[function].append((spent, at))


def noticed(mutant: Mutant | None, tests: Sequence[pytest.Item], usual: float) -> bool:
    """Whether a test fails, or never ends, in a child process where the change is in force."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    limit = int(time.process_time() + 3 + 3 * usual)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if mutant is not None:
        name = f"sill.core.{mutant.module}.{mutant.name}"
        trampoline.get_mutant_under_test = lambda: name
    for test in tests:
        if any(report.failed for report in runtestprotocol(test, log=False, nextitem=None)):
            os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
