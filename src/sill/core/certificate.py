"""How a request was counted, and what the server said afterwards."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["exact", "bound", "estimate"]
_TRUST: dict[Kind, int] = {"exact": 0, "bound": 1, "estimate": 2}


def weakest(*kinds: Kind) -> Kind:
    """What a sum of such counts may call itself."""
    return max(kinds, key=_TRUST.__getitem__, default="exact")


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Who counts: ``id`` keys remembered counts; ``template`` is the hash of the chat template, if known.

    ``margin`` is the fraction by which a count of this kind may fall short; 0 for exact and bound.
    """

    id: str
    kind: Kind
    template: str | None = None
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens of each text of a batch, and how far they can be trusted together."""

    tokens: tuple[int, ...]
    kind: Kind


@dataclass(frozen=True, slots=True)
class Usage:
    """What the server billed. ``cached`` is the part of ``prompt`` it did not evaluate again.

    ``reasoning`` is the part of ``completion`` that was thought; ``cache_write`` the part of ``prompt``
    that was stored for later, which some providers bill higher.
    """

    prompt: int
    completion: int
    cached: int | None = None
    reasoning: int | None = None
    cache_write: int | None = None


@dataclass(frozen=True, slots=True)
class Certificate:
    """``predicted`` was counted on the whole rendered request before it was sent."""

    kind: Kind
    tokenizer: str
    predicted: int
    template: str | None = None
    actual: int | None = None

    @property
    def drift(self) -> int | None:
        """Actual minus predicted; None until the server has spoken."""
        return None if self.actual is None else self.actual - self.predicted
