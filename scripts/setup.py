"""Make the virtual environment, install exact versions, fetch the local model.

Runs on the machine's own Python with the standard library alone, so that a missing
prerequisite is named instead of ending in a traceback.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
EXTRAS = "local,hf,semantic,postgres,dev"


def main(venv: Path) -> int:
    started = time.monotonic()
    if sys.version_info < OLDEST:
        newer = newest_python()
        if newer is None:
            found = ".".join(map(str, sys.version_info[:3]))
            return complain(f"Python 3.11 or newer is needed, python3 here is {found}")
        return subprocess.call([newer, __file__, str(venv)])

    python = venv / "bin" / "python"
    if not works(python):
        step("making a virtual environment")
        shutil.rmtree(venv, ignore_errors=True)
        if subprocess.call([sys.executable, "-m", "venv", str(venv)]) != 0:
            return complain(
                "python3 -m venv failed; on Debian and Ubuntu: apt install python3-venv"
            )

    step("installing packages (some 300 MB the first time)")
    if not install(python):
        return complain("packages could not be installed; is a package index reachable?")

    step("fetching the local model (93 MB the first time)")
    if subprocess.call([str(venv / "bin" / "sill"), "model", "pull", "--for-tests"]) != 0:
        return complain("the local model could not be fetched; `make setup` tries again")

    step("fetching what finds by meaning (83 MB the first time)")
    if subprocess.call([str(venv / "bin" / "sill"), "model", "pull", "--embedder"]) != 0:
        step("going on without it; search and recall work by words")

    step("building the page")
    if subprocess.call([str(python), str(ROOT / "scripts" / "build_page.py")]) != 0:
        step("going on without the page; `make page` tries again")  # the terminal needs none

    step(f"ready after {time.monotonic() - started:.0f} s")
    return 0


def install(python: Path) -> bool:
    """Install with uv, which shows its progress and is ten times faster than pip."""
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    constraints = ROOT / "constraints.txt"
    if subprocess.call([*pip, "-c", str(constraints), "uv"]) != 0:
        return False
    wanted = f"{ROOT}[{EXTRAS}]"
    uv = [str(python), "-m", "uv", "pip", "install", "--python", str(python)]
    return subprocess.call([*uv, "-c", str(constraints), "-e", wanted]) == 0


def works(python: Path) -> bool:
    if not python.exists():
        return False
    test = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.call([str(python), "-c", test], stderr=subprocess.DEVNULL) == 0


def newest_python() -> str | None:
    names = (f"python3.{minor}" for minor in range(14, 10, -1))
    return next((path for name in names if (path := shutil.which(name))), None)


def step(text: str) -> None:
    print(f"setup: {text}", file=sys.stderr, flush=True)


def complain(text: str) -> int:
    print(f"setup: {text}", file=sys.stderr, flush=True)
    return 2


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
