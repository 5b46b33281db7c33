"""How many small changes to the core would the tests notice? `make mutants` fails under 85 %.

    python scripts/mutate.py [GROUP ...]        groups: planner, ops, links

The sources are copied to a temporary folder and changed there, one change at a time. A mutant that makes the tests run
into their time limit counts as noticed; one that no test reaches counts as missed. Takes a quarter of an hour a group
on two cores.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST = 0.85

# Files to change, and the tests that should notice.
GROUPS: dict[str, tuple[list[str], list[str]]] = {
    "planner": (
        ["plan", "eviction", "admission"],
        # Without the random chats of test_plan_properties: they take minutes for each change.
        ["test_plan", "test_plan_reasons", "test_masks", "test_usage", "test_ledger"],
    ),
    "ops": (["ops", "edits"], ["test_ops", "test_edits", "test_proposal"]),
    "links": (["links", "resolve"], ["test_links", "test_resolve", "test_references"]),
}

# The tool reads a name that newer versions of pytest have renamed.
PLUGIN = """\
import _pytest.nodes

if not hasattr(_pytest.nodes.Node, "_nodeid"):
    _pytest.nodes.Node._nodeid = property(lambda self: self.nodeid)
"""


def main(groups: list[str]) -> int:
    scores = {group: score(group) for group in groups or GROUPS}
    for group, (noticed, made) in scores.items():
        print(f"{group}: {noticed} of {made} changes noticed ({noticed / max(1, made):.1%})")
    noticed, made = (sum(column) for column in zip(*scores.values(), strict=True))
    print(f"together: {noticed / max(1, made):.1%}")
    return 0 if made and noticed / made >= LEAST else 1


def score(group: str) -> tuple[int, int]:
    """Changes that were noticed, and all of them."""
    files, tests = GROUPS[group]
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "conftest.py", copy)
        (copy / "renamed.py").write_text(PLUGIN)
        (copy / "pyproject.toml").write_text(settings(files, tests))
        command = [Path(sys.executable).parent / "mutmut", "run", "--max-children", "2"]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(copy), "HOME": str(copy)}
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
        counts = re.findall(r"🎉 (\d+).*?🫥 (\d+).*?⏰ (\d+).*?🤔 (\d+).*?🙁 (\d+)", done.stdout)
        if not counts:
            raise SystemExit(
                f"mutate: {group}: no result\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        killed, untested, slow, odd, survived = map(int, counts[-1])
        return killed + slow, killed + untested + slow + odd + survived


def settings(files: list[str], tests: list[str]) -> str:
    project = (ROOT / "pyproject.toml").read_text()
    changed = [f"src/sill/core/{name}.py" for name in files]
    chosen = [f"tests/core/{name}.py" for name in tests]
    return f"""{project}
[tool.mutmut]
source_paths = ["src"]
only_mutate = {changed}
also_copy = ["conftest.py", "tests", "renamed.py"]
pytest_add_cli_args_test_selection = {chosen}
pytest_add_cli_args = ["-p", "renamed", "-p", "no:xdist", "-p", "no:cacheprovider"]
"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
