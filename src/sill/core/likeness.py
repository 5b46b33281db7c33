"""A vocabulary that nobody publishes, told from one that is known.

Counts of such models were compared with those of a published vocabulary, text by text (see ``docs/counting.md``). The
differences have few causes: a newer vocabulary cuts words finer, some take every digit for a token, some mark capital
letters, and scripts other than Latin cost more than OpenAI's vocabulary makes one believe.
"""

import math
import re
from dataclasses import dataclass

from .heuristic import estimate

_DIGITS = re.compile(r"[0-9]+")
_MARKED_ENDS = re.compile(r"[^\w\s]\n")
_SHOUTED = re.compile(r"(?<![a-z])[A-Z]{2,}")
_CAPITALS = re.compile(r"[A-Z][a-z]")


@dataclass(frozen=True, slots=True)
class Likeness:
    """What to make of a known vocabulary's count of a text.

    ``ratio`` scales it. ``shouted`` is added for each letter of a word in capitals and ``capital`` for each word that
    begins with one. ``least`` is the part of the plain estimate that is never gone below.
    """

    ratio: float = 1.0
    splits_digits: bool = (
        False  # every digit is a token, and a mark shares none with the end of its line
    )
    shouted: float = 0.0
    capital: float = 0.0
    least: float = 0.0

    def tokens(self, text: str, known: int) -> int:
        """Tokens of ``text``, about, of which the known vocabulary makes ``known``; 0 only for no text."""
        if self.splits_digits:
            # The known vocabulary takes three digits at a time.
            known += sum(len(run) - math.ceil(len(run) / 3) for run in _DIGITS.findall(text))
            known += len(_MARKED_ENDS.findall(text))
        total = self.ratio * known
        if self.shouted:
            total += self.shouted * sum(map(len, _SHOUTED.findall(text)))
        if self.capital:
            total += self.capital * len(_CAPITALS.findall(text))
        return math.ceil(max(total, self.least * estimate(text)))
