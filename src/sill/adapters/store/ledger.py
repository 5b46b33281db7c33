"""What calls cost: one row per attempt, reserved before the call and settled after it."""

from collections.abc import Sequence

from ...records import Attempt, Cap, OverCap, Settlement, StoredAttempt
from . import codec
from .database import Row, Transaction


async def begin(
    transaction: Transaction, id: str, attempt: Attempt, caps: Sequence[Cap]
) -> OverCap | None:
    """None if the attempt is written; two at once cannot both take the last of a cap."""
    if caps and not transaction.is_sqlite:
        # SQLite has one writer anyway.
        await transaction.rows(
            "SELECT pg_advisory_xact_lock(hashtextextended('sill.caps/' || ?, 0))",
            transaction.owner,
        )
    wanted = attempt.reserved or 0
    for cap in caps:
        if cap.chat in (None, attempt.chat):
            before = await spent(transaction, cap)
            if before + wanted > cap.limit:
                return OverCap(cap, before, wanted)
    await transaction.run(
        "INSERT INTO attempts (owner, id, chat, turn, category, model, endpoint, started, reserved,"
        f" predicted, tokenizer, ratio) VALUES (?, ?, ?, ?, ?, ?, ?, {transaction.now}, ?, ?, ?, ?)",
        transaction.owner,
        id,
        attempt.chat,
        attempt.turn,
        attempt.category,
        attempt.model,
        attempt.endpoint,
        attempt.reserved,
        attempt.predicted,
        attempt.tokenizer,
        attempt.ratio,
    )
    return None


async def spent(transaction: Transaction, cap: Cap) -> int:
    """What was paid; where that is open or unknown, what was reserved."""
    row = await transaction.row(
        "SELECT COALESCE(SUM(COALESCE(cost, reserved, 0)), 0) FROM attempts"
        " WHERE owner = ? AND started >= ?" + ("" if cap.chat is None else " AND chat = ?"),
        transaction.owner,
        cap.since_ms,
        *([] if cap.chat is None else [cap.chat]),
    )
    return int(row[0]) if row else 0


async def settle(transaction: Transaction, id: str, settlement: Settlement) -> None:
    await transaction.run(
        f"UPDATE attempts SET settled = {transaction.now}, outcome = ?, status = ?, usage = ?,"
        " cost = ? WHERE owner = ? AND id = ?",
        settlement.outcome,
        settlement.status,
        codec.usage_text(settlement.usage),
        settlement.cost,
        transaction.owner,
        id,
    )


async def every(
    transaction: Transaction, since_ms: int, chat: str | None, turn: str | None
) -> list[StoredAttempt]:
    given = [(name, value) for name, value in (("chat", chat), ("turn", turn)) if value is not None]
    rows = await transaction.rows(
        "SELECT id, category, model, endpoint, chat, turn, predicted, reserved, tokenizer,"
        " ratio, started, settled, outcome, status, usage, cost FROM attempts WHERE owner = ? AND started >= ?"
        + "".join(f" AND {name} = ?" for name, _ in given)
        + " ORDER BY started, key",
        transaction.owner,
        since_ms,
        *(value for _, value in given),
    )
    return [_attempt(row) for row in rows]


def _attempt(row: Row) -> StoredAttempt:
    id, *fields = row[:10]
    started, settled, outcome, status, usage, cost = row[10:]
    settlement = Settlement(outcome, status, codec.usage(usage), cost)
    return StoredAttempt(
        id, Attempt(*fields), started, settled, None if settled is None else settlement
    )
