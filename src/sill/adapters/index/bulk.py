"""Taking in a great many files at once.

Rows come in the order of the files, but secondary indexes and the merging of full-text segments want them
in another: kept up to date row by row they cost more with every file there is. Left until the end they
cost one sort. A mark in the database says that they are still missing, so a run that was killed is
finished by the next one.
"""

import sqlite3

from .schema import INDEXES, writing

_MARK = "bulk"
FEWEST = 1_000  # files from which on it pays
# Full-text segments stay as they are written, in larger pieces; merged once, when all is there.
_UNMERGED = {"automerge": 0, "crisismerge": 1_000, "hashsize": 16 << 20}
_USUAL = {"automerge": 4, "crisismerge": 16, "hashsize": 1 << 20}


def pays(changed: int, known: int) -> bool:
    return changed >= FEWEST and changed >= known


def is_unfinished(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT 1 FROM meta WHERE key = ?", (_MARK,)).fetchone()
    return row is not None


def begin(connection: sqlite3.Connection) -> None:
    with writing(connection):
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, '')", (_MARK,))
        for name in INDEXES:
            connection.execute(f"DROP INDEX IF EXISTS {name}")
        _set(connection, _UNMERGED)


def end(connection: sqlite3.Connection) -> None:
    """Nothing is missing any more."""
    with writing(connection):
        for name, columns in INDEXES.items():
            connection.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {columns}")
        _set(connection, _USUAL)
        connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        connection.execute("DELETE FROM meta WHERE key = ?", (_MARK,))


def _set(connection: sqlite3.Connection, values: dict[str, int]) -> None:
    for name, value in values.items():
        connection.execute("INSERT INTO words (words, rank) VALUES (?, ?)", (name, value))
