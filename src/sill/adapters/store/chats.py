"""Chats: made, found, named, put away, branched, deleted."""

from dataclasses import dataclass

from ...errors import UsageError
from ...records import ChatInfo, Pin
from . import contents, leases, recordings, words
from .database import Row, Transaction
from .leases import LeaseTimes

_INFO = "id, workspace, title, turns, created, used, pinned, archived"


@dataclass(frozen=True, slots=True)
class Place:
    """A chat before a turn of it is begun.

    ``depth`` is of the turn it goes on from, ``fence`` of the last lease of it, whose ``holder`` may still have it;
    ``is_open`` if a turn of it is, whoever's. Whoever takes the lease from here knows that nothing has changed.
    """

    key: int
    used: int
    turns: int
    head: int | None
    depth: int | None
    fence: int | None
    holder: str | None
    is_open: int | bool


def _info(row: Row) -> ChatInfo:
    id, workspace, title, turns, created, used, pinned, archived = row
    return ChatInfo(id, workspace, title, turns, created, used, bool(pinned), bool(archived))


async def key_of(transaction: Transaction, chat: str) -> int:
    row = await transaction.row(
        "SELECT key FROM chats WHERE owner = ? AND id = ?", transaction.owner, chat
    )
    if row is None:
        raise missing(chat)
    key: int = row[0]
    return key


async def place(transaction: Transaction, chat: str) -> Place:
    row = await transaction.row(
        "SELECT chats.key, chats.used, chats.turns, chats.head, last.depth, leases.fence,"
        f" CASE WHEN leases.expires > {transaction.now} THEN leases.holder END, EXISTS"
        " (SELECT 1 FROM turns WHERE turns.chat = chats.key AND turns.status = 'open')"
        " FROM chats LEFT JOIN leases ON leases.chat = chats.key"
        " LEFT JOIN turns AS last ON last.key = chats.head WHERE chats.owner = ? AND chats.id = ?",
        transaction.owner,
        chat,
    )
    if row is None:
        raise missing(chat)
    return Place(*row)


async def place_of(transaction: Transaction, key: int) -> Place:
    """Of a chat whose lease was taken."""
    row = await transaction.row(
        "SELECT chats.used, chats.turns, chats.head, last.depth FROM chats"
        " LEFT JOIN turns AS last ON last.key = chats.head WHERE chats.key = ? AND chats.owner = ?",
        key,
        transaction.owner,
    )
    assert row is not None
    used, turns, head, depth = row
    return Place(key, used, turns, head, depth, None, None, is_open=False)


def missing(chat: str) -> UsageError:
    return UsageError(f"there is no chat {chat}", hint="`sill chats list` shows them")


async def create(transaction: Transaction, id: str, workspace: str, title: str) -> int:
    await transaction.run(
        f"INSERT INTO workspaces (owner, id, created) VALUES (?, ?, {transaction.now})"
        " ON CONFLICT DO NOTHING",
        transaction.owner,
        workspace,
    )
    row = await transaction.row(
        "INSERT INTO chats (owner, id, workspace, title, created, used)"
        f" VALUES (?, ?, ?, ?, {transaction.now}, {transaction.now}) RETURNING key",
        transaction.owner,
        id,
        workspace,
        clean(title),
    )
    assert row is not None
    key: int = row[0]
    return key


def clean(title: str) -> str:
    """One line of text that both databases take."""
    return " ".join(title.replace("\x00", " ").encode(errors="replace").decode().split())


async def latest(transaction: Transaction, workspace: str) -> str | None:
    row = await transaction.row(
        "SELECT id FROM chats WHERE owner = ? AND workspace = ? AND archived = 0"
        " ORDER BY used DESC, key DESC LIMIT 1",
        transaction.owner,
        workspace,
    )
    return None if row is None else row[0]


async def every(transaction: Transaction, workspace: str | None) -> list[ChatInfo]:
    rows = await transaction.rows(
        f"SELECT {_INFO} FROM chats WHERE owner = ?"
        + (" AND workspace = ?" if workspace is not None else "")
        + " ORDER BY pinned DESC, used DESC, key DESC",
        transaction.owner,
        *([workspace] if workspace is not None else []),
    )
    return [_info(row) for row in rows]


async def one(transaction: Transaction, chat: str) -> ChatInfo | None:
    row = await transaction.row(
        f"SELECT {_INFO} FROM chats WHERE owner = ? AND id = ?", transaction.owner, chat
    )
    return None if row is None else _info(row)


