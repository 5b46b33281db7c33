"""English words without their endings, after Porter (1980): *connected*, *connecting* and *connections* are one.

A word of another language loses at most what looks like an English ending, always the same way, so it is found
under its own stem.
"""

from collections.abc import Callable
from itertools import pairwise

_SHORTEST, _LONGEST = 3, 64  # UTF-8 bytes; what is shorter or longer stays as it is

# Endings and what takes their place. Of those that fit, the first alone counts: longer ones come first.
_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("logi", "log"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = tuple(
    (ending, "")
    for ending in (
        *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
        *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
    )
)
Rules = tuple[tuple[str, str], ...]


def stem(word: str) -> str:
    """The stem of a word in lower case."""
    # Bytes, each as a character, because their number decides.
    letters = word if word.isascii() else word.encode(errors="replace").decode("latin-1")
    if not _SHORTEST <= len(letters) <= _LONGEST:
        return word
    stemmed = _shortened(letters)
    return stemmed if word.isascii() else stemmed.encode("latin-1").decode(errors="replace")


def _shortened(word: str) -> str:
    word = _without_past(_without_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2, lambda left: _measure(left) > 0)
    word = _replaced(word, _STEP_3, lambda left: _measure(left) > 0)
    word = _replaced(word, _STEP_4, lambda left: _measure(left) > 1)
    if word.endswith("e"):
        left = word[:-1]
        size = _measure(left)
        if size > 1 or (size == 1 and not _ends_short(left)):
            word = left
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _without_plural(word: str) -> str:
    if not word.endswith("s"):
        return word
    if _ends(word, "sses", "ies"):
        return word[:-2]
    return word if word.endswith("ss") else word[:-1]


def _without_past(word: str) -> str:
    if _ends(word, "eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending) and _has_vowel(word[: -len(ending)]):
            return _mended(word[: -len(ending)])
    return word


def _mended(word: str) -> str:
    """What is left when *-ed* or *-ing* is gone, written as it was before that came."""
    if _ends(word, "at", "bl", "iz"):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeioulsz":
        return word[:-1]
    if _measure(word) == 1 and _ends_short(word):
        return word + "e"
    return word


def _replaced(word: str, rules: Rules, allows: Callable[[str], bool]) -> str:
    for ending, instead in rules:
        if _ends(word, ending):
            left = word[: -len(ending)]
            if ending == "ion" and not left.endswith(("s", "t")):
                return word
            return left + instead if allows(left) else word
    return word


def _ends(word: str, *endings: str) -> bool:
    """With one of them behind something else."""
    return any(len(word) > len(ending) and word.endswith(ending) for ending in endings)


def _vowels(word: str) -> list[bool]:
    """For each letter whether it is a vowel; *y* is one behind a consonant."""
    found: list[bool] = []
    for place, letter in enumerate(word):
        found.append(letter in "aeiou" or (letter == "y" and place > 0 and not found[place - 1]))
    return found


def _has_vowel(word: str) -> bool:
    return any(_vowels(word))


def _measure(word: str) -> int:
    """How often a consonant follows a vowel: about the number of syllables."""
    vowels = _vowels(word)
    return sum(before and not after for before, after in pairwise(vowels))


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant, and the last is none of *w*, *x*, *y*."""
    return _vowels(word)[-3:] == [False, True, False] and word[-1] not in "wxy"
