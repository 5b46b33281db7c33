"""What bills teach about counting, as the ledger has it: every prediction with what was billed."""

import time

from ..core.drift import Drift, learn
from ..ports import Store
from .costs import compare

REMEMBERED_MS = 30 * 86_400_000
"""Older calls teach nothing any more: servers and models change."""


async def drift_of(
    store: Store, endpoint: str, model: str, tokenizer: str, now_ms: int | None = None
) -> Drift:
    """How good this tokenizer's predictions for the model were, over the last thirty days."""
    now = round(time.time() * 1000) if now_ms is None else now_ms
    drift = Drift()
    for row in await store.attempts(now - REMEMBERED_MS):
        made, found = row.attempt, compare(row)
        is_its = (made.endpoint, made.model, made.tokenizer) == (endpoint, model, tokenizer)
        if is_its and found is not None:
            drift = learn(drift, found.predicted, found.billed, made.ratio)
    return drift
