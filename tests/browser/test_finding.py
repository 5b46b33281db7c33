"""Where the tests' browser comes from, and what is tried where there is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
try:
    from browser import HOW, Machine, find, ways
finally:
    sys.path.pop(0)

APT = [
    ["apt-get", "update", "--quiet"],
    ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"],
]
FETCH = ["playwright", "install", "--only-shell", "chromium"]
WITH_LIBRARIES = ["playwright", "install", "--with-deps", "--only-shell", "chromium"]


@pytest.mark.parametrize(
    "machine, expected",
    [
        pytest.param(Machine(True, True, True, ("playwright",)), [*APT, WITH_LIBRARIES], id="Debian as root"),
        pytest.param(Machine(True, True, False, ("playwright",)), [WITH_LIBRARIES], id="Ubuntu as root"),
        pytest.param(Machine(False, True, True, ("playwright",)), [FETCH], id="Debian as anybody"),
        pytest.param(Machine(False, False, False, ("playwright",)), [FETCH], id="elsewhere"),
        pytest.param(Machine(False, False, False, ()), [], id="nothing to do it with"),
    ],
)  # fmt: skip
def test_what_is_tried(machine: Machine, expected: list[list[str]]):
    assert ways(machine) == expected


def test_what_was_named_is_taken_and_what_is_in_the_path_is_found(tmp_path: Path):
    program = tmp_path / "chromium-browser"
    program.write_text("")
    program.chmod(0o755)
    named = {"CHROMIUM": str(program), "PATH": ""}

    assert find(named, ()) == str(program)
    assert find({"PATH": str(tmp_path)}, ()) == str(program)
    assert find({"CHROMIUM": str(tmp_path / "none"), "PATH": str(tmp_path)}, ()) is None
    assert find({"PATH": ""}, ()) is None


@pytest.mark.bare
def test_where_none_can_be_installed_one_line_says_how_and_nothing_fails(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", "import browser, sys; browser.ways = lambda _: []; sys.exit(browser.main())"],
        env={**os.environ, "CHROMIUM": str(tmp_path / "none"), "PYTHONPATH": str(ROOT / "scripts")},
        capture_output=True,
        text=True,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, f"browser: {HOW}\n")
