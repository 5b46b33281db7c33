"""Words that mean about what a question's words mean."""

from collections.abc import Mapping, Sequence

from .lexicon import closeness
from .memory import Memory

_UNSAID = 5.0  # what a word of the question weighs that nobody used


def kin(memory: Memory, wanted: Mapping[str, float]) -> tuple[list[float], list[float]]:
    """How close the question's words are to the closest ones of each utterance, and to those of it and the last."""
    empty = [0.0] * len(memory.said)
    weights = [
        worth * (memory.words.weight(term) if term in memory.vocabulary else _UNSAID)
        for term, worth in wanted.items()
    ]
    total = sum(weights)
    if not total:
        return empty, empty
    alone, with_last = empty, empty
    for term, weight in zip(wanted, weights, strict=True):
        best = _closest(memory, _to_vocabulary(memory, term))
        both = _with_last(memory, best)
        share = weight / total
        alone = [sum + share * one for sum, one in zip(alone, best, strict=True)]
        with_last = [sum + share * one for sum, one in zip(with_last, both, strict=True)]
    return alone, with_last


def _to_vocabulary(memory: Memory, term: str) -> list[float]:
    """From 0 to 1, how close a word is to each that was used."""
    code = memory.lexicon.code(term)
    row = [0.0] * len(memory.codes) if code is None else closeness(code, memory.codes)
    if term in memory.vocabulary:
        row[memory.vocabulary[term]] = 1.0
    return row


def _closest(memory: Memory, row: Sequence[float]) -> list[float]:
    look = row.__getitem__
    return [max(map(look, numbers)) if numbers else 0.0 for numbers in memory.numbers]


def _with_last(memory: Memory, best: Sequence[float]) -> list[float]:
    """Within a sitting: what somebody answers stands beside what they were asked."""
    sittings = memory.sittings
    return [
        max(one, best[at - 1]) if at and sittings[at - 1] == sittings[at] else one
        for at, one in enumerate(best)
    ]
