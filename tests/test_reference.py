"""Generated pages say what the code does now."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "write_reference.py"
WRITER = runpy.run_path(str(SCRIPT))


@pytest.mark.parametrize("name", sorted(WRITER["PAGES"]))
def test_the_page_is_up_to_date(name):
    assert (WRITER["REFERENCE"] / name).read_text() == WRITER["PAGES"][name](), f"run {SCRIPT.name}"
