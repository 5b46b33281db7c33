"""Bringing an index up to what the folder holds now.

Files are taken in in batches, each one transaction: a process killed at any point leaves whole files
behind, and the next run goes on with the rest.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from ..vault.scan import Entry, Scan
from . import bulk
from .place import Changes, Progress, difference
from .readers import read_all
from .rows import FileRows
from .schema import writing

_BATCHES_AT_ONCE = 8  # of what is read, in one transaction
_FORGOTTEN_AT_ONCE = 1_000
T = TypeVar("T")


def refresh(
    connection: sqlite3.Connection, root: Path, found: Scan, progress: Progress | None = None
) -> Changes:
    """Take in what is new or changed, forget what is gone."""
    rows = connection.execute("SELECT path, kind, size, mtime, inode FROM files ORDER BY path")
    entries: list[tuple[str, str, int, int, int]] = rows.fetchall()
    in_bulk = bulk.is_unfinished(connection)
    if entries == list(found.entries) and not in_bulk:
        return Changes()
    apart = difference(entries, found)
    changed = tuple(entry.path for entry in apart.changed)
    forget(connection, apart.removed)
    in_bulk = in_bulk or bulk.pays(len(changed), apart.known)
    if in_bulk:
        # Whatever is taken out needs the indexes that a great many new rows come in without.
        forget(connection, changed)
        bulk.begin(connection)
    _read_and_write(connection, root, apart.changed, progress)
    if in_bulk:
        bulk.end(connection)
    return Changes(changed, apart.removed)


def _read_and_write(
    connection: sqlite3.Connection, root: Path, changed: Sequence[Entry], progress: Progress | None
) -> None:
    done = 0
    with closing(read_all(root, changed)) as batches:
        while first := next(batches, None):
            with writing(connection):
                for files in chain([first], islice(batches, _BATCHES_AT_ONCE - 1)):
                    take_in(connection, files)
                    done += len(files)
                    if progress:
                        progress(done, len(changed))


def take_in(connection: sqlite3.Connection, files: Sequence[FileRows]) -> None:
    """Replace what the index says about these files, in the transaction that is open."""
    _drop(connection, [one.path for one in files])
    # Ids of passages are handed out once and never again: whoever holds one can tell that it is gone.
    last_passage, last_file = connection.execute(
        "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'passages'), 0),"
        " coalesce((SELECT max(id) FROM files), 0)"
    ).fetchone()
    numbered = list(enumerate(files, start=last_file + 1))
    connection.executemany(
        "INSERT INTO files (id, path, kind, size, mtime, inode, fingerprint, summary, tags, problem)"
        " VALUES (?,?,?,?,?,?,?,?,?,?)",
        [(id, *one.file) for id, one in numbered],
    )
    connection.executemany(
        "INSERT INTO passages (file, first, last, title, headings, text, hash) VALUES (?,?,?,?,?,?,?)",
        [(id, *row) for id, one in numbered for row in one.passages],
    )
    connection.execute(
        "INSERT INTO words (rowid, title, headings, text)"
        " SELECT id, title, headings, text FROM passages WHERE id > ?",
        (last_passage,),
    )
    connection.executemany(
        "INSERT INTO links VALUES (?,?,?,?,?,?,?,?,?)",
        [(id, *row) for id, one in numbered for row in one.links],
    )
    connection.executemany(
        "INSERT INTO aliases (file, key, alias) VALUES (?,?,?)",
        [(id, *row) for id, one in numbered for row in one.aliases],
    )


def forget(connection: sqlite3.Connection, paths: Sequence[str]) -> None:
    for batch in _taken(paths, _FORGOTTEN_AT_ONCE):
        with writing(connection):
            _drop(connection, batch)


def _drop(connection: sqlite3.Connection, paths: Sequence[str]) -> None:
    for part in _taken(paths, 500):
        marks = ",".join("?" * len(part))
        ids = [
            id
            for (id,) in connection.execute(f"SELECT id FROM files WHERE path IN ({marks})", part)
        ]
        if not ids:
            continue
        files = ",".join(map(str, ids))
        # The full-text table holds no text of its own: it must be told the old text while it is there.
        connection.execute(
            "INSERT INTO words (words, rowid, title, headings, text)"
            f" SELECT 'delete', id, title, headings, text FROM passages WHERE file IN ({files})"
        )
        for table in ("passages", "links", "aliases"):
            connection.execute(f"DELETE FROM {table} WHERE file IN ({files})")
        connection.execute(f"DELETE FROM files WHERE id IN ({files})")


def _taken(items: Iterable[T], count: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while part := list(islice(iterator, count)):
        yield part
