"""What calls cost: one row per attempt, reserved before the call and settled after it."""

from collections.abc import Sequence
from dataclasses import replace

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
        " predicted, tokenizer, ratio, price)"
        f" VALUES (?, ?, ?, ?, ?, ?, ?, {transaction.now}, ?, ?, ?, ?, ?)",
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
        await _price_key(transaction, attempt),
    )
    return None


async def _price_key(transaction: Transaction, attempt: Attempt) -> int | None:
    """The row of the price that applies, made when it is new; None if nobody knows it."""
    if attempt.price is None:
        return None
    named = (transaction.owner, attempt.model, attempt.endpoint, codec.price_text(attempt.price))
    found = await _price_row(transaction, named)
    if found is None:
        await transaction.run(
            "INSERT INTO prices (owner, model, endpoint, body, since)"
            f" VALUES (?, ?, ?, ?, {transaction.now}) ON CONFLICT DO NOTHING",
            *named,
        )
        found = await _price_row(transaction, named)
    assert found is not None
    key: int = found[0]
    return key


async def _price_row(transaction: Transaction, named: Row) -> Row | None:
    return await transaction.row(
        "SELECT key FROM prices WHERE owner = ? AND model = ? AND endpoint = ? AND body = ?", *named
    )


async def date_price(transaction: Transaction, attempt: str, since_ms: int) -> None:
    """The price of this attempt is known to have been applied as early as that."""
    await transaction.run(
        "UPDATE prices SET since = ? WHERE owner = ? AND since > ?"
        " AND key = (SELECT price FROM attempts WHERE owner = ? AND id = ?)",
        since_ms,
        transaction.owner,
        since_ms,
        transaction.owner,
        attempt,
    )


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
        "SELECT id, category, attempts.model, attempts.endpoint, chat, turn, predicted, reserved,"
        " tokenizer, ratio, prices.body, prices.since, started, settled, outcome, status, usage, cost"
        " FROM attempts LEFT JOIN prices ON prices.key = attempts.price"
        " WHERE attempts.owner = ? AND started >= ?"
        + "".join(f" AND {name} = ?" for name, _ in given)
        + " ORDER BY started, attempts.key",
        transaction.owner,
        since_ms,
        *(value for _, value in given),
    )
    return [_attempt(row) for row in rows]


def _attempt(row: Row) -> StoredAttempt:
    id, *fields = row[:10]
    price, since, started, settled, outcome, status, usage, cost = row[10:]
    settlement = Settlement(outcome, status, codec.usage(usage), cost)
    return StoredAttempt(
        id,
        replace(Attempt(*fields), price=None if price is None else codec.price(price)),
        started,
        settled,
        None if settled is None else settlement,
        since,
    )
