"""What the documentation calls public is what the package exports, and the other way round."""

import re
from pathlib import Path

import pytest

import sill
import sill.testing

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "library.md"


@pytest.mark.parametrize("module", [sill, sill.testing], ids=lambda m: m.__name__)
def test_public_names_are_what_is_documented(module):
    section = REFERENCE.read_text().split(f"## `{module.__name__}`\n", 1)[1].split("\n## ", 1)[0]
    documented = re.findall(r"^### `(\w+)", section, flags=re.MULTILINE)

    assert sorted(documented) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)
