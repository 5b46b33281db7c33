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
    contents = {body: _content(body) for body in bodies}
    return dict(sorted(contents.items(), key=lambda pair: pair[1].hash))


def _content(body: bytes) -> Content:
    return Content(hashlib.sha256(body).digest(), len(body), *squeeze(body))


async def keep(
    transaction: Transaction, held: Held, contents: Mapping[bytes, Content]
) -> dict[bytes, int]:
    """The key of each body, stored where it was not, and known to be used by the chat."""
    keys = {body: await _key(transaction, content) for body, content in contents.items()}
    await transaction.many(
        "INSERT INTO uses (content, chat, owner, fence) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(key, held.chat, transaction.owner, held.fence) for key in keys.values()],
    )
    return keys


async def _key(transaction: Transaction, content: Content) -> int:
    # Most are new. One that is there already, or that another writer was quicker to store, is looked up.
    found = await transaction.row(
        "INSERT INTO contents (owner, hash, size, codec, body) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING RETURNING key",
        transaction.owner,
        content.hash,
        content.size,
        content.codec,
        content.body,
    )
    found = found or await transaction.row(
        "SELECT key FROM contents WHERE owner = ? AND hash = ?", transaction.owner, content.hash
    )
    assert found is not None
    key: int = found[0]
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
    used = await transaction.rows(
        "DELETE FROM uses WHERE chat = ? AND owner = ? AND fence >= ? RETURNING content",
        chat,
        transaction.owner,
        since,
    )
    dropped = 0
    for (key,) in used:
        dropped += await transaction.run(
            "DELETE FROM contents WHERE key = ? AND owner = ?"
            " AND NOT EXISTS (SELECT 1 FROM uses WHERE content = contents.key)",
            key,
            transaction.owner,
        )
    return dropped


def places(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)
