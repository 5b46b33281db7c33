"""Chats expire when the settings say so, and only then."""

import asyncio
import sqlite3
from contextlib import closing

import pytest

from sill.app import open_storage
from sill.settings import load

DAY_MS = 86_400_000


def settings(folder, toml: str = ""):
    file = folder / "user.toml"
    file.write_text(toml)
    place = {"SILL_DATABASE_URL": str(folder / "sill.db")}
    return load(user_file=file, project_file=None, environment=place)


@pytest.mark.parametrize(
    "toml, left",
    [
        pytest.param("", ["40 days", "5 days", "pinned", "today"], id="never by themselves"),
        pytest.param("chat_ttl_days = 30", ["5 days", "pinned", "today"], id="unused for long"),
        pytest.param("chat_ttl_days = 1.5", ["pinned", "today"], id="unused for a day and a half"),
    ],
)
def test_chats_unused_for_so_long_are_gone_when_the_store_is_opened(tmp_path, toml, left):
    async def prepare():
        async with open_storage(settings(tmp_path)) as store:
            for title in ("40 days", "5 days", "today", "pinned"):
                chat = await store.new_chat("w", title)
                await store.change_chat(chat, pinned=title == "pinned")

    asyncio.run(prepare())
    with closing(sqlite3.connect(tmp_path / "sill.db", isolation_level=None)) as connection:
        for title, days in (("40 days", 40), ("pinned", 40), ("5 days", 5)):
            connection.execute(
                "UPDATE chats SET used = used - ? WHERE title = ?", (days * DAY_MS, title)
            )

    async def titles():
        async with open_storage(settings(tmp_path, toml)) as store:
            return sorted(chat.title for chat in await store.chats())

    assert asyncio.run(titles()) == left
