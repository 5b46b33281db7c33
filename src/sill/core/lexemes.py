"""The words of a text as a search compares them: in lower case, without accents, without English endings.

The same as SQLite's full text with ``porter unicode61 remove_diacritics 2``, so that a database whose own
words depend on its version and its locale finds the same texts.
"""

import re
import unicodedata
from functools import lru_cache

from .porter import stem

_LONGEST = 500  # characters; the rest of a longer word is not looked at

# Letters and numbers of all scripts, and private characters; accents that stand alone only inside a word.
_LETTER = r"[^\W_]|[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]"
_ACCENT = "\u0300-\u0331"
_WORD = re.compile(rf"(?:{_LETTER})(?:{_LETTER}|[{_ACCENT}])*+")
_ASCII_WORD = re.compile("[a-z0-9]+")
_ACCENTS = re.compile(f"[{_ACCENT}]")


def lexemes(text: str) -> list[str]:
    """One for each word, in order."""
    if text.isascii():
        return [_lexeme(word) for word in _ASCII_WORD.findall(text.lower())]
    return [_lexeme(word) for word in _WORD.findall(text)]


@lru_cache(maxsize=200_000)
def _lexeme(word: str) -> str:
    plain = word if word.isascii() else "".join(map(_plain, _ACCENTS.sub("", word)))
    return stem(plain.lower()[:_LONGEST])


@lru_cache(maxsize=10_000)
def _plain(character: str) -> str:
    """A Latin letter without what stands above or below it; every other one as it is, in lower case."""
    base = unicodedata.normalize("NFD", character)[0]
    if base.isascii():
        return base.lower()
    small = character.casefold()
    # Where it would become several letters it stays as it is: one letter is one letter.
    return small if len(small) == 1 else character
