"""The steps that bring a database to its newest form, in order, each by name.

A step that has been released is never changed; a new one is added below it.
"""

import sqlite3
from collections.abc import Callable

from ...errors import StoreError
from . import schema

Statements = list[str]


def first_tables(is_sqlite: bool) -> Statements:
    if is_sqlite:
        return schema.statements(schema.TABLES.format(**schema.SQLITE)) + schema.statements(
            schema.SQLITE_WORDS
        )
    return (
        schema.statements(schema.TABLES.format(**schema.POSTGRES))
        + schema.statements(schema.POSTGRES_WORDS)
        + schema.statements(schema.POSTGRES_GUARD)
    )


def accounts(is_sqlite: bool) -> Statements:
    dialect = schema.SQLITE if is_sqlite else schema.POSTGRES
    return schema.statements(schema.ACCOUNTS.format(**dialect))


def pins(is_sqlite: bool) -> Statements:
    if is_sqlite:
        return schema.statements(schema.PINS.format(**schema.SQLITE))
    return schema.statements(schema.PINS.format(**schema.POSTGRES)) + schema.statements(
        schema.guard(["pins"])
    )


def meanings(is_sqlite: bool) -> Statements:
    """Vectors of what was said come, and a table of prices that nothing used goes."""
    dialect = schema.SQLITE if is_sqlite else schema.POSTGRES
    guards = [] if is_sqlite else schema.statements(schema.guard(["meanings"]))
    return [*schema.statements(schema.MEANINGS.format(**dialect)), *guards, "DROP TABLE prices"]


def noted_documents(is_sqlite: bool) -> Statements:
    return schema.statements(schema.NOTED_DOCUMENTS)


def prices(is_sqlite: bool) -> Statements:
    """Attempts refer to the price that was applied; of earlier ones it is not known."""
    if is_sqlite:
        return schema.statements(schema.PRICES.format(**schema.SQLITE))
    return schema.statements(schema.PRICES.format(**schema.POSTGRES)) + schema.statements(
        schema.guard(["prices"])
    )


def cites(is_sqlite: bool) -> Statements:
    dialect = schema.SQLITE if is_sqlite else schema.POSTGRES
    return schema.statements(schema.CITES.format(**dialect))


def said(is_sqlite: bool) -> Statements:
    """Words before tool calls are indexed from now on; what the index was told of earlier turns stays as it is."""
    dialect = schema.SQLITE if is_sqlite else schema.POSTGRES
    return schema.statements(schema.SAID.format(**dialect))


def leaner(is_sqlite: bool) -> Statements:
    """Fewer rows, indexes and bytes for every turn."""
    if is_sqlite:
        return [
            *schema.statements(schema.LEANER.format(**schema.SQLITE)),
            *schema.statements(schema.SQLITE_LATE_WORDS),
        ]
    everybodys = ("contents", "uses", "requests")
    return [
        *(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY" for table in everybodys),
        *schema.statements(schema.LEANER.format(**schema.POSTGRES)),
        *(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY" for table in everybodys[:2]),
        *schema.statements(schema.guard(["requests"])),
    ]


def loose(is_sqlite: bool) -> Statements:
    """Turns are laid down in one row before they are put in their places."""
    return schema.statements(schema.SQLITE_LOOSE) if is_sqlite else []


STEPS: tuple[Callable[[bool], Statements], ...] = (
    first_tables,
    accounts,
    pins,
    meanings,
    noted_documents,
    prices,
    cites,
    said,
    leaner,
    loose,
)

APPLIED = "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL)"


def missing(version: int) -> tuple[tuple[int, Callable[[bool], Statements]], ...]:
    """The numbered steps that a database of this version still needs."""
    if version > len(STEPS):
        raise StoreError(
            f"the database has form {version}, this program knows {len(STEPS)}",
            hint="a newer Sill has used it: update this one",
        )
    return tuple(enumerate(STEPS[version:], version + 1))


def bring_sqlite_up(connection: sqlite3.Connection) -> None:
    if missing(_sqlite_version(connection)):
        # Read again under the lock: another process may have been first.
        connection.execute("BEGIN IMMEDIATE")
        try:
            for number, step in missing(_sqlite_version(connection)):
                for statement in step(True):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={number}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _sqlite_version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
