"""Texts by what they are: each stored once per owner, gone when no chat uses it any more."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .codec import squeeze, unsqueeze
from .database import Transaction
from .leases import Held


@dataclass(frozen=True, slots=True)
class Content:
    """A body ready to be stored: hashed and compressed before the transaction begins."""

    hash: bytes
    size: int
    codec: int
    body: bytes


def prepared(bodies: Iterable[bytes]) -> dict[bytes, Content]:
    """Every distinct body, in the order of the hashes so that two writers cannot wait for each other."""
    contents = {body: _content(body) for body in dict.fromkeys(bodies)}
    if len(contents) < 2:
        return contents
    return dict(sorted(contents.items(), key=lambda pair: pair[1].hash))


def _content(body: bytes) -> Content:
    return Content(hashlib.sha256(body).digest(), len(body), *squeeze(body))


async def keep(
    transaction: Transaction, held: Held, contents: Mapping[bytes, Content]
) -> dict[bytes, int]:
    """The key of each body, stored where it was not, and known to be used by the chat."""
    return {body: await _key(transaction, held, content) for body, content in contents.items()}


async def _key(transaction: Transaction, held: Held, content: Content) -> int:
    # Most are new. One that is there already, or that another writer was quicker to store, is looked up.
    new = await transaction.insert(
        "INSERT INTO contents (owner, hash, size, codec, body, chat, fence)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        transaction.owner,
        content.hash,
        content.size,
        content.codec,
        content.body,
        held.chat,
        held.fence,
    )
    if new is not None:
        return new
    found = await transaction.row(
        "SELECT key, chat FROM contents WHERE owner = ? AND hash = ?",
        transaction.owner,
        content.hash,
    )
    assert found is not None
    key: int = found[0]
    if found[1] != held.chat:
        await transaction.run(
            "INSERT INTO uses (content, chat, owner, fence) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            key,
            held.chat,
            transaction.owner,
            held.fence,
        )
    return key


async def bodies(transaction: Transaction, keys: Iterable[int]) -> dict[int, bytes]:
    wanted = sorted(set(keys))
    found: dict[int, bytes] = {}
    for start in range(0, len(wanted), 500):
        some = wanted[start : start + 500]
        for key, codec, body in await transaction.rows(
            # By key: SQLite would rather walk through everything of the owner.
            "SELECT key, codec, body FROM contents"
            f" WHERE owner || '' = ? AND key IN ({places(some)})",
            transaction.owner,
            *some,
        ):
            found[key] = unsqueeze(codec, body)
    return found


async def forget(transaction: Transaction, chat: int, since: int = 0) -> int:
    """Drop what only this chat used, and was first used in it under the fence ``since`` or a later one.

    How many bodies that were.
    """
    here = (chat, transaction.owner, since)
    await transaction.run("DELETE FROM uses WHERE chat = ? AND owner = ? AND fence >= ?", *here)
    dropped = await transaction.run(
        "DELETE FROM contents WHERE chat = ? AND owner = ? AND fence >= ?"
        " AND NOT EXISTS (SELECT 1 FROM uses WHERE content = contents.key)",
        *here,
    )
    # The others belong to somebody else from now on.
    for key, heir in await transaction.rows(
        "SELECT contents.key, MIN(uses.chat) FROM contents JOIN uses ON uses.content = contents.key"
        " WHERE contents.chat = ? AND contents.owner = ? AND contents.fence >= ?"
        " GROUP BY contents.key",
        *here,
    ):
        await transaction.run(
            "UPDATE contents SET chat = ?, fence ="
            " (SELECT fence FROM uses WHERE content = contents.key AND uses.chat = ?) WHERE key = ?",
            heir,
            heir,
            key,
        )
        await transaction.run("DELETE FROM uses WHERE content = ? AND chat = ?", key, heir)
    return dropped


def places(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)
