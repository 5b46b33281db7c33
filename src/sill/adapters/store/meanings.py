"""What was said, found by meaning: one vector for each text that is talk, kept with the text.

On PostgreSQL with pgvector the vectors are ``halfvec`` and the closest are found through an HNSW index; elsewhere
they are bytes and all of an owner's are compared. A text that is deleted takes its vectors along. They can
always be made again.
"""

import struct
from collections.abc import Iterable, Sequence
from heapq import nlargest
from operator import mul

from ...records import Found
from . import codec, finding, words
from .database import Database, Row, Transaction

_NEAR = 4  # times as many texts as turns are wanted: two texts may be of one turn


class Meanings:
    """The vectors of one embedder, called ``model``, in a store's database."""

    def __init__(self, database: Database, model: str) -> None:
        self._database = database
        self._model = model

    async def waiting(self, limit: int) -> list[tuple[int, str]]:
        """Texts of finished turns that have no vector yet: key and text."""
        return await self._database.read(lambda t: _waiting(t, self._model, limit))

    async def keep(self, vectors: Sequence[tuple[int, Sequence[float]]]) -> None:
        await self._database.write(lambda t: _keep(t, self._model, vectors), lasting=False)
        if vectors:
            await self._database.write(lambda t: _index(t, len(vectors[0][1])), lasting=False)

    async def nearest(
        self, vector: Sequence[float], workspace: str | None = None, limit: int = 20
    ) -> list[Found]:
        """The turns in which something close to it was said, closest first."""
        return await self._database.read(
            lambda t: _nearest(t, self._model, vector, workspace, limit)
        )


async def _waiting(transaction: Transaction, model: str, limit: int) -> list[tuple[int, str]]:
    rows = await transaction.rows(
        "SELECT DISTINCT contents.key, contents.codec, contents.body FROM messages"
        " JOIN contents ON contents.key = messages.content JOIN turns ON turns.key = messages.turn"
        " WHERE messages.owner = ? AND (messages.carries = '' OR messages.said = 1)"
        " AND turns.status <> 'open'"
        " AND contents.size > 0 AND NOT EXISTS (SELECT 1 FROM meanings"
        " WHERE meanings.content = contents.key AND meanings.model = ?)"
        f" ORDER BY contents.key LIMIT {int(limit)}",
        transaction.owner,
        model,
    )
    return [(key, codec.as_text(codec.unsqueeze(coding, body))) for key, coding, body in rows]


async def _keep(
    transaction: Transaction, model: str, vectors: Sequence[tuple[int, Sequence[float]]]
) -> None:
    place = "CAST(? AS halfvec)" if transaction.has_vectors else "?"
    await transaction.many(
        # A text may have been deleted while its vector was made.
        f"INSERT INTO meanings (content, model, owner, vector) SELECT key, ?, owner, {place}"
        " FROM contents WHERE key = ? AND owner = ? ON CONFLICT DO NOTHING",
        [(model, _stored(transaction, v), key, transaction.owner) for key, v in vectors],
    )


async def _index(transaction: Transaction, size: int) -> None:
    """By itself, and only if it is not there: making one waits for everybody who is writing."""
    if not transaction.has_vectors:
        return
    known = await transaction.row("SELECT to_regclass(?)", f"meanings_{size}")
    if known is None or known[0] is None:
        await transaction.run(
            f"CREATE INDEX IF NOT EXISTS meanings_{size} ON meanings"
            f" USING hnsw ((vector::halfvec({size})) halfvec_cosine_ops)"
            f" WHERE vector_dims(vector) = {size}"
        )


async def _nearest(
    transaction: Transaction,
    model: str,
    vector: Sequence[float],
    workspace: str | None,
    limit: int,
) -> list[Found]:
    find = _by_index if transaction.has_vectors else _by_all
    keys = await find(transaction, model, vector, workspace, limit * _NEAR)
    turns: dict[int, Row] = {}
    for key in keys:
        rows = await transaction.rows(
            f"{finding.FOUND} JOIN messages ON messages.turn = turns.key"
            " WHERE messages.content = ? AND (messages.carries = '' OR messages.said = 1)"
            " AND turns.owner = ?"
            f" AND turns.status <> 'open'{finding.within(workspace)} ORDER BY turns.key DESC",
            *(key, transaction.owner, *([] if workspace is None else [workspace])),
        )
        for row in rows:
            turns.setdefault(row[4], row)
    return [
        Found(
            chat, title, turn, started, finding.excerpt(await words.visible_text(transaction, key))
        )
        for chat, title, turn, started, key in list(turns.values())[:limit]
    ]


_USED = (
    " AND content IN (SELECT contents.key FROM chats JOIN contents ON contents.chat = chats.key"
    " WHERE chats.workspace = ? UNION ALL SELECT uses.content FROM chats"
    " JOIN uses ON uses.chat = chats.key WHERE chats.workspace = ?)"
)


async def _by_index(
    transaction: Transaction,
    model: str,
    vector: Sequence[float],
    workspace: str | None,
    limit: int,
) -> list[int]:
    # Rows of others, and of other workspaces, are passed over until there are enough.
    await transaction.run("SET LOCAL hnsw.iterative_scan = strict_order")
    size = len(vector)
    rows = await transaction.rows(
        f"SELECT content FROM meanings WHERE owner = ? AND model = ? AND vector_dims(vector) = {size}"
        f"{'' if workspace is None else _USED}"
        f" ORDER BY vector::halfvec({size}) <=> CAST(? AS halfvec({size})) LIMIT {int(limit)}",
        *(transaction.owner, model, *([] if workspace is None else [workspace, workspace])),
        _stored(transaction, vector),
    )
    return [key for (key,) in rows]


async def _by_all(
    transaction: Transaction,
    model: str,
    vector: Sequence[float],
    workspace: str | None,
    limit: int,
) -> list[int]:
    rows = await transaction.rows(
        "SELECT content, vector FROM meanings WHERE owner = ? AND model = ?"
        f"{'' if workspace is None else _USED}",
        *(transaction.owner, model, *([] if workspace is None else [workspace, workspace])),
    )
    unit = _unit(vector)
    width = 2 * len(unit)
    close = ((sum(map(mul, unit, _read(v))), key) for key, v in rows if len(v) == width)
    return [key for _, key in nlargest(limit, close)]


def _stored(transaction: Transaction, vector: Sequence[float]) -> bytes | str:
    """At length 1, so that the product of two is their cosine."""
    unit = _unit(vector)
    if transaction.has_vectors:
        return "[" + ",".join(f"{value:.6g}" for value in unit) + "]"
    return struct.pack(f"<{len(unit)}e", *unit)


def _read(stored: bytes) -> Iterable[float]:
    return struct.unpack(f"<{len(stored) // 2}e", stored)


def _unit(vector: Sequence[float]) -> list[float]:
    length = sum(value * value for value in vector) ** 0.5 or 1.0
    return [value / length for value in vector]
