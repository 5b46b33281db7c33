"""Bringing an index up to what the folder holds now.

Files are taken in in batches, each one transaction: a process killed at any point leaves whole files
behind, and the next run goes on with the rest.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from ...core.resolve import key, name_key
from ..vault.scan import Entry, Scan, read_inside
from . import bulk
from .parse import Parsed, parse_file, passage_hash
from .schema import writing

Progress = Callable[[int, int], None]  # done, of how many

_BATCH_FILES = 1_000
_BATCH_BYTES = 4_000_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths that were taken in anew, and that are no more."""

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


def refresh(
    connection: sqlite3.Connection, root: Path, found: Scan, progress: Progress | None = None
) -> Changes:
    """Take in what is new or changed, forget what is gone."""
    known = {
        path: (size, mtime, inode)
        for path, size, mtime, inode in connection.execute(
            "SELECT path, size, mtime, inode FROM files"
        )
    }
    changed = [
        entry
        for entry in found.entries
        if known.get(entry.path) != (entry.size, entry.mtime, entry.inode)
    ]
    removed = known.keys() - {entry.path for entry in found.entries}
    forget(connection, sorted(removed))
    in_bulk = bulk.is_unfinished(connection) or bulk.pays(len(changed), len(known))
    if in_bulk:
        # Whatever is taken out needs the indexes that a great many new rows come in without.
        forget(connection, [entry.path for entry in changed if entry.path in known])
        bulk.begin(connection)
    _read_and_write(connection, root, changed, progress)
    if in_bulk:
        bulk.end(connection)
    return Changes(tuple(entry.path for entry in changed), tuple(sorted(removed)))


def _read_and_write(
    connection: sqlite3.Connection, root: Path, changed: Sequence[Entry], progress: Progress | None
) -> None:
    done = 0
    # SQLite works without the interpreter's lock: one batch is written while the next is read.
    with ThreadPoolExecutor(1) as writer:
        writing: Future[None] | None = None
        for batch in _batches(changed):
            parsed = [parse_file(entry, _data(root, entry)) for entry in batch]
            if writing is not None:
                writing.result()
            writing = writer.submit(take_in, connection, parsed)
            done += len(batch)
            if progress:
                progress(done, len(changed))
        if writing is not None:
            writing.result()


def take_in(connection: sqlite3.Connection, files: Sequence[Parsed]) -> None:
    """Replace what the index says about these files, in one transaction."""
    with writing(connection):
        _drop(connection, [parsed.entry.path for parsed in files])
        # Ids of passages are handed out once and never again: whoever holds one can tell that it is gone.
        (last,) = connection.execute(
            "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'passages'), 0))"
        ).fetchone()
        rows, links, aliases = [], [], []
        for parsed in files:
            file = _insert_file(connection, parsed)
            for passage in parsed.passages:
                headings = "\n".join(passage.headings)
                rows.append(
                    (file, *passage.lines, parsed.title, headings, _clean(passage.text),
                     passage_hash(headings, passage.text))
                )  # fmt: skip
            for link in parsed.links:
                links.append(
                    (file, link.line, name_key(link.target), link.target, "\n".join(link.headings),
                     link.block, link.display, link.embed, link.markdown)
                )  # fmt: skip
            aliases += [(key(alias), alias, file) for alias in parsed.aliases]
        connection.executemany(
            "INSERT INTO passages (file, first, last, title, headings, text, hash) VALUES (?,?,?,?,?,?,?)",
            rows,
        )
        connection.execute(
            "INSERT INTO words (rowid, title, headings, text)"
            " SELECT id, title, headings, text FROM passages WHERE id > ?",
            (last,),
        )
        connection.executemany("INSERT INTO links VALUES (?,?,?,?,?,?,?,?,?)", links)
        connection.executemany("INSERT INTO aliases VALUES (?,?,?)", aliases)


def forget(connection: sqlite3.Connection, paths: Sequence[str]) -> None:
    for batch in _taken(paths, _BATCH_FILES):
        with writing(connection):
            _drop(connection, batch)


def _insert_file(connection: sqlite3.Connection, parsed: Parsed) -> int:
    entry = parsed.entry
    cursor = connection.execute(
        "INSERT INTO files (path, kind, size, mtime, inode, fingerprint, summary, tags, problem)"
        " VALUES (?,?,?,?,?,?,?,?,?)",
        (entry.path, entry.kind, entry.size, entry.mtime, entry.inode, parsed.fingerprint,
         _clean(parsed.summary), " " + " ".join(parsed.tags) + " ", parsed.problem),
    )  # fmt: skip
    assert cursor.lastrowid is not None
    return cursor.lastrowid


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


def _data(root: Path, entry: Entry) -> bytes | None:
    return None if entry.kind == "attachment" else read_inside(root, entry.path)


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode(errors="replace").decode()


def _batches(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += 0 if entry.kind == "attachment" else entry.size
        if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _taken(items: Iterable[T], count: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while part := list(islice(iterator, count)):
        yield part
