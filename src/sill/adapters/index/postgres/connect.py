"""Connections of an index: few and shared for reading, one of its own for whoever writes."""

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ....errors import SettingsError, StoreError
from ...store.postgres import CONNECT_SECONDS, LIMITS, failure, server_name
from . import tables

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg_pool import ConnectionPool

    Pool = ConnectionPool[Connection[Any]]

POOL_SIZE = 4
_IDLE_SECONDS = 60.0
_FIRST_WAIT, _LONGEST_WAIT = 0.02, 0.5  # between two tries to be the one who writes
# A machine that is gone without a word gives its lock back after about a minute.
_ALIVE = (
    "SET tcp_keepalives_idle = 30",
    "SET tcp_keepalives_interval = 10",
    "SET tcp_keepalives_count = 3",
)
# Candidates that pgvector's index looks at; other databases do not mind.
_NEAR = "SET hnsw.ef_search = 200"


@contextlib.contextmanager
def speaking(server: str) -> Iterator[None]:
    """Database failures as ``StoreError``."""
    from psycopg import Error
    from psycopg_pool import PoolTimeout

    try:
        yield
    except (Error, PoolTimeout) as error:
        raise failure(server, error) from error


class Pools:
    """One pool for each address, for all folders that are open in this process."""

    def __init__(self) -> None:
        self._pools: dict[str, tuple[Pool, int]] = {}
        self._lock = threading.Lock()

    def take(self, url: str) -> "Pool":
        with self._lock:
            pool, users = self._pools.get(url) or (_pool(url), 0)
            self._pools[url] = (pool, users + 1)
            return pool

    def give_back(self, url: str) -> None:
        with self._lock:
            pool, users = self._pools.pop(url)
            if users > 1:
                self._pools[url] = (pool, users - 1)
                return
        pool.close()


POOLS = Pools()


def _pool(url: str) -> "Pool":
    from psycopg_pool import ConnectionPool

    return ConnectionPool(
        url,
        min_size=0,
        max_size=POOL_SIZE,
        max_idle=_IDLE_SECONDS,
        timeout=CONNECT_SECONDS,
        num_workers=1,
        open=True,
        configure=functools.partial(_configure, statements=(*LIMITS, *_ALIVE, _NEAR)),
        check=ConnectionPool.check_connection,
        kwargs=_KEYWORDS,
    )


# Both are for one transaction: behind a pooler the next one on the same connection is somebody else's. Nothing outside
# the schema is ever meant, for the store has tables of the same names.
_INSIDE = "SELECT set_config('search_path', quote_ident(%s), true)"
# An index can be made again: what the last moment before a power cut brought may be lost.
_UNHURRIED = (
    "SELECT set_config('synchronous_commit', 'off', true), set_config('statement_timeout', '0', true),"
    " set_config('lock_timeout', '0', true)"
)

# Plans are made for the words that are asked for, not once for all.
_KEYWORDS: dict[str, Any] = {
    "autocommit": True,
    "connect_timeout": CONNECT_SECONDS,
    "prepare_threshold": None,
}


def _configure(connection: "Connection[Any]", statements: tuple[str, ...]) -> None:
    for statement in statements:
        connection.execute(statement)


class Hand:
    """The connection that is used now: from the pool, and back into it when the use is over."""

    def __init__(self, url: str, schema: str) -> None:
        self.url = url
        self.server = server_name(url)
        self.schema = schema
        self._pool: Pool | None = None
        self._held: Connection[Any] | None = None

    @contextlib.contextmanager
    def using(self) -> Iterator[None]:
        """Not from two threads at once."""
        if self._held is not None:
            yield
            return
        if self._pool is None:
            _ready_to_connect()
            self._pool = POOLS.take(self.url)
        with (
            speaking(self.server),
            self._pool.connection() as connection,
            connection.transaction(),
        ):
            connection.execute(_INSIDE, (self.schema,))
            self._held = connection
            try:
                yield
            finally:
                self._held = None

    def execute(self, sql: str, values: Any = (), /) -> Any:
        """In PostgreSQL's words: case counts in its LIKE, and a list must not be empty."""
        own = sql.replace("%", "%%").replace("?", "%s")
        own = own.replace(" LIKE ", " ILIKE ").replace("IN ()", "IN (NULL)")
        with self.using():
            assert self._held is not None
            return self._held.execute(own, values)

    def close(self) -> None:
        if self._pool is not None:
            self._pool = None
            POOLS.give_back(self.url)

    @contextlib.contextmanager
    def first_look(self) -> Iterator["Connection[Any]"]:
        """A plain connection: it says at once what is wrong, where a pool would wait and try."""
        import psycopg

        _ready_to_connect()
        with (
            speaking(self.server),
            psycopg.connect(self.url, **_KEYWORDS) as connection,
            connection.transaction(),
        ):
            connection.execute(_INSIDE, (self.schema,))
            yield connection

    @contextlib.contextmanager
    def writing(self, waiting: Callable[[], None] = lambda: None) -> Iterator["Pen"]:
        """The tables, as the only one who writes to this index anywhere.

        ``waiting`` is called now and then until that is so, and may give up by raising.
        """
        import psycopg

        with (
            speaking(self.server),
            psycopg.connect(self.url, **_KEYWORDS) as lock,
            psycopg.connect(self.url, **_KEYWORDS) as connection,
        ):
            _configure(lock, _ALIVE)
            # A transaction that does nothing but hold the lock: a pooler between here and there gives it a
            # connection of its own until it ends, and whatever ends it lets the lock go.
            with lock.transaction():
                lock.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                self._wait_for_lock(lock, waiting)
                pen = Pen(connection, self.schema)
                with pen.transaction():
                    tables.make(connection, self.schema)
                yield pen

    def _wait_for_lock(self, connection: "Connection[Any]", waiting: Callable[[], None]) -> None:
        pause = _FIRST_WAIT
        key = tables.lock_key(self.schema)
        while True:
            row = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (key,)).fetchone()
            if row is not None and row[0]:
                return
            waiting()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_WAIT)


class Pen:
    """The connection of whoever writes."""

    def __init__(self, connection: "Connection[Any]", schema: str) -> None:
        self.connection = connection
        self._schema = schema

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        with self.connection.transaction():
            self.connection.execute(_INSIDE, (self._schema,))
            self.connection.execute(_UNHURRIED)
            yield


def is_damage(error: StoreError) -> bool:
    """Whether tables are missing or are not what they should be."""
    from psycopg import errors

    lost = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName)
    return isinstance(error.__cause__, (*lost, errors.DataCorrupted, errors.IndexCorrupted))


def _ready_to_connect() -> None:
    try:
        import psycopg  # noqa: F401
        import psycopg_pool  # noqa: F401
    except ImportError as error:
        raise SettingsError(
            "PostgreSQL needs a package that is not installed",
            hint="pip install 'sill[postgres]'",
        ) from error
