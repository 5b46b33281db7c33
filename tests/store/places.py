"""The two databases as places where a store can be opened again and again."""

from collections.abc import Callable
from pathlib import Path

import pytest

BOTH = [
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.slow),
]


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new database: a path or a URL."""
    if request.param == "sqlite":
        return str(tmp_path / "sill.db")
    make: Callable[[], str] = request.getfixturevalue("new_postgres")
    return make()