async def change(
    transaction: Transaction,
    chat: str,
    title: str | None,
    pinned: bool | None,
    archived: bool | None,
) -> None:
    key = await key_of(transaction, chat)
    given = {
        "title": None if title is None else clean(title),
        "pinned": None if pinned is None else int(pinned),
        "archived": None if archived is None else int(archived),
    }
    for name, value in given.items():
        if value is not None:
            await transaction.run(
                f"UPDATE chats SET {name} = ? WHERE key = ? AND owner = ?",
                value,
                key,
                transaction.owner,
            )


async def branch(
    transaction: Transaction, chat: str, turn: str | None, holder: str, times: LeaseTimes
) -> None:
    key = await key_of(transaction, chat)
    held = await leases.hold(transaction, key, holder, times)
    row = await transaction.row(
        "SELECT key FROM turns WHERE owner = ? AND id = ? AND chat = ?",
        transaction.owner,
        turn,
        key,
    )
    if turn is not None and row is None:
        raise UsageError(f"the chat has no turn {turn}")
    await transaction.run(
        "UPDATE chats SET head = ? WHERE key = ? AND owner = ?",
        row[0] if row else None,
        key,
        transaction.owner,
    )
    await leases.release(transaction, held)


async def delete(transaction: Transaction, chat: str, holder: str, times: LeaseTimes) -> None:
    key = await key_of(transaction, chat)
    await leases.hold(transaction, key, holder, times)
    owner = transaction.owner
    turns = await transaction.rows(
        "SELECT key, status FROM turns WHERE chat = ? AND owner = ?", key, owner
    )
    for turn, status in turns:
        if status != "open":
            await words.forget(transaction, turn)
    await recordings.forget(transaction, [turn for turn, _ in turns])
    for table in ("messages", "partials"):
        await transaction.run(
            f"DELETE FROM {table} WHERE owner = ?"
            " AND turn IN (SELECT key FROM turns WHERE chat = ?)",
            owner,
            key,
        )
    await contents.forget(transaction, key)
    await transaction.run("DELETE FROM turns WHERE chat = ? AND owner = ?", key, owner)
    await transaction.run("DELETE FROM leases WHERE chat = ? AND owner = ?", key, owner)
    await transaction.run("DELETE FROM pins WHERE chat = ? AND owner = ?", key, owner)
    await transaction.run("DELETE FROM proposals WHERE chat = ? AND owner = ?", chat, owner)
    await transaction.run("DELETE FROM chats WHERE key = ? AND owner = ?", key, owner)


async def unused(transaction: Transaction, since_ms: int) -> list[str]:
    """Chats that may expire: not used since then, not pinned, with nothing in flight."""
    rows = await transaction.rows(
        "SELECT id FROM chats WHERE owner = ? AND used < ? AND pinned = 0 AND NOT EXISTS"
        f" (SELECT 1 FROM leases WHERE chat = chats.key AND expires > {transaction.now})"
        " ORDER BY key",
        transaction.owner,
        since_ms,
    )
    return [id for (id,) in rows]


# --- What stays in the window ---------------------------------------------------------------------


async def pin(transaction: Transaction, chat: str, one: Pin) -> None:
    key = await key_of(transaction, chat)
    if one.turn and not await transaction.row(
        "SELECT 1 FROM turns WHERE owner = ? AND id = ? AND chat = ?",
        transaction.owner,
        one.turn,
        key,
    ):
        raise UsageError(f"the chat has no turn {one.turn}")
    await transaction.run(
        "INSERT INTO pins (owner, chat, turn, path) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        transaction.owner,
        key,
        one.turn,
        one.path,
    )


async def unpin(transaction: Transaction, chat: str, one: Pin) -> bool:
    removed = await transaction.run(
        "DELETE FROM pins WHERE chat = ? AND owner = ? AND turn = ? AND path = ?",
        await key_of(transaction, chat),
        transaction.owner,
        one.turn,
        one.path,
    )
    return bool(removed)


async def pins(transaction: Transaction, chat: str) -> list[Pin]:
    rows = await transaction.rows(
        "SELECT turn, path FROM pins WHERE chat = ? AND owner = ? ORDER BY key",
        await key_of(transaction, chat),
        transaction.owner,
    )
    return [Pin(turn, path) for turn, path in rows]
