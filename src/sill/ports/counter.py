"""Whoever counts the way a model does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ..core.certificate import Counts, Tokenizer
from ..core.request import ChatRequest


@dataclass(frozen=True, slots=True)
class Overhead:
    """What a request costs beside the texts in it: never less than the truth.

    ``message`` is per message by role, ``request`` once, ``default_system`` when no system message leads,
    ``tool_call`` for each call a message makes, beside its arguments and twice its name (the result repeats it).
    """

    message: Mapping[str, int]
    request: int
    default_system: int = 0
    tool_call: int = 0
    quotes_parallel: bool = False  # calls made at once, and their results, are billed with escapes


class TokenCounter(Protocol):
    """Counts the way one model does. Never raises, never blocks past its time-out."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    async def count(self, texts: Sequence[str]) -> Counts:
        """Each text alone, as plain text; one batch, one call."""
        ...

    async def count_request(self, request: ChatRequest) -> Counts:
        """The whole rendered request as the server will count it: one number."""
        ...

    async def overhead(self) -> Overhead: ...
