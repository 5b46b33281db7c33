"""The homes of an index: a file, PostgreSQL as it comes, and PostgreSQL with pgvector."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.servers import new_postgres, server_url

__all__ = ["new_postgres"]

Databases = Callable[[str], Path | str]

HOMES = [
    pytest.param("file", id="sqlite"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.slow),
    pytest.param("pgvector", id="pgvector", marks=pytest.mark.slow),
]


def add_pgvector(url: str) -> None:
    """Into a schema that is on nobody's path, as some who host databases do."""
    import psycopg
    from psycopg import conninfo

    name = conninfo.conninfo_to_dict(url)["dbname"]
    administrator = conninfo.make_conninfo(server_url(), dbname=name)
    with psycopg.connect(administrator, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA extensions")
        connection.execute("GRANT USAGE ON SCHEMA extensions TO PUBLIC")
        connection.execute("CREATE EXTENSION vector SCHEMA extensions")


def home(request: pytest.FixtureRequest, tmp_path: Path) -> Databases:
    """Where an index of a name is kept; the same name is the same place."""
    if request.param == "file":
        return lambda name: tmp_path / f"{name}.sqlite"
    make: Callable[[], str] = request.getfixturevalue("new_postgres")
    made: dict[str, str] = {}

    def address(name: str) -> str:
        if name not in made:
            made[name] = make()
            if request.param == "pgvector":
                add_pgvector(made[name])
        return made[name]

    return address


@pytest.fixture(params=HOMES)
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Databases:
    return home(request, tmp_path)
