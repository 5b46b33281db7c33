"""The ledger of the store in memory."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..core.cost import Price
from ..records import Attempt, Cap, OverCap, Settlement, StoredAttempt


class MemoryLedger:
    """``new_id`` names attempts."""

    def __init__(self, clock: Callable[[], int], new_id: Callable[[], str]) -> None:
        self._clock = clock
        self._new_id = new_id
        self._rows: dict[str, StoredAttempt] = {}
        self._prices: dict[tuple[str, str, Price], int] = {}  # since when each was applied

    def open(self, attempt: Attempt, caps: Sequence[Cap]) -> str | OverCap:
        for cap in caps:
            spent = self.spent(cap)
            applies = cap.chat in (None, attempt.chat)
            if applies and spent + (attempt.reserved or 0) > cap.limit:
                return OverCap(cap, spent, attempt.reserved or 0)
        id, now = self._new_id(), self._clock()
        self._rows[id] = StoredAttempt(id, attempt, now)
        self._date(attempt, now)
        return id

    def spent(self, cap: Cap) -> int:
        return sum(
            _cost(row)
            for row in self._rows.values()
            if row.started_ms >= cap.since_ms and cap.chat in (None, row.attempt.chat)
        )

    def settle(self, attempt: str, settlement: Settlement) -> None:
        self._rows[attempt] = replace(
            self._rows[attempt], settled_ms=self._clock(), settlement=settlement
        )

    def every(self, since_ms: int, chat: str | None, turn: str | None) -> list[StoredAttempt]:
        return [
            replace(row, price_since_ms=self._since(row.attempt))
            for row in self._rows.values()
            if row.started_ms >= since_ms
            and chat in (None, row.attempt.chat)
            and turn in (None, row.attempt.turn)
        ]

    def put(self, rows: Sequence[StoredAttempt]) -> None:
        """Those of a chat that comes from elsewhere."""
        for row in rows:
            self._rows[row.id] = row
            self._date(
                row.attempt, row.started_ms if row.price_since_ms is None else row.price_since_ms
            )

    def _date(self, call: Attempt, moment: int) -> None:
        if call.price is not None:
            key = (call.model, call.endpoint, call.price)
            self._prices[key] = min(moment, self._prices.get(key, moment))

    def _since(self, call: Attempt) -> int | None:
        if call.price is None:
            return None
        return self._prices[(call.model, call.endpoint, call.price)]


def _cost(row: StoredAttempt) -> int:
    """What was paid; while that is open or unknown, what was reserved."""
    paid = row.settlement.cost if row.settlement else None
    return (row.attempt.reserved or 0) if paid is None else paid
