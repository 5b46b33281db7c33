"""The tables of an index, and opening them whatever a crash has left behind."""

import sqlite3
from pathlib import Path

VERSION = 1

# What each of them is on; the schema's other part, because a large vault is taken in without them.
INDEXES = {
    "passages_file": "passages (file)",
    "passages_hash": "passages (hash)",
    "links_file": "links (file)",
    "links_name": "links (name)",
    "aliases_file": "aliases (file)",
}

# What a model wrote about texts that say nothing about themselves, by the state of the text.
_SUMMARIES = """
CREATE TABLE IF NOT EXISTS summaries (
  fingerprint TEXT PRIMARY KEY, text TEXT NOT NULL, model TEXT NOT NULL
) WITHOUT ROWID
"""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  fingerprint TEXT NOT NULL DEFAULT '',
  summary TEXT NOT NULL DEFAULT '',
  tags TEXT NOT NULL DEFAULT '',
  problem TEXT NOT NULL DEFAULT ''
);
CREATE TABLE passages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  title TEXT NOT NULL,
  headings TEXT NOT NULL,
  text TEXT NOT NULL,
  hash INTEGER NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (
  title, headings, text, content='passages', content_rowid='id',
  tokenize='porter unicode61 remove_diacritics 2'
);
CREATE TABLE links (
  file INTEGER NOT NULL,
  line INTEGER NOT NULL,
  name TEXT NOT NULL,
  target TEXT NOT NULL,
  headings TEXT NOT NULL DEFAULT '',
  block TEXT,
  display TEXT,
  embed INTEGER NOT NULL,
  markdown INTEGER NOT NULL
);
CREATE TABLE aliases (key TEXT NOT NULL, alias TEXT NOT NULL, file INTEGER NOT NULL);
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  model TEXT NOT NULL,
  hash INTEGER NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (model, hash)
);
"""


def connect(database: Path) -> sqlite3.Connection:
    """The index, empty if there was none, if it is of another version, or if it cannot be read."""
    try:
        return _opened(database)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise
        # Nothing is lost with an index but the time to make it again.
        remove(database)
        return _opened(database)


class writing:
    """A write transaction; it waits for others rather than failing half-way."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._connection.execute("ROLLBACK" if kind else "COMMIT")


def remove(database: Path) -> None:
    for file in _files(database):
        file.unlink(missing_ok=True)


def size(database: Path) -> int:
    """Bytes on the disk, what is not yet merged into the main file included."""
    return sum(file.stat().st_size for file in _files(database) if file.exists())


def _files(database: Path) -> list[Path]:
    return [database.with_name(database.name + ending) for ending in ("", "-wal", "-shm")]


def _opened(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        database, timeout=30, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -32000")
        connection.execute("PRAGMA temp_store = MEMORY")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            _make(connection, version)
        connection.execute("SELECT count(*) FROM meta").fetchone()
        connection.execute(_SUMMARIES)
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: sqlite3.Connection, version: int) -> None:
    if version != 0:
        raise sqlite3.DatabaseError("an index of another version")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone() == (0,):
            for statement in _TABLES.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            for name, columns in INDEXES.items():
                connection.execute(f"CREATE INDEX {name} ON {columns}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
