"""One row in the store's ledger for every attempt: opened before anything is sent, settled after it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from ...core.cost import Price, PriceUnknown, cost_of, dollars
from ...errors import LimitReached
from ...ports import Store
from ...records import Attempt, Cap, OverCap, Settlement
from .transport import AttemptEnded, AttemptHook, AttemptStarted


def keep_books(
    store: Store, call: Attempt, price: Price | None, caps: Sequence[Cap] = ()
) -> AttemptHook:
    """A hook that keeps the ledger for one call and its retries; ``call.reserved`` is its worst case.

    Raises ``LimitReached``, before anything is sent, where an attempt could cross a cap, or where there is a cap
    and the price is not known.
    """
    rows: dict[str, str] = {}
    priced = replace(call, price=price)

    async def report(event: AttemptStarted | AttemptEnded) -> None:
        match event:
            case AttemptStarted():
                rows[event.id] = await _open(store, priced, caps)
            case AttemptEnded():
                cost = 0 if call.reserved == 0 else _cost(event, price)
                settled = Settlement(event.outcome, event.status, event.usage, cost)
                await store.settle_attempt(rows.pop(event.id), settled)
            case never:
                assert_never(never)

    return report


async def _open(store: Store, call: Attempt, caps: Sequence[Cap]) -> str:
    if caps and call.reserved is None:
        words = PriceUnknown(call.model).words
        raise LimitReached(words, limit=caps[0].limit, spent=0, wanted=None)
    opened = await store.open_attempt(call, caps)
    if isinstance(opened, OverCap):
        raise LimitReached(
            f"this call could cost {dollars(opened.wanted)}, and {dollars(opened.spent)} of the"
            f" {dollars(opened.cap.limit)} allowed is spent or reserved",
            limit=opened.cap.limit,
            spent=opened.spent,
            wanted=opened.wanted,
            hint="raise the limit in the settings, or ask for less",
        )
    return opened


def _cost(ended: AttemptEnded, price: Price | None) -> int | None:
    """None where it may have cost something and nobody said how much: the reservation stands then."""
    if ended.usage is not None:
        return cost_of(ended.usage, price) if price is not None else None
    was_refused = ended.status is not None and ended.status != 200
    return 0 if was_refused or ended.outcome == "unreachable" else None
