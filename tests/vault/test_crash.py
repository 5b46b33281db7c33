"""Killed at any point while indexing, the next start has a whole index without anybody's help."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from sill.adapters.index import schema
from sill.adapters.index.postgres import tables
from sill.adapters.vault.index import DiskVault
from tests.vault.conftest import HOMES

INDEX = """
import asyncio, sys
from pathlib import Path
from sill.adapters.vault.index import DiskVault
from sill.testing import BagEmbedder

async def main():
    vault = DiskVault(Path(sys.argv[1]), sys.argv[2], embedder=BagEmbedder())
    print("ready", flush=True)
    await vault.refresh()
    await vault.embed_pending()

asyncio.run(main())
"""
NOTES = 1_500


def state(root, database):
    vault = DiskVault(root, database)
    asyncio.run(vault.refresh())
    status = asyncio.run(vault.status())
    hits = [hit.path for hit in asyncio.run(vault.search("unique77word", 5, "text"))]
    links = asyncio.run(vault.check_links())
    asyncio.run(vault.close())
    return status.files, status.passages, links.total, len(links.broken), hits


def is_whole(root, database) -> bool:
    return (
        is_whole_file(database) if isinstance(database, Path) else is_whole_schema(root, database)
    )


def is_whole_file(database) -> bool:
    connection = sqlite3.connect(database)
    try:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        indexes = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")
        return connection.execute("PRAGMA integrity_check").fetchone() == (
            "ok",
        ) and schema.INDEXES.keys() <= {name for (name,) in indexes}
    finally:
        connection.close()


def is_whole_schema(root, database) -> bool:
    """Every index is there, no row is left over, and the sums are those of the rows."""
    with psycopg.connect(database, autocommit=True) as connection:
        name = tables.schema_name(root)
        connection.execute(f"SET search_path = {name}")
        indexes = connection.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = %s", (name,)
        ).fetchall()
        said = connection.execute("SELECT passages, tokens, in_bulk FROM state").fetchone()
        there = connection.execute("SELECT count(*), sum(size), false FROM words").fetchone()
        left_over = connection.execute(
            "SELECT count(*) FROM passages FULL JOIN words USING (id) LEFT JOIN files ON files.id = file"
            " WHERE words.id IS NULL OR files.id IS NULL"
        ).fetchone()
        return (
            said == there
            and left_over == (0,)
            and tables.INDEXES.keys() <= {name for (name,) in indexes}
        )


def remove(root, database) -> None:
    if isinstance(database, Path):
        schema.remove(database)
    else:
        with psycopg.connect(database, autocommit=True) as connection:
            tables.drop(connection, tables.schema_name(root))


@pytest.mark.slow
@pytest.mark.parametrize("databases", HOMES[:2], indirect=True)
@pytest.mark.parametrize(
    "kills", [pytest.param(8, id="eight"), pytest.param(50, id="fifty", marks=pytest.mark.long)]
)
def test_an_index_killed_while_it_is_made_repairs_itself(tmp_path, databases, kills):
    root = tmp_path / "vault"
    root.mkdir()
    for number in range(NOTES):
        text = f"# Note {number}\n\nunique{number}word and [[Note {(number * 7) % NOTES}]]\n\n## More\n\n"
        (root / f"Note {number}.md").write_text(text + "Some filler text for the index. " * 40)
    expected = state(root, tmp_path / "whole.sqlite")
    chance = random.Random(5)
    database = databases("index")

    for number in range(kills):
        if number % 4 == 0:
            remove(root, database)
        (root / f"Note {number}.md").touch()
        process = subprocess.Popen(
            [sys.executable, "-c", INDEX, str(root), str(database)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.random() * 0.8)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()

        assert state(root, database) == expected
        assert is_whole(root, database)
