"""Which part of src/sill the tests reach, branches included; fails under 90 %.

    python scripts/coverage.py [PYTEST ARGUMENT ...]

Programs that tests start are measured too, workers and servers included; those that a test kills outright are not. The
report names the files with the most that is not reached. With SILL_COVERAGE_DATA the measurements are kept in that
folder, and those of an earlier run there count as well.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEAST = 90

CONFIG = """\
[run]
branch = true
parallel = true
source = {source}
omit = */sample/*
data_file = {data}
patch = _exit, fork, subprocess
sigterm = true

[report]
fail_under = {least}
skip_covered = true
show_missing = false
sort = Miss
exclude_also =
    if TYPE_CHECKING:
    raise NotImplementedError
    assert_never
    ^\\s*\\.\\.\\.$
"""


def main(arguments: list[str]) -> int:
    kept = os.environ.get("SILL_COVERAGE_DATA")
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory() as name:
        Path(name).mkdir(parents=True, exist_ok=True)
        config = Path(name) / "coverage.ini"
        config.write_text(
            CONFIG.format(source=ROOT / "src" / "sill", data=Path(name) / "data", least=LEAST)
        )
        coverage = [str(Path(sysconfig.get_path("scripts")) / "coverage")]
        environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
        workers = ["-n", "2", "--dist", "worksteal"]
        pytest = ["-m", "pytest", "-p", "tests.measured", *workers, *arguments]
        code = subprocess.call(
            [*coverage, "run", f"--rcfile={config}", *pytest], cwd=ROOT, env=environment
        )
        subprocess.call([*coverage, "combine", "-q", "--append", f"--rcfile={config}"], cwd=ROOT)
        told = subprocess.call([*coverage, "report", f"--rcfile={config}"], cwd=ROOT)
    return code or told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
