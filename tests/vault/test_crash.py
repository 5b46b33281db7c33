"""Killed at any point while indexing, the next start has a whole index without anybody's help."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from sill.adapters.index.schema import INDEXES
from sill.adapters.vault.index import DiskVault

INDEX = """
import asyncio, sys
from pathlib import Path
from sill.adapters.vault.index import DiskVault
from sill.testing import BagEmbedder

async def main():
    vault = DiskVault(Path(sys.argv[1]), Path(sys.argv[2]), embedder=BagEmbedder())
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


def is_whole(database) -> bool:
    connection = sqlite3.connect(database)
    try:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        indexes = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")
        return connection.execute("PRAGMA integrity_check").fetchone() == (
            "ok",
        ) and INDEXES.keys() <= {name for (name,) in indexes}
    finally:
        connection.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "kills", [pytest.param(8, id="eight"), pytest.param(50, id="fifty", marks=pytest.mark.long)]
)
def test_an_index_killed_while_it_is_made_repairs_itself(tmp_path, kills):
    root = tmp_path / "vault"
    root.mkdir()
    for number in range(NOTES):
        text = f"# Note {number}\n\nunique{number}word and [[Note {(number * 7) % NOTES}]]\n\n## More\n\n"
        (root / f"Note {number}.md").write_text(text + "Some filler text for the index. " * 40)
    expected = state(root, tmp_path / "whole.sqlite")
    chance = random.Random(5)
    database = tmp_path / "index.sqlite"

    for number in range(kills):
        if number % 4 == 0:
            for ending in ("", "-wal", "-shm"):
                database.with_name(database.name + ending).unlink(missing_ok=True)
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
        assert is_whole(database)
