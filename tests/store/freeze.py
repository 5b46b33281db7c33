"""Writes a small database of today's form as SQL text, to be brought up by every later version.

    python -m tests.store.freeze

Run it once when a new form is released, and never change its files afterwards.
"""

import asyncio
import sqlite3
import tempfile
from pathlib import Path

from sill.adapters.store import migrations, open_store, schema
from sill.adapters.store.words import visible_text
from sill.core.cost import Price, Rates
from sill.core.messages import Epoch
from sill.records import Attempt, Pin, Settlement, StoredProposal
from tests.store.examples import CERTIFICATE, EVERYTHING, closing, opening

VERSIONS = Path(__file__).parent / "versions"
BETWEEN = "\n--;\n"
PRICE = Price(Rates(5, 7, cached=1), "the settings", ((200, Rates(9, 11)),))
KEYED = (
    *("chats", "contents", "turns"),
    *("tokenizers", "attempts", "prices", "proposals", "memories", "pins"),
)


async def fill(path: Path) -> dict[int, str]:
    """One of everything; what the index of words was told of each turn."""
    store = await open_store(path)
    chat = await store.new_chat("w", "A frozen chat")
    first = await store.begin(chat, opening("one harbour " * 20))
    await store.record_request(first, CERTIFICATE, b"\xff raw")
    await store.finish(first, closing("boats"))
    begun = opening("two", epoch=Epoch(1, first, frozenset({(first, 0)})))
    second = await store.begin(chat, begun)
    await store.finish(second, closing("half", "partial"))
    await store.remember_counts("words", {EVERYTHING[0].carries.stamp.fingerprint: 7})  # type: ignore[union-attr]
    attempt = await store.open_attempt(
        Attempt("main", "m", "http://x", chat, second, 1, 2, price=PRICE)
    )
    assert isinstance(attempt, str)
    await store.settle_attempt(attempt, Settlement("complete", 200, None, 3))
    await store.add_proposal(StoredProposal("p", chat, second, "{}"))
    await store.note("w", "tea")
    await store.pin(chat, Pin(turn=first))
    keys = (1, 2)
    texts = [await store._database.read(lambda t, k=key: visible_text(t, k)) for key in keys]
    await store.close()
    return dict(zip(keys, texts, strict=True))


def literal(value: object, *, sqlite: bool) -> str:
    match value:
        case None:
            return "NULL"
        case bytes():
            return f"X'{value.hex()}'" if sqlite else f"'\\x{value.hex()}'"
        case int():
            return str(value)
        case _:
            return "'" + str(value).replace("'", "''") + "'"


def inserts(connection: sqlite3.Connection, words: dict[int, str], *, sqlite: bool) -> list[str]:
    lines = []
    for table in schema.OWNED:
        rows = connection.execute(f"SELECT * FROM {table}")
        columns = ", ".join(column[0] for column in rows.description)
        for row in rows:
            values = ", ".join(literal(value, sqlite=sqlite) for value in row)
            lines.append(f"INSERT INTO {table} ({columns}) VALUES ({values})")
    for turn, text in words.items():
        lines.append(
            f"INSERT INTO words (rowid, text) VALUES ({turn}, '{text}')"
            if sqlite
            else "INSERT INTO words (turn, owner, text)"
            f" VALUES ({turn}, 'local', to_tsvector('simple', '{text}'))"
        )
    return lines


def main() -> None:
    number = len(migrations.STEPS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sill.db"
        words = asyncio.run(fill(path))
        with sqlite3.connect(path) as connection:
            for sqlite in (True, False):
                tables = [s for step in migrations.STEPS for s in step(sqlite)]
                if sqlite:
                    head, tail = [], [f"PRAGMA user_version={number}"]
                else:
                    head = [migrations.APPLIED, "SET sill.owner = 'local'"]
                    tail = [
                        f"INSERT INTO migrations VALUES ({n}, '{step.__name__}')"
                        for n, step in enumerate(migrations.STEPS, 1)
                    ]
                    # Keys were given here; the database goes on behind them.
                    tail += [
                        f"SELECT setval(pg_get_serial_sequence('{table}', 'key'), 1000)"
                        for table in KEYED
                    ]
                lines = [*head, *tables, *inserts(connection, words, sqlite=sqlite), *tail]
                name = f"{number}.{'sqlite' if sqlite else 'postgres'}.sql"
                (VERSIONS / name).write_text(BETWEEN.join(lines) + "\n")


if __name__ == "__main__":
    main()
