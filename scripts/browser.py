"""Find a Chromium for the tests of the page, or install one; where neither can be, say how in one line.

Standard library alone. It is looked for under $CHROMIUM, by name in the PATH, and where Playwright keeps its own.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 600
HOW = (
    "no Chromium could be installed: tests of the page will be skipped; `apt install chromium`,"
    " `playwright install chromium`, or CHROMIUM=/path/to/it brings them back"
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What matters of the machine for getting a browser."""

    is_root: bool
    has_apt: bool
    is_debian: bool  # where the package is a browser; on Ubuntu it leads to a snap
    playwright: Sequence[str]  # the command, empty without it


def ways(machine: Machine) -> list[Sequence[str]]:
    """Commands that may install one, the surest first."""
    apt = ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]
    deps = ["--with-deps"] if machine.is_root and machine.has_apt else []
    found: list[Sequence[str]] = []
    if machine.is_root and machine.has_apt and machine.is_debian:
        found += [["apt-get", "update", "--quiet"], apt]
    if machine.playwright:
        found.append([*machine.playwright, "install", *deps, "--only-shell", "chromium"])
    return found


def find(environment: Mapping[str, str], playwright: Sequence[str]) -> str | None:
    """Where a browser is, or None."""
    given = environment.get("CHROMIUM")
    if given:
        return given if Path(given).exists() else None
    path = environment.get("PATH")
    named = next((place for name in NAMES if (place := shutil.which(name, path=path))), None)
    return named or _own(playwright)


def _own(playwright: Sequence[str]) -> str | None:
    """Playwright's own browser, if it was fetched: it says itself where it would be."""
    if not playwright:
        return None
    said = _run([*playwright, "install", "--dry-run", "--only-shell", "chromium"])
    places = [line.split(":", 1)[1].strip() for line in said.splitlines() if "location:" in line]
    shells = [Path(place) for place in places if "chromium" in place]
    return next(
        (str(place) for place in shells if (place / "INSTALLATION_COMPLETE").exists()), None
    )


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


def this_machine() -> Machine:
    release = Path("/etc/os-release")
    lines = release.read_text().splitlines() if release.exists() else []
    tool = Path(sys.executable).parent / "playwright"
    return Machine(
        is_root=hasattr(os, "geteuid") and os.geteuid() == 0,
        has_apt=shutil.which("apt-get") is not None,
        is_debian="ID=debian" in lines,
        playwright=(str(tool),) if tool.exists() else (),
    )


def main() -> int:
    """Tests can run without it: what is missing is told, and is no failure."""
    machine = this_machine()
    for command in () if find(os.environ, machine.playwright) else ways(machine):
        print(f"browser: none is here; {' '.join(command)}", file=sys.stderr, flush=True)
        try:
            subprocess.run(command, stdout=subprocess.DEVNULL, timeout=SECONDS, check=False)
        except (OSError, subprocess.SubprocessError):
            continue
        if find(os.environ, machine.playwright):
            return 0
    if not find(os.environ, machine.playwright):
        print(f"browser: {HOW}", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
