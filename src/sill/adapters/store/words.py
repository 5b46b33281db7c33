"""Full text: what was asked and answered, by turn."""

import re
from collections.abc import Iterable, Sequence

from ...core.messages import Message
from ...records import Found
from . import codec
from .database import Row, Transaction

MOST_WAITING = 64
POSTGRES_LONGEST = 250_000  # characters; a tsvector holds at most one megabyte


async def index(transaction: Transaction, turn: int, said: Sequence[str] | None = None) -> None:
    """``said`` is the turn's talk where it is at hand; else it is read.

    On SQLite the turn only joins those that wait: for the next idle moment, for a search, or for others.
    """
    if transaction.is_sqlite:
        await transaction.run("INSERT INTO unindexed (turn) VALUES (?)", turn)
        if turn % MOST_WAITING == 0:
            await catch_up(transaction)
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
    """Tell the index of every turn that waits, whoever's it is."""
    for (turn,) in await transaction.rows("SELECT turn FROM unindexed"):
        if text := await visible_text(transaction, turn):
            await transaction.run("INSERT INTO words (rowid, text) VALUES (?, ?)", turn, text)
    await transaction.run("DELETE FROM unindexed")


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


# --- Search --------------------------------------------------------------------------------------

_TERM = re.compile(r'"([^"]*)"|(\S+)')
FOUND = (
    "SELECT chats.id, chats.title, turns.id, turns.started, turns.key FROM turns"
    " JOIN chats ON chats.key = turns.chat"
)
UNINDEXED = " AND turns.key IN (SELECT turn FROM unindexed)"
SCANNED = 20_000  # turns that are read one by one when the index knows nothing


async def search(
    transaction: Transaction, words: str, workspace: str | None, limit: int
) -> list[Found]:
    """Turns with all the terms, best first; newest first if only a plain look at the texts finds them."""
    terms = said(words)
    if not terms:
        return []
    rows = await _indexed(transaction, terms, workspace, limit)
    texts = {row[4]: await visible_text(transaction, row[4]) for row in rows}
    if await are_waiting(transaction):
        late, more = await _scanned(transaction, terms, workspace, limit, UNINDEXED)
        rows, texts = [*late, *rows][:limit], texts | more
    if not rows:
        # Scripts without spaces, or a part of a word.
        rows, texts = await _scanned(transaction, terms, workspace, limit)
    return [
        Found(chat, title, turn, started, excerpt(texts[key], terms))
        for chat, title, turn, started, key in rows
    ]


def said(words: str) -> list[str]:
    """The terms of a question: words, and phrases in double quotes."""
    terms = ("".join(pair) for pair in _TERM.findall(words.replace("\x00", " ")))
    return [term for term in (term.replace('"', " ").strip() for term in terms) if term]


async def _indexed(
    transaction: Transaction, terms: Sequence[str], workspace: str | None, limit: int
) -> list[Row]:
    if transaction.is_sqlite:
        join, order = " JOIN words ON words.rowid = turns.key", "rank"
        condition = "words MATCH ?"
        values: tuple[object, ...] = (" ".join(f'"{term}"' for term in terms),)
        rank_values: tuple[object, ...] = ()
    else:
        join = " JOIN words ON words.turn = turns.key"
        query = " && ".join("phraseto_tsquery('simple', ?)" for _ in terms)
        condition, order = f"words.text @@ ({query})", f"ts_rank_cd(words.text, ({query})) DESC"
        values = rank_values = tuple(terms)
    return await transaction.rows(
        f"{FOUND}{join} WHERE {condition} AND turns.owner = ?{within(workspace)}"
        f" ORDER BY {order}, turns.key DESC LIMIT {int(limit)}",
        *values,
        transaction.owner,
        *([] if workspace is None else [workspace]),
        *rank_values,
    )


def within(workspace: str | None) -> str:
    return "" if workspace is None else " AND chats.workspace = ?"


async def _scanned(
    transaction: Transaction,
    terms: Sequence[str],
    workspace: str | None,
    limit: int,
    those: str = "",
) -> tuple[list[Row], dict[int, str]]:
    rows: list[Row] = []
    texts: dict[int, str] = {}
    for row in await transaction.rows(
        f"{FOUND} WHERE turns.owner = ? AND turns.status <> 'open'{those}{within(workspace)}"
        f" ORDER BY turns.key DESC LIMIT {SCANNED}",
        transaction.owner,
        *([] if workspace is None else [workspace]),
    ):
        text = await visible_text(transaction, row[4])
        if all(term.casefold() in text.casefold() for term in terms):
            rows.append(row)
            texts[row[4]] = text
            if len(rows) == limit:
                break
    return rows, texts


def excerpt(text: str, terms: Sequence[str] = (), length: int = 160) -> str:
    """One line of the text around the first term that stands in it."""
    line = " ".join(text.split())
    places = (line.casefold().find(term.casefold()) for term in terms)
    at = next((place for place in places if place >= 0), 0)
    start = max(0, min(at - length // 4, len(line) - length))
    return ("…" if start else "") + line[start : start + length]
