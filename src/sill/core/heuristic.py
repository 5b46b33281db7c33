"""How many tokens a text is, when nobody can say exactly.

Dividing characters by four is two thirds low on base64 and far high on some prose. This estimate looks
at what a text is made of: words by length and by how usual their letters are, digits, marks, runs
of space, other scripts by character. Nine real vocabularies were the measure: the estimate lies above
most of them, and where one of them needs more, ``MARGIN`` covers it.
"""

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise

MARGIN = 0.15
"""The fraction by which an estimate may fall short of the truth."""

_PIECES = re.compile(
    r"[A-Za-z0-9+/_=-]{24,}"  # too long for a word: a key, a hash, base64, or a path
    r"|[A-Z]?[a-zà-öø-ÿāăąćčďđēęěğīıłńňōőœřśşšťūůűźżžạ-ỹ]+|[A-ZÀ-ÖØ-Þ]+"
    r"| ?[0-9]+|[ \t]{2,}|[\r\n]+|[!-/:-@\[-`{-~]+|[^\x00-\x7f]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\t]"
)

# The second letters that follow a first one in all but one of fourteen places in prose and code.
_USUAL = {
    "a": "bcdfghilmnprstuvy", "b": "aeijlortuy", "c": "aehiklortu", "d": "adeilors",
    "e": "abcdefgilmnprstvwxy", "f": "aefiorstu", "g": "aehln", "h": "aeikortu",
    "i": "abcdefgklmnorstvz", "j": "e", "k": "aeo", "l": "adefilostuy", "m": "aeiopsv",
    "n": "acdefgilnostuy", "o": "bcdfiklmnoprstuvw", "p": "aefiloprtuy", "q": "u",
    "r": "acdegilmnorstuy", "s": "aceghikopstuw", "t": "aehiorstuwy", "u": "bcdeflmnprstx",
    "v": "aei", "w": "aehio", "x": "ct", "y": "pst", "z": "e",
}  # fmt: skip

# Tokens of one character, by script: first code point of the range, weight.
_SCRIPTS = (
    (0x0080, 1.3),  # Latin letters and signs that stand alone
    (0x0370, 1.05),  # Greek
    (0x0400, 0.7),  # Cyrillic
    (0x0530, 1.95),  # Armenian
    (0x0590, 1.2),  # Hebrew
    (0x0600, 1.0),  # Arabic
    (0x0700, 1.9),
    (0x0900, 1.35),  # scripts of India
    (0x0E00, 1.25),  # Thai, Lao
    (0x0F00, 2.2),
    (0x2000, 1.5),  # typographic marks, arrows, signs
    (0x2600, 2.4),  # pictures
    (0x2E80, 1.6),
    (0x3040, 1.15),  # kana
    (0x3100, 1.6),
    (0x4E00, 1.2),  # ideographs
    (0xA000, 2.6),
    (0xAC00, 1.45),  # Hangul
    (0xD7B0, 2.6),
    (0xFE00, 2.6),
    (0xFF00, 1.9),
    (0x10000, 3.8),
)


def estimate(text: str) -> int:
    """Tokens of ``text``, about; 0 only for no text."""
    if not text:
        return 0
    pieces = Counter(_PIECES.findall(text))
    words = foreign = 0
    in_words = elsewhere = 0.0
    for piece, times in pieces.items():
        if _is_word(piece):
            in_words += _weight(piece) * times
            words += times
            foreign += 0 if piece.isascii() else times
        else:
            elsewhere += _weight(piece) * times
    # Vocabularies know English best: words beside accented ones are cut finer than their letters show.
    is_foreign = foreign > 0.03 * words
    return max(1, round(in_words * (1.35 if is_foreign else 1.0) + elsewhere))


def _is_word(piece: str) -> bool:
    return piece[0].isalpha() and (piece[0] < "\u0250" or "\u1ea0" <= piece[0] <= "\u1ef9")


@lru_cache(maxsize=20_000)
def _weight(piece: str) -> float:
    first, size = piece[0], len(piece)
    if first.isascii() and size >= 24 and not piece.isspace():
        return _long_run(piece)
    if first.isdigit() and first.isascii():
        return size * 0.95
    if first == " " and size > 1 and piece[1].isdigit():  # some vocabularies leave the space alone
        return 0.6 + (size - 1) * 0.95
    if first in "\r\n":
        return 1.0 + 0.7 * (size - 1)
    if first in " \t" and size > 1:
        return 1.0 + size / 16 + 0.4 * piece.count("\t")
    if first.isascii() and not first.isalpha():
        return _marks(piece) if first.isprintable() else float(size)
    return _word(piece) if _is_word(piece) else _single(first)


def _word(word: str) -> float:
    size = len(word)
    if word.isupper() and size > 1:
        return 0.9 + 0.38 * (size - 1)
    lower = word.lower()
    rare = sum(second not in _USUAL.get(first, "") for first, second in pairwise(lower))
    foreign = sum(letter > "\x7f" for letter in lower)
    return min(size * 0.95 + foreign, 1.02 + 0.07 * max(0, size - 4) + 0.72 * rare + 0.5 * foreign)


def _marks(run: str) -> float:
    if len(set(run)) == 1:
        return 0.92 + len(run) / 10
    return 0.6 + 0.6 * (len(run) - 1)


def _long_run(run: str) -> float:
    """A hash or base64 if it mixes cases and digits at every turn; a path or a long name if it does not."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+", run)
    if len(words) > len(run) / 3.5 and any(sign.isdigit() for sign in run):
        return len(run) * 0.86
    return sum(_weight(word) if len(word) < 24 else len(word) * 0.6 for word in words)


def _single(sign: str) -> float:
    code = ord(sign)
    weight = 1.0
    for start, tokens in _SCRIPTS:
        if code < start:
            break
        weight = tokens
    return weight
