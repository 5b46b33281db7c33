"""The page as it is built: small, current, without addresses of other machines."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT

pytestmark = pytest.mark.slow

UI = ROOT / "ui"
MOST_GZIP = 350_000  # bytes of the first view
LOCAL = re.compile(r'(?:src|href)="(/[^"]+)"')


@pytest.fixture(scope="module")
def node(built_page: Path) -> str:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from build_page import find_node, packages_are_current
    finally:
        sys.path.pop(0)
    found = find_node()
    if found is None or not packages_are_current():
        pytest.skip(
            "THE PAGE'S OWN TESTS DID NOT RUN: its packages are not installed; `make page` does it"
        )
    return str(found)


def run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=UI, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_view_is_small(built_page: Path):
    index = (built_page / "index.html").read_text()
    parts = [
        index.encode(),
        *((built_page / path.lstrip("/")).read_bytes() for path in LOCAL.findall(index)),
    ]

    assert len(parts) >= 3
    assert sum(len(gzip.compress(part, 6)) for part in parts) <= MOST_GZIP


def test_nothing_is_inline_and_nothing_comes_from_elsewhere(built_page: Path):
    index = (built_page / "index.html").read_text()

    assert re.findall(r"<script(?![^>]*\bsrc=)", index) == []
    assert re.findall(r"<style|style=|https?://", index) == []


def test_the_lock_names_versions_and_hashes_but_no_machine():
    packages = json.loads((UI / "package-lock.json").read_text())["packages"]

    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []


def test_types_are_those_of_the_server(node: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from write_page_types import TYPES, openapi, types_of

    assert TYPES.read_text() == types_of(openapi()), "run scripts/write_page_types.py"


def test_the_source_has_no_type_error(node: str):
    run(
        [
            node,
            "node_modules/svelte-check/bin/svelte-check",
            "--tsconfig",
            "./tsconfig.json",
            "--fail-on-warnings",
        ]
    )


def test_functions_of_the_page(node: str):
    run([node, "node_modules/vitest/vitest.mjs", "run"])
