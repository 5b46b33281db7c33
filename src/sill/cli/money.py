"""Amounts on their way out."""

from ..core.cost import DOLLAR


def in_dollars(amount: int | None) -> float | None:
    """None stays None: a price nobody knows is not the same as nothing."""
    return None if amount is None else amount / DOLLAR
