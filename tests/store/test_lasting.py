"""What has to survive a power cut is on the disk when it is acknowledged; nothing else waits for the disk."""

import asyncio
import os
from pathlib import Path

import pytest

from sill.adapters.store import open_store
from sill.errors import StoreError
from tests.store.examples import asked, closing, opening

SYNC = "fdatasync" if hasattr(os, "fdatasync") else "fsync"


@pytest.fixture
def synced(monkeypatch):
    """The names of the files that were brought to the disk, in order."""
    names, sync = [], getattr(os, SYNC)

    def noted(descriptor: int) -> None:
        names.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        sync(descriptor)

    monkeypatch.setattr(os, SYNC, noted)
    return names


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="file names come from /proc")
def test_a_question_is_on_the_disk_before_begin_returns(tmp_path, synced):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        synced.clear()
        turn = await store.begin(chat, opening("q"))
        begun = list(synced)
        await store.finish(turn, closing("a"))
        finished = list(synced)
        # A moment later the answer is safe, too; closing does not leave it to chance.
        await store.close()

        return begun, finished, list(synced)

    log = "sill.db-wal"
    assert asyncio.run(check()) == ([log], [log], [log, log])


def test_a_disk_that_fails_to_sync_is_told_and_loses_nothing(tmp_path, monkeypatch):
    async def check():
        store = await open_store(tmp_path / "sill.db")
        chat = await store.new_chat("w")
        with monkeypatch.context() as broken:
            broken.setattr(os, SYNC, failing)
            with pytest.raises(StoreError, match="may not last"):
                await store.begin(chat, opening("q"))
        await store.close()
        store = await open_store(tmp_path / "sill.db")
        turns = await store.turns(chat)
        await store.close()
        return asked(turns)

    def failing(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    assert asyncio.run(check()) == ["q"]
