"""The tables of one folder's index, in a schema of their own.

A schema for each folder, and not a column that names it: under row-level security PostgreSQL uses an index on words or
vectors only for what it may show anyway, so every search would read all rows of everybody.
"""

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

VERSION = 1

# What each of them is on; the schema's other part, because a large vault is taken in without them.
INDEXES = {
    "words_words": "words USING gin (words) WITH (fastupdate = off)",
    "passages_file": "passages (file)",
    "passages_hash": "passages (hash)",
    "links_file": "links (file)",
    "links_name": "links (name)",
    "aliases_file": "aliases (file)",
}

# Paths and names are compared as the bytes they are, whatever the database's language is. ``state`` has one row;
# its version goes on from the clock, so that an index that was made anew has none that the old one had.
# Rows of ``words`` stay whole and unpacked on their page, because a search looks at very many of them.
_TABLES = """
CREATE TABLE state (
  single BOOLEAN PRIMARY KEY DEFAULT true CHECK (single),
  version BIGINT NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000000,
  last_file BIGINT NOT NULL DEFAULT 0, last_passage BIGINT NOT NULL DEFAULT 0,
  passages BIGINT NOT NULL DEFAULT 0, tokens BIGINT NOT NULL DEFAULT 0, in_bulk BOOLEAN NOT NULL DEFAULT false
);
INSERT INTO state DEFAULT VALUES;
CREATE TABLE files (
  id BIGINT PRIMARY KEY, path TEXT COLLATE "C" NOT NULL UNIQUE, kind TEXT NOT NULL, size BIGINT NOT NULL,
  mtime BIGINT NOT NULL, inode BIGINT NOT NULL, fingerprint TEXT NOT NULL, summary TEXT NOT NULL,
  tags TEXT NOT NULL, problem TEXT NOT NULL
);
CREATE TABLE passages (
  id BIGINT PRIMARY KEY, file BIGINT NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL, title TEXT NOT NULL,
  headings TEXT NOT NULL, text TEXT NOT NULL, hash BIGINT NOT NULL
);
CREATE TABLE words (
  id BIGINT PRIMARY KEY, size INTEGER NOT NULL, words TSVECTOR NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE words ALTER words SET STORAGE EXTERNAL;
CREATE TABLE links (
  rowid BIGINT GENERATED ALWAYS AS IDENTITY, file BIGINT NOT NULL, line BIGINT NOT NULL, name TEXT COLLATE "C" NOT NULL,
  target TEXT NOT NULL, headings TEXT NOT NULL, block TEXT, display TEXT, embed BOOLEAN NOT NULL,
  markdown BOOLEAN NOT NULL
);
CREATE TABLE aliases (file BIGINT NOT NULL, key TEXT NOT NULL, alias TEXT NOT NULL);
CREATE TABLE summaries (fingerprint TEXT PRIMARY KEY, text TEXT NOT NULL, model TEXT NOT NULL);
CREATE TABLE vectors (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, model TEXT COLLATE "C" NOT NULL, hash BIGINT NOT NULL,
  vector BYTEA NOT NULL, UNIQUE (model, hash)
);
"""

NAMES = frozenset(re.findall(r"CREATE TABLE (\w+)", _TABLES))


def schema_name(root: Path) -> str:
    """The same for the same path, on every machine. Another version has a schema of its own beside it."""
    path = str(root.resolve()).encode(errors="surrogateescape")
    return f"sill_vault_{hashlib.sha256(path).hexdigest()[:16]}_{VERSION}"


def lock_key(schema: str) -> int:
    """Names the lock of whoever writes; chosen so that no other lock of the database has it."""
    digest = hashlib.blake2b(schema.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def make(connection: "Connection[Any]", schema: str) -> None:
    """All tables, if they are not there; in a transaction of whoever has the lock."""
    from psycopg import sql

    if are_there(connection, schema):
        return
    # What is left of one that was damaged says nothing worth keeping.
    drop(connection, schema)
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    for statement in _TABLES.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    for name, columns in INDEXES.items():
        connection.execute(f"CREATE INDEX {name} ON {columns}")


def are_there(connection: Any, schema: str) -> bool:
    """``connection`` is an index's or one of psycopg's own."""
    rows = connection.execute(f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'")
    return {name for (name,) in rows} >= NAMES


def drop(connection: "Connection[Any]", schema: str) -> None:
    from psycopg import sql

    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))
