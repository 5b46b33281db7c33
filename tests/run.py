"""Everything `make test` checks, in order, each step named and timed; stops at the first that fails."""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

STEPS = [
    ("lint", [BIN / "ruff", "check", "."]),
    ("format", [BIN / "ruff", "format", "--check", "--quiet", "."]),
    ("types", [BIN / "mypy"]),
    ("docs", [BIN / "mkdocs", "build", "--strict", "--quiet"]),
    ("tests", [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal"]),
]


def main(extra: list[str]) -> int:
    # A quiet server in tests: threads that wait by spinning starve everything else on two cores.
    # The theme's maker advertises in a warning; ours are errors.
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "NO_MKDOCS_2_WARNING": "1"}
    for name, command in STEPS:
        print(f"== {name}", flush=True)
        started = time.monotonic()
        arguments = [str(part) for part in command] + (extra if name == "tests" else [])
        code = subprocess.call(arguments, cwd=ROOT, env=environment)
        print(f"== {name}: {time.monotonic() - started:.0f} s", flush=True)
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
