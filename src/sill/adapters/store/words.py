"""Full text: what was asked and answered, by turn."""

from ...core.messages import Message
from . import codec
from .database import Transaction

POSTGRES_LONGEST = 250_000  # characters; a tsvector holds at most one megabyte


async def index(transaction: Transaction, turn: int) -> None:
    text = await visible_text(transaction, turn)
    if not text:
        return
    if transaction.is_sqlite:
        await transaction.run("INSERT INTO words (rowid, text) VALUES (?, ?)", turn, text)
    else:
        await transaction.run(
            "INSERT INTO words (turn, owner, text) VALUES (?, ?, to_tsvector('simple', ?))",
            turn,
            transaction.owner,
            text[:POSTGRES_LONGEST],
        )


async def forget(transaction: Transaction, turn: int) -> None:
    if transaction.is_sqlite:
        # The index keeps no text, so it must be told again what to take out.
        text = await visible_text(transaction, turn)
        if text:
            await transaction.run(
                "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", turn, text
            )
    else:
        await transaction.run("DELETE FROM words WHERE turn = ?", turn)


async def visible_text(transaction: Transaction, turn: int) -> str:
    """The talk of a turn, without files and tools; always the same text for the same turn."""
    rows = await transaction.rows(
        "SELECT contents.codec, contents.body FROM messages"
        " JOIN contents ON contents.key = messages.content"
        " WHERE messages.turn = ? AND messages.carries = '' ORDER BY messages.position",
        turn,
    )
    texts = (codec.unsqueeze(coding, body).decode("utf-8", "replace") for coding, body in rows)
    return "\n\n".join(texts).replace("\x00", " ")


def shown(message: Message) -> bool:
    return message.carries is None
