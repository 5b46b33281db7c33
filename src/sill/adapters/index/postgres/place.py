"""An index in a PostgreSQL database, shared by all who have the folder at the same path."""

import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from ....errors import StoreError
from ...vault.scan import Scan
from ..place import Changes, Progress, Vector
from . import tables, vectors
from .connect import Hand, is_damage
from .words import PostgresWords
from .write import ENTRIES, IN_BULK, Writer, storable


class PostgresPlace:
    is_read_while_written = True  # by connections of their own

    def __init__(self, url: str, root: Path) -> None:
        self._schema = tables.schema_name(root)
        self.connection = Hand(url, self._schema)
        self.words = PostgresWords(self.connection)
        self._looking = Hand(url, self._schema)
        self._refreshing = threading.Lock()
        self._own = 0  # transactions that are ours
        self._is_made = False

    @property
    def name(self) -> str:
        return f"PostgreSQL at {self.connection.server}, schema {self._schema}"

    def is_there(self) -> bool:
        """Whether anybody has made it; nothing is made by asking."""
        with self._looking.first_look() as connection:
            return tables.are_there(connection, self._schema)

    def using(self) -> AbstractContextManager[None]:
        self._make()
        return self.connection.using()

    def meanings(self, model: str) -> vectors.PostgresVectors:
        return vectors.PostgresVectors(model)

    def keep(self, model: str, rows: Iterable[tuple[int, Vector]]) -> None:
        with self.connection.writing() as pen, pen.transaction():
            vectors.keep(pen.connection, model, rows)

    def version(self) -> int:
        row = self.connection.execute("SELECT version FROM state").fetchone()
        return int(row[0]) - self._own

    def refresh(self, root: Path, found: Scan, progress: Progress | None) -> Changes:
        with self._refreshing:
            try:
                return self._refreshed(root, found, progress)
            except StoreError as error:
                if not is_damage(error):
                    raise
                self.rebuild()
                return self._refreshed(root, found, progress)

    def _refreshed(self, root: Path, found: Scan, progress: Progress | None) -> Changes:
        self._make()
        if self._is_current(found):
            return Changes()

        def wait() -> None:
            if progress:
                progress(0, len(found.entries))

        with self._looking.writing(wait) as pen:
            writer = Writer(pen)
            try:
                return writer.refresh(root, found, progress)
            finally:
                self._own += writer.written

    def _is_current(self, found: Scan) -> bool:
        with self._looking.using():
            if not tables.are_there(self._looking, self._schema):
                return False
            entries = self._looking.execute(ENTRIES).fetchall()
            (in_bulk,) = self._looking.execute(IN_BULK).fetchone()
            return not in_bulk and entries == storable(found)

    def rebuild(self) -> None:
        # In one transaction: nobody who reads meanwhile misses a table.
        with self._looking.writing() as pen, pen.transaction():
            tables.drop(pen.connection, self._schema)
            tables.make(pen.connection, self._schema)
            vectors.adapt(pen.connection)
        self.words = PostgresWords(self.connection)

    def size(self) -> int:
        row = self.connection.execute(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class"
            " WHERE relnamespace = to_regnamespace(current_schema()) AND relkind = 'r'"
        ).fetchone()
        return int(row[0])

    def close(self) -> None:
        self.connection.close()
        self._looking.close()

    def _make(self) -> None:
        """Once, and again when it turned out that something is missing."""
        if self._is_made:
            return
        with self._looking.first_look() as connection:
            is_whole = tables.are_there(connection, self._schema) and vectors.is_adapted(connection)
        if not is_whole:
            with self._looking.writing() as pen, pen.transaction():
                vectors.adapt(pen.connection)
        self._is_made = True
