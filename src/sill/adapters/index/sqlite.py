"""An index in one SQLite file that can be thrown away and made again."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from ...core.query import Query, full_text_expression
from ..vault.scan import Scan
from . import schema, vectors, write
from .place import WEIGHTS, Changes, Progress, Vector

_WEIGHTS = ", ".join(map(str, WEIGHTS))


class SqlitePlace:
    is_read_while_written = False  # by the same connection

    def __init__(self, database: Path) -> None:
        self.database = database
        self.connection = schema.connect(database)

    @property
    def name(self) -> str:
        return str(self.database)

    @property
    def words(self) -> "SqliteWords":
        return SqliteWords(self.connection)

    @contextmanager
    def using(self) -> Iterator[None]:
        yield

    def meanings(self, model: str) -> vectors.Vectors:
        return vectors.Vectors(model)

    def keep(self, model: str, rows: Iterable[tuple[int, Vector]]) -> None:
        vectors.keep(self.connection, model, rows)

    def version(self) -> int:
        (version,) = self.connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    def refresh(self, root: Path, found: Scan, progress: Progress | None) -> Changes:
        try:
            return write.refresh(self.connection, root, found, progress)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            self.rebuild()
            return write.refresh(self.connection, root, found, progress)

    def rebuild(self) -> None:
        self.connection.close()
        schema.remove(self.database)
        self.connection = schema.connect(self.database)

    def size(self) -> int:
        return schema.size(self.database)

    def close(self) -> None:
        self.connection.close()


class SqliteWords:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(
        self, query: Query, one_of: Sequence[str], allowed: set[int] | None, limit: int
    ) -> tuple[int, ...]:
        expression = full_text_expression(query, one_of)
        if not expression:
            return ()
        select = f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, {_WEIGHTS})"
        if allowed is None:
            rows = self._connection.execute(select + " LIMIT ?", (expression, limit))
            return tuple(id for (id,) in rows)
        rows = self._connection.execute(select, (expression,))
        return tuple(islice((id for (id,) in rows if id in allowed), limit))

    def is_in_more_than(self, count: int, word: str) -> bool:
        row = self._connection.execute(
            "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1 OFFSET ?",
            (full_text_expression(Query(words=(word,))), count),
        ).fetchone()
        return row is not None
