"""Keeping what bills teach."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ..core.certificate import Certificate
from ..core.drift import Drift, from_json, learn, to_json

Read = Callable[[str], Awaitable[str | None]]
Write = Callable[[str, str], Awaitable[None]]


@dataclass(slots=True)
class DriftWatch:
    """One ``Drift`` per endpoint and tokenizer, read and written as small texts by key."""

    read: Read
    write: Write
    _known: dict[str, Drift] = field(default_factory=dict)

    async def of(self, endpoint: str, tokenizer: str) -> Drift:
        key = _key(endpoint, tokenizer)
        if key not in self._known:
            self._known[key] = from_json(await self.read(key))
        return self._known[key]

    async def record(self, endpoint: str, certificate: Certificate) -> Drift:
        """Learn from a certificate whose bill has come; one without a bill changes nothing."""
        before = await self.of(endpoint, certificate.tokenizer)
        if certificate.actual is None:
            return before
        after = learn(before, certificate.predicted, certificate.actual)
        if after != before:
            key = _key(endpoint, certificate.tokenizer)
            self._known[key] = after
            await self.write(key, to_json(after))
        return after


def _key(endpoint: str, tokenizer: str) -> str:
    return f"drift {endpoint} {tokenizer}"
