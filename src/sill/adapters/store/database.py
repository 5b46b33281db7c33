"""What the store's scripts need of a database: one transaction at a time, the same SQL on both.

A script is an ``async def`` over a ``Transaction``. PostgreSQL awaits it; SQLite runs it to its end in
a thread, because its transaction never has to wait for anything. So every query exists once.
"""

from asyncio import Future
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from .loose import Loose

T = TypeVar("T")
Row = tuple[Any, ...]


class Transaction(Protocol):
    """Places for values are written ``?``. All or nothing: an exception undoes everything."""

    @property
    def owner(self) -> str: ...

    @property
    def now(self) -> str:
        """SQL for the database's own clock, in milliseconds."""
        ...

    @property
    def is_sqlite(self) -> bool: ...

    @property
    def has_vectors(self) -> bool:
        """Whether the database knows vectors by itself."""
        ...

    async def rows(self, sql: str, *values: object) -> list[Row]: ...

    async def row(self, sql: str, *values: object) -> Row | None: ...

    async def run(self, sql: str, *values: object) -> int:
        """How many rows it touched."""
        ...

    async def insert(self, sql: str, *values: object) -> int | None:
        """The new row's ``key``; None where there was nothing to do."""
        ...

    async def many(self, sql: str, rows: Iterable[Row]) -> None: ...


Script = Callable[[Transaction], Awaitable[T]]


class Database(Protocol):
    @property
    def owner(self) -> str: ...

    @property
    def loose(self) -> "Loose | None":
        """Where what turns say may be laid down first; None where it is put in its place at once."""
        ...

    async def read(self, script: Script[T]) -> T:
        """The script's answer from one consistent state."""
        ...

    async def write(
        self,
        script: Script[T],
        *,
        lasting: bool = True,
        short: bool = False,
        loosely: bool = False,
    ) -> T:
        """The script's answer once its transaction is committed.

        ``lasting``: on the disk itself before this returns. Otherwise a crash of the process loses
        nothing, and a power cut at most what was written in the last moments. ``short``: it takes a fraction
        of a millisecond, and may be done where it is asked for. ``loosely``: it asks for nothing that turns say,
        which may lie loose meanwhile.
        """
        ...

    def start(
        self,
        script: Script[T],
        *,
        lasting: bool = True,
        short: bool = False,
        loosely: bool = False,
    ) -> "Future[T]":
        """The same, begun at once; it goes on when nobody waits for it any more."""
        ...

    def as_owner(self, owner: str) -> "Database":
        """The same database for somebody else."""
        ...

    async def compact(self) -> None:
        """Give room that is no longer used back to the disk, and with it the last traces of what was deleted."""
        ...

    async def close(self) -> None: ...
