"""PostgreSQL: a pool of connections, one transaction per call, the owner set in each of them."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ...errors import SettingsError, StoreError
from . import migrations
from .database import Row, Script

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

    Pool = AsyncConnectionPool[AsyncConnection[Row]]

T = TypeVar("T")

CONNECT_SECONDS = 10
POOL_SIZE = 8
TRIES = 5
# One transaction of a store takes milliseconds; what takes this long is stuck.
LIMITS = (
    "SET statement_timeout = '15s'",
    "SET lock_timeout = '10s'",
    "SET idle_in_transaction_session_timeout = '30s'",
)
MIGRATION_LOCK = 0x5111


@functools.lru_cache(maxsize=512)
def placed(sql: str) -> str:
    """With psycopg's places for values. The text is ours alone: values never stand in it."""
    return sql.replace("%", "%%").replace("?", "%s")


@dataclass(slots=True)
class PostgresTransaction:
    connection: "AsyncConnection[Row]"
    owner: str
    now: str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT"
    has_vectors: bool = False
    is_sqlite: bool = False

    async def rows(self, sql: str, *values: object) -> list[Row]:
        return await (await self.connection.execute(placed(sql), values)).fetchall()

    async def row(self, sql: str, *values: object) -> Row | None:
        return await (await self.connection.execute(placed(sql), values)).fetchone()

    async def run(self, sql: str, *values: object) -> int:
        return (await self.connection.execute(placed(sql), values)).rowcount

    async def insert(self, sql: str, *values: object) -> int | None:
        row = await self.row(sql + " RETURNING key", *values)
        return None if row is None else row[0]

    async def many(self, sql: str, rows: Iterable[Row]) -> None:
        async with self.connection.cursor() as cursor:
            await cursor.executemany(placed(sql), list(rows))


@dataclass(frozen=True, slots=True)
class PostgresDatabase:
    """Open with ``open_postgres``."""

    server: str  # host and database, without any password
    owner: str
    pool: "Pool"
    borrowed: bool = False
    has_vectors: bool = False  # pgvector is there
    loose: None = None

    async def read(self, script: Script[T]) -> T:
        return await self._transact(script, reads=True)

    async def write(
        self,
        script: Script[T],
        *,
        lasting: bool = True,
        short: bool = False,
        loosely: bool = False,
    ) -> T:
        """Every commit is lasting here."""
        return await self._transact(script, reads=False)

    def start(
        self,
        script: Script[T],
        *,
        lasting: bool = True,
        short: bool = False,
        loosely: bool = False,
    ) -> "asyncio.Future[T]":
        return asyncio.ensure_future(self.write(script, lasting=lasting))

    async def _transact(self, script: Script[T], *, reads: bool) -> T:
        from psycopg import errors

        # These are aborted for certain and come from two transactions meeting: the next try is alone.
        collisions = (
            errors.SerializationFailure,
            errors.DeadlockDetected,
            errors.ForeignKeyViolation,
        )
        for tries_left in reversed(range(TRIES)):
            try:
                async with speaking(self.server), self._transaction(reads) as transaction:
                    return await script(transaction)
            except StoreError as error:
                if not tries_left or not isinstance(error.__cause__, collisions):
                    raise
        raise AssertionError("the last try returns or raises")

    @contextlib.asynccontextmanager
    async def _transaction(self, reads: bool) -> AsyncIterator[PostgresTransaction]:
        from psycopg import IsolationLevel

        async with self.pool.connection() as connection:
            level = IsolationLevel.REPEATABLE_READ if reads else IsolationLevel.READ_COMMITTED
            await connection.set_isolation_level(level)
            await connection.set_read_only(reads)
            async with connection.transaction():
                await connection.execute(
                    "SELECT set_config('sill.owner', %s, true)", (self.owner,), prepare=True
                )
                yield PostgresTransaction(connection, self.owner, has_vectors=self.has_vectors)

    def as_owner(self, owner: str) -> "PostgresDatabase":
        return replace(self, owner=owner, borrowed=True)

    async def compact(self) -> None:
        """The server does that by itself."""

    async def close(self) -> None:
        if not self.borrowed:
            await self.pool.close()


