"""How close words are in meaning, from a table that is the same for everybody.

A word's code says for each of ``DIRECTIONS`` whether its meaning lies clearly above the middle, clearly below it, or
neither. Two codes are compared with two operations on whole numbers, so a question's words can be held against
every word of a long chat without any library for numbers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

DIRECTIONS = 256
_SHORTEST = 3  # letters of a part of a word
CODE_BYTES = 2 * DIRECTIONS // 8  # what lies above, then what lies below


@dataclass(frozen=True, slots=True)
class Code:
    """``bits`` above, then below; ``scale`` brings products to cosines."""

    bits: int
    scale: float


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Codes by stem."""

    places: Mapping[str, int]
    codes: bytes

    def code(self, term: str) -> Code | None:
        """Of the word, or of two that it is made of ("workshop"); None if it is not known."""
        bits = self._bits(term)
        for cut in range(len(term) - _SHORTEST, _SHORTEST - 1, -1) if bits is None else ():
            first, second = self._bits(term[:cut]), self._bits(term[cut:])
            if first is not None and second is not None:
                bits = _both(first, second)
                break
        return None if bits is None else _code(bits)

    def _bits(self, term: str) -> int | None:
        place = self.places.get(term)
        if place is None:
            return None
        return int.from_bytes(self.codes[place * CODE_BYTES : (place + 1) * CODE_BYTES], "big")


NO_WORDS = Lexicon({}, b"")


def _code(bits: int) -> Code:
    count = bits.bit_count()
    return Code(bits, 1 / math.sqrt(count) if count else 0.0)


def _turned(bits: int) -> int:
    """Below and above the other way round."""
    low = bits & ((1 << DIRECTIONS) - 1)
    return low << DIRECTIONS | bits >> DIRECTIONS


def _both(one: int, other: int) -> int:
    """Where either lies, unless the other lies on the other side."""
    together = one | other
    return together & ~_turned(together)


def closeness(code: Code, others: Sequence[Code | None]) -> list[float]:
    """Cosines, about; 0 where a word is not known."""
    bits, turned, scale = code.bits, _turned(code.bits), code.scale
    return [
        ((bits & other.bits).bit_count() - (turned & other.bits).bit_count()) * scale * other.scale
        if other is not None
        else 0.0
        for other in others
    ]
