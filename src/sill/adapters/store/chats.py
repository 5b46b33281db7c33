"""Chats: made, found, named, put away, deleted."""

from .database import Transaction


async def create(transaction: Transaction, id: str, workspace: str, title: str) -> None:
    await transaction.run(
        f"INSERT INTO workspaces (owner, id, created) VALUES (?, ?, {transaction.now})"
        " ON CONFLICT DO NOTHING",
        transaction.owner,
        workspace,
    )
    await transaction.run(
        "INSERT INTO chats (owner, id, workspace, title, created, used)"
        f" VALUES (?, ?, ?, ?, {transaction.now}, {transaction.now})",
        transaction.owner,
        id,
        workspace,
        title.replace("\x00", ""),
    )


async def latest(transaction: Transaction, workspace: str) -> str | None:
    row = await transaction.row(
        "SELECT id FROM chats WHERE owner = ? AND workspace = ? AND archived = 0"
        " ORDER BY used DESC, key DESC LIMIT 1",
        transaction.owner,
        workspace,
    )
    return None if row is None else row[0]
