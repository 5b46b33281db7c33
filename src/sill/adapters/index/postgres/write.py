"""Bringing an index in PostgreSQL up to what the folder holds now.

Files are taken in in batches, each one transaction, by whoever has the index's lock; others read on meanwhile.
A process killed at any point leaves whole files behind and its lock free.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ...vault.scan import Entry, Scan
from ..place import Changes, Progress, difference
from ..readers import read_all
from ..rows import FileRows
from .connect import Pen
from .tables import INDEXES
from .words import text_vector

_BATCHES_AT_ONCE = 8  # of what is read, in one transaction
_FORGOTTEN_AT_ONCE = 1_000
_FEWEST = 1_000  # files from which on it pays to make indexes at the end
_SIGNED = 2**63 - 1

ENTRIES = "SELECT path, kind, size, mtime, inode FROM files ORDER BY path"
IN_BULK = "SELECT in_bulk FROM state"


def storable(found: Scan) -> list[Entry]:
    """The entries as they come back from the database, whose numbers have a sign."""
    return [entry._replace(inode=entry.inode & _SIGNED) for entry in found.entries]


class Writer:
    """``written`` counts the transactions, so that somebody can tell his own from those of others."""

    def __init__(self, pen: Pen) -> None:
        self._pen = pen
        self._connection = pen.connection
        self.written = 0

    def refresh(self, root: Path, found: Scan, progress: Progress | None) -> Changes:
        """Take in what is new or changed, forget what is gone."""
        wanted = Scan(tuple(storable(found)), found.skipped)
        with self._pen.transaction():
            apart = difference(self._connection.execute(ENTRIES).fetchall(), wanted)
            row = self._connection.execute(IN_BULK).fetchone()
        changed = tuple(entry.path for entry in apart.changed)
        self._forget(apart.removed)
        in_bulk = row is not None and row[0]
        in_bulk = in_bulk or (len(changed) >= _FEWEST and len(changed) >= apart.known)
        if in_bulk:
            # Whatever is taken out needs the indexes that a great many new rows come in without.
            self._forget(changed)
            self._begin_bulk()
        self._read_and_write(root, apart.changed, progress)
        if in_bulk:
            self._end_bulk()
        return Changes(changed, apart.removed)

    def _read_and_write(
        self, root: Path, changed: Sequence[Entry], progress: Progress | None
    ) -> None:
        done = 0
        with closing(read_all(root, changed)) as batches:
            while first := next(batches, None):
                with self._transaction():
                    for files in chain([first], islice(batches, _BATCHES_AT_ONCE - 1)):
                        self._take_in(files)
                        done += len(files)
                        if progress:
                            progress(done, len(changed))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._pen.transaction():
            self._connection.execute("UPDATE state SET version = version + 1")
            yield
        self.written += 1

    def _take_in(self, files: Sequence[FileRows]) -> None:
        """Replace what the index says about these files, in the transaction that is open."""
        self._drop([one.path for one in files])
        vectors = [
            (row, *text_vector(*map(_storable, row[2:5]))) for one in files for row in one.passages
        ]
        # Ids are handed out once and never again: whoever holds one can tell that it is gone.
        last_file, last_passage = self._numbers_for(
            len(files), len(vectors), sum(size for _, _, size in vectors)
        )
        numbered = list(enumerate(files, start=last_file - len(files) + 1))
        passage_ids = range(last_passage - len(vectors) + 1, last_passage + 1)
        of_file = (id for id, one in numbered for _ in one.passages)
        self._copy("files", ((id, *one.file) for id, one in numbered))
        self._copy(
            "passages",
            (
                (id, file, *row)
                for id, file, (row, _, _) in zip(passage_ids, of_file, vectors, strict=True)
            ),
        )
        self._copy(
            "words",
            ((id, size, words) for id, (_, words, size) in zip(passage_ids, vectors, strict=True)),
        )
        self._copy(
            "links (file, line, name, target, headings, block, display, embed, markdown)",
            ((id, *row) for id, one in numbered for row in one.links),
        )
        self._copy("aliases", ((id, *row) for id, one in numbered for row in one.aliases))

    def _copy(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {table} FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row([_storable(v) if isinstance(v, str) else v for v in row])

    def _forget(self, paths: Sequence[str]) -> None:
        for start in range(0, len(paths), _FORGOTTEN_AT_ONCE):
            with self._transaction():
                self._drop(paths[start : start + _FORGOTTEN_AT_ONCE])

    def _drop(self, paths: Sequence[str]) -> None:
        files = self._deleted("files WHERE path = ANY(%s) RETURNING id", list(paths))
        if not files:
            return
        passages = self._deleted("passages WHERE file = ANY(%s) RETURNING id", files)
        sizes = self._deleted("words WHERE id = ANY(%s) RETURNING size", passages)
        for table in ("links", "aliases"):
            self._connection.execute(f"DELETE FROM {table} WHERE file = ANY(%s)", (files,))
        self._connection.execute(
            "UPDATE state SET passages = passages - %s, tokens = tokens - %s",
            (len(sizes), sum(sizes)),
        )

    def _deleted(self, what: str, values: Sequence[object]) -> list[int]:
        rows = self._connection.execute(f"DELETE FROM {what}", (values,))
        return [value for (value,) in rows]

    def _numbers_for(self, files: int, passages: int, tokens: int) -> tuple[int, int]:
        """The last ids of so many new rows."""
        row = self._connection.execute(
            "UPDATE state SET last_file = last_file + %s, last_passage = last_passage + %s,"
            " passages = passages + %s, tokens = tokens + %s"
            " RETURNING last_file, last_passage",
            (files, passages, passages, tokens),
        ).fetchone()
        assert row is not None
        return row[0], row[1]

    def _begin_bulk(self) -> None:
        """Rows come in the order of the files, and indexes want them in another: left until the end they cost a sort.

        A mark says that they are missing, so a run that was killed is finished by the next one.
        """
        with self._pen.transaction():
            self._connection.execute("UPDATE state SET in_bulk = true")
            for name in INDEXES:
                self._connection.execute(f"DROP INDEX IF EXISTS {name}")

    def _end_bulk(self) -> None:
        """Nothing is missing any more."""
        with self._pen.transaction():
            self._connection.execute("SET LOCAL maintenance_work_mem = '256MB'")
            for name, columns in INDEXES.items():
                self._connection.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {columns}")
            self._connection.execute("UPDATE state SET in_bulk = false")
            self._connection.execute("ANALYZE files, passages, words, links")


def _storable(text: Any) -> str:
    """PostgreSQL's texts hold every character but this one."""
    return str(text).replace("\0", "\ufffd")