async def open_postgres(url: str, owner: str) -> PostgresDatabase:
    """The database in its newest form."""
    try:
        from psycopg import AsyncConnection
        from psycopg.rows import tuple_row
        from psycopg_pool import AsyncConnectionPool
    except ImportError as error:
        raise SettingsError(
            "PostgreSQL needs a package that is not installed",
            hint="pip install 'sill[postgres]'",
        ) from error
    server = server_name(url)
    # A plain connection first: it says at once what is wrong, where a pool would wait and try.
    async with (
        speaking(server),
        await AsyncConnection.connect(
            url, autocommit=True, connect_timeout=CONNECT_SECONDS, row_factory=tuple_row
        ) as connection,
    ):
        await bring_up(connection)
        has_vectors = await _with_vectors(connection)
    pool: Pool = AsyncConnectionPool(
        url,
        min_size=1,
        max_size=POOL_SIZE,
        timeout=CONNECT_SECONDS,
        open=False,
        configure=_limit,
        check=AsyncConnectionPool.check_connection,
        kwargs={"autocommit": True, "connect_timeout": CONNECT_SECONDS, "row_factory": tuple_row},
    )
    await pool.open()
    return PostgresDatabase(server, owner, pool, has_vectors=has_vectors)


async def _limit(connection: "AsyncConnection[Any]") -> None:
    for limit in LIMITS:
        await connection.execute(limit)


async def bring_up(connection: "AsyncConnection[Row]") -> None:
    if not migrations.missing(await _version(connection)):
        return
    async with connection.transaction():
        # Whoever comes second waits here, and finds nothing left to do.
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        for number, step in migrations.missing(await _version(connection)):
            await connection.execute(migrations.APPLIED)
            for statement in step(False):
                await connection.execute(statement)
            await connection.execute(
                "INSERT INTO migrations (number, name) VALUES (%s, %s)", (number, step.__name__)
            )


async def _with_vectors(connection: "AsyncConnection[Row]") -> bool:
    """Whether vectors are kept as pgvector's; from the first opening after it was installed they are."""
    cursor = await connection.execute(
        "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector'), udt_name"
        " FROM information_schema.columns WHERE table_schema = current_schema()"
        " AND table_name = 'meanings' AND column_name = 'vector'"
    )
    row = await cursor.fetchone()
    if row is None or not row[0] or row[1] == "halfvec":
        return row is not None and bool(row[0])
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
        # What bytes say is said again by the embedder; nothing is lost but its time.
        await connection.execute("TRUNCATE meanings")
        await connection.execute("ALTER TABLE meanings DROP COLUMN vector")
        await connection.execute("ALTER TABLE meanings ADD COLUMN vector halfvec NOT NULL")
    return True


async def _version(connection: "AsyncConnection[Row]") -> int:
    row = await (await connection.execute("SELECT to_regclass('migrations')")).fetchone()
    if row is None or row[0] is None:
        return 0
    cursor = await connection.execute("SELECT COALESCE(MAX(number), 0) FROM migrations")
    version = await cursor.fetchone()
    return int(version[0]) if version else 0


def server_name(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname or 'local server'}{parts.path}"


@contextlib.asynccontextmanager
async def speaking(server: str) -> AsyncIterator[None]:
    """Database failures as ``StoreError``. Only their kind is told: a message could quote a value."""
    from psycopg import Error
    from psycopg_pool import PoolTimeout

    try:
        yield
    except (Error, PoolTimeout) as error:
        raise failure(server, error) from error


def failure(server: str, error: Exception) -> StoreError:
    """What is wrong with the database, for people."""
    from psycopg import OperationalError, errors
    from psycopg_pool import PoolTimeout

    match error:
        case errors.DiskFull():
            return _error(server, "the disk is full", "free some space there")
        case errors.ReadOnlySqlTransaction() | errors.InsufficientPrivilege():
            return _error(server, "the database may not be written", "check the role")
        case errors.QueryCanceled() | errors.LockNotAvailable():
            return _error(server, "the database did not answer in time", "try again")
        case errors.InvalidPassword() | errors.InvalidAuthorizationSpecification():
            return _error(server, "the database refused the login", "check user and password")
        case OperationalError() | PoolTimeout():
            return _error(server, "the database cannot be reached", "is it running?")
        case _:
            return _error(server, f"the database failed ({type(error).__name__})", "")


def _error(server: str, what: str, hint: str) -> StoreError:
    return StoreError(f"{server}: {what}; nothing was written", hint=hint)
