"""The index of words: what was asked and answered, by turn."""

from collections.abc import Iterable, Sequence

from ...core.messages import Message
from . import codec
from .database import Transaction

MOST_WAITING = 64
AT_ONCE = 1_000  # turns in one transaction; there are that many after a migration
POSTGRES_LONGEST = 250_000  # characters; a tsvector holds at most one megabyte


async def index(transaction: Transaction, turn: int, said: Sequence[str] | None = None) -> None:
    """``said`` is the turn's talk where it is at hand; else it is read.

    On SQLite the turn only joins those that wait for an idle moment, for a search, or for many others.
    """
    if transaction.is_sqlite:
        await transaction.run("INSERT INTO unindexed (turn) VALUES (?)", turn)
        return
    text = await visible_text(transaction, turn) if said is None else joined(said)
    if text:
        await transaction.run(
            "INSERT INTO words (turn, owner, text) VALUES (?, ?, to_tsvector('simple', ?))",
            turn,
            transaction.owner,
            text[:POSTGRES_LONGEST],
        )


async def are_waiting(transaction: Transaction) -> bool:
    """Whether there are turns that the index was not told of."""
    if not transaction.is_sqlite:
        return False
    return await transaction.row("SELECT 1 FROM unindexed") is not None


async def catch_up(transaction: Transaction) -> None:
    """Tell the index of turns that wait, whoever's they are; there may be more."""
    if not transaction.is_sqlite:
        return
    waiting = await transaction.rows(f"SELECT turn FROM unindexed ORDER BY turn LIMIT {AT_ONCE}")
    for (turn,) in waiting:
        if text := await visible_text(transaction, turn):
            await transaction.run("INSERT INTO words (rowid, text) VALUES (?, ?)", turn, text)
    await transaction.many("DELETE FROM unindexed WHERE turn = ?", waiting)


async def forget(transaction: Transaction, turn: int) -> None:
    if transaction.is_sqlite:
        if await transaction.run("DELETE FROM unindexed WHERE turn = ?", turn):
            return
        # The index keeps no text, so it must be told again what to take out.
        text = await visible_text(transaction, turn)
        if text:
            await transaction.run(
                "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", turn, text
            )
    else:
        await transaction.run("DELETE FROM words WHERE turn = ?", turn)


async def visible_text(transaction: Transaction, turn: int) -> str:
    """The talk of a turn, without files and tools.

    The index can only be told to forget exactly what it was told: a change here needs a migration that
    builds it anew.
    """
    rows = await transaction.rows(
        "SELECT contents.codec, contents.body FROM messages"
        " JOIN contents ON contents.key = messages.content"
        " WHERE messages.turn = ? AND (messages.carries = '' OR messages.said = 1)"
        " ORDER BY messages.position",
        turn,
    )
    return joined(codec.as_text(codec.unsqueeze(coding, body)) for coding, body in rows)


def talk(messages: Iterable[Message]) -> tuple[str, ...]:
    return tuple(m.text for m in messages if m.carries is None or is_said_before_calls(m))


def is_said_before_calls(message: Message) -> bool:
    return message.carries is not None and message.is_talk


def joined(texts: Iterable[str]) -> str:
    plain = (codec.as_bytes(text).decode("utf-8", "replace") for text in texts)
    return "\n\n".join(plain).replace("\x00", " ")
