"""Full text: turns in which something was said, best first."""

import math
import re
import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence

from ...records import Found
from .database import Row, Transaction
from .words import are_waiting, visible_text

_TERM = re.compile(r'"([^"]*)"|(\S+)')
_WORD = re.compile(r"[^\W_]+")
FOUND = (
    "SELECT chats.id, chats.title, turns.id, turns.started, turns.key FROM turns"
    " JOIN chats ON chats.key = turns.chat"
)
UNINDEXED = " AND turns.key IN (SELECT turn FROM unindexed)"
RANKED = 500  # of the turns that SQLite finds, the newest are compared
SCANNED = 20_000  # turns that are read one by one when the index knows nothing


async def search(
    transaction: Transaction, words: str, workspace: str | None, limit: int
) -> list[Found]:
    """Turns with all the terms, best first; newest first if only a plain look at the texts finds them."""
    terms = said(words)
    if not terms:
        return []
    find = _in_sqlite if transaction.is_sqlite else _in_postgres
    rows, texts = await find(transaction, terms, workspace, limit)
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


Hits = tuple[list[Row], dict[int, str]]


async def _in_postgres(
    transaction: Transaction, terms: Sequence[str], workspace: str | None, limit: int
) -> Hits:
    query = " && ".join("phraseto_tsquery('simple', ?)" for _ in terms)
    rows = await transaction.rows(
        f"{FOUND} JOIN words ON words.turn = turns.key"
        f" WHERE words.text @@ ({query}) AND turns.owner = ?{within(workspace)}"
        f" ORDER BY ts_rank_cd(words.text, ({query})) DESC, turns.key DESC LIMIT {int(limit)}",
        *terms,
        transaction.owner,
        *([] if workspace is None else [workspace]),
        *terms,
    )
    return rows, {row[4]: await visible_text(transaction, row[4]) for row in rows}


# --- SQLite: its index knows which turns hold a word, and nothing else. -----------------------------


async def _in_sqlite(
    transaction: Transaction, terms: Sequence[str], workspace: str | None, limit: int
) -> Hits:
    phrases = [tokens(term) for term in terms]
    query = " ".join(f'"{word}"' for phrase in phrases for word in phrase)
    if not query:
        return [], {}
    try:
        rows = await transaction.rows(
            f"{FOUND} JOIN words ON words.rowid = turns.key"
            f" WHERE words MATCH ? AND turns.owner = ?{within(workspace)}"
            f" ORDER BY turns.key DESC LIMIT {RANKED}",
            query,
            transaction.owner,
            *([] if workspace is None else [workspace]),
        )
    except sqlite3.OperationalError:
        return [], {}  # letters that are newer than SQLite's tables part a word for it
    texts = {row[4]: await visible_text(transaction, row[4]) for row in rows}
    counts = {key: counted(phrases, tokens(text)) for key, text in texts.items()}
    rare = [await _rarity(transaction, phrase) for phrase in phrases]
    scores = ranks(counts, {key: len(text) for key, text in texts.items()}, rare)
    found = [row for row in rows if row[4] in scores]
    found.sort(key=lambda row: (-scores[row[4]], -row[4]))
    return found[:limit], texts


async def _rarity(transaction: Transaction, phrase: Sequence[str]) -> float:
    """Of the phrase's rarest word: the fewer turns hold it, the more it says."""
    every = await transaction.row("SELECT COALESCE(MAX(key), 0) FROM turns")
    holding = [
        await transaction.row("SELECT COUNT(*) FROM words WHERE words MATCH ?", f'"{word}"')
        for word in phrase
    ]
    fewest = min((row[0] for row in holding if row), default=0)
    return math.log(1 + (every[0] if every else 0) / (fewest + 0.5))


def tokens(text: str) -> list[str]:
    """The words of a text as the index compares them: in lower case and without accents."""
    plain = unicodedata.normalize("NFD", text.lower())
    return _WORD.findall("".join(c for c in plain if not unicodedata.combining(c)))


def counted(phrases: Sequence[Sequence[str]], words: Sequence[str]) -> list[int]:
    """How often each phrase stands in the words."""
    whole = _apart(words)
    return [whole.count(_apart(phrase)) for phrase in phrases]


def _apart(words: Sequence[str]) -> str:
    """Each between spaces of its own, so that the end of one is not the beginning of the next."""
    return "".join(f" {word} " for word in words)


def ranks(
    counts: Mapping[int, Sequence[int]], sizes: Mapping[int, int], rarities: Sequence[float]
) -> dict[int, float]:
    """How well each text fits (BM25); one that a phrase does not stand in is left out."""
    usual = sum(sizes.values()) / max(1, len(sizes))
    return {
        key: sum(
            rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * sizes[key] / max(1, usual)))
            for count, rarity in zip(found, rarities, strict=True)
        )
        for key, found in counts.items()
        if all(found)
    }


# --- Without an index -------------------------------------------------------------------------------


def within(workspace: str | None) -> str:
    return "" if workspace is None else " AND chats.workspace = ?"


async def _scanned(
    transaction: Transaction,
    terms: Sequence[str],
    workspace: str | None,
    limit: int,
    those: str = "",
) -> Hits:
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
