"""The tables of an index, and opening them whatever a crash has left behind."""

import sqlite3
from pathlib import Path

VERSION = 1

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
CREATE INDEX passages_file ON passages (file);
CREATE INDEX passages_hash ON passages (hash);
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
CREATE INDEX links_file ON links (file);
CREATE INDEX links_name ON links (name);
CREATE TABLE aliases (key TEXT NOT NULL, alias TEXT NOT NULL, file INTEGER NOT NULL);
CREATE INDEX aliases_file ON aliases (file);
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
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
