"""Proposals of edits, and notes to remember."""

from collections.abc import Iterable

from ...errors import UsageError
from ...records import Note, ProposalStatus, StoredProposal
from . import codec, contents
from .database import Row, Transaction

_PROPOSAL = "id, chat, turn, codec, body, status, created, decided, decided_by"


async def add_proposal(transaction: Transaction, proposal: StoredProposal) -> None:
    await transaction.run(
        "INSERT INTO proposals (owner, id, chat, turn, status, created, codec, body)"
        f" VALUES (?, ?, ?, ?, ?, {transaction.now}, ?, ?)",
        transaction.owner,
        proposal.id,
        proposal.chat,
        proposal.turn,
        proposal.status,
        *codec.squeeze(codec.as_bytes(proposal.body)),
    )


async def decide_proposal(
    transaction: Transaction, id: str, status: ProposalStatus, by: str
) -> None:
    if not await transaction.run(
        f"UPDATE proposals SET status = ?, decided = {transaction.now}, decided_by = ?"
        " WHERE owner = ? AND id = ?",
        status,
        by,
        transaction.owner,
        id,
    ):
        raise UsageError(f"there is no proposal {id}")


async def proposal(transaction: Transaction, id: str) -> StoredProposal | None:
    row = await transaction.row(
        f"SELECT {_PROPOSAL} FROM proposals WHERE owner = ? AND id = ?", transaction.owner, id
    )
    return None if row is None else _proposal(row)


async def proposals(transaction: Transaction, chat: str) -> list[StoredProposal]:
    rows = await transaction.rows(
        f"SELECT {_PROPOSAL} FROM proposals WHERE owner = ? AND chat = ? ORDER BY key",
        transaction.owner,
        chat,
    )
    return [_proposal(row) for row in rows]


def _proposal(row: Row) -> StoredProposal:
    id, chat, turn, coding, body, *rest = row
    return StoredProposal(id, chat, turn, codec.as_text(codec.unsqueeze(coding, body)), *rest)


async def add_note(transaction: Transaction, id: str, workspace: str, text: str, turn: str) -> None:
    await transaction.run(
        "INSERT INTO memories (owner, id, workspace, text, turn, created, updated)"
        f" VALUES (?, ?, ?, ?, ?, {transaction.now}, {transaction.now})",
        transaction.owner,
        id,
        workspace,
        codec.as_bytes(text),
        turn,
    )


async def note_document(
    transaction: Transaction, id: str, workspace: str, path: str, text: str
) -> bool:
    """Whether it was written: a document has one note in a workspace, ever."""
    here = (transaction.owner, workspace, path)
    known = await transaction.row(
        "SELECT 1 FROM memories WHERE owner = ? AND workspace = ? AND document = ?", *here
    )
    if known is not None:
        return False
    await transaction.run(
        "INSERT INTO memories (owner, workspace, document, id, text, turn, created, updated)"
        f" VALUES (?, ?, ?, ?, ?, '', {transaction.now}, {transaction.now})",
        *here,
        id,
        codec.as_bytes(text),
    )
    return True


async def change_note(transaction: Transaction, id: str, text: str) -> None:
    if not await transaction.run(
        f"UPDATE memories SET text = ?, updated = {transaction.now} WHERE owner = ? AND id = ?",
        codec.as_bytes(text),
        transaction.owner,
        id,
    ):
        raise UsageError(f"there is no note {id}")


async def forget_note(transaction: Transaction, id: str) -> None:
    """Of a document's an empty row stays, so that it is not noted again."""
    here = (transaction.owner, id)
    await transaction.run(
        "DELETE FROM memories WHERE owner = ? AND id = ? AND document = ''", *here
    )
    await transaction.run("UPDATE memories SET text = ? WHERE owner = ? AND id = ?", b"", *here)


async def notes(transaction: Transaction, workspace: str | None) -> list[Note]:
    """Oldest first; None: of all workspaces, with what is left of those that were forgotten."""
    rows = await transaction.rows(
        "SELECT id, workspace, text, turn, created, updated, document FROM memories WHERE owner = ?"
        + (
            ""
            if workspace is None
            else " AND workspace = ? AND (document = '' OR length(text) > 0)"
        )
        + " ORDER BY key",
        transaction.owner,
        *([] if workspace is None else [workspace]),
    )
    return [Note(row[0], row[1], codec.as_text(bytes(row[2])), *row[3:]) for row in rows]


async def put_notes(transaction: Transaction, notes: Iterable[Note]) -> None:
    """As they were."""
    await transaction.many(
        "INSERT INTO memories (owner, id, workspace, text, turn, created, updated, document)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                transaction.owner,
                note.id,
                note.workspace,
                codec.as_bytes(note.text),
                note.turn,
                note.created_ms,
                note.updated_ms,
                note.document,
            )
            for note in notes
        ],
    )


async def referred_to(transaction: Transaction, workspace: str) -> list[tuple[str, str]]:
    rows = await transaction.rows(
        "SELECT chats.id, turns.refs, turns.cites FROM turns JOIN chats ON chats.key = turns.chat"
        " WHERE chats.owner = ? AND chats.workspace = ? AND turns.status = 'complete'"
        " ORDER BY turns.key",
        transaction.owner,
        workspace,
    )
    cited = await contents.bodies(transaction, [key for _, _, key in rows if key is not None])
    return [
        (chat, references if key is None else codec.as_text(cited[key]))
        for chat, references, key in rows
    ]
