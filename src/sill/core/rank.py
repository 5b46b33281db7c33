"""Putting several rankings together, and fitting the result into a budget."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Signal = Literal["named", "text", "meaning", "links"]

DAMPING = 8  # of reciprocal rank fusion: small, so that a first place counts


@dataclass(frozen=True, slots=True)
class Ranking:
    """One signal's opinion, best first."""

    signal: Signal
    keys: tuple[int, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage, its score, and its place in each signal's ranking, from 1: why it is here."""

    key: int
    score: float
    places: Mapping[Signal, int]


def fuse(rankings: Sequence[Ranking], damping: int = DAMPING) -> list[Ranked]:
    """Reciprocal rank fusion: a place near the front of any ranking counts, scores need not compare."""
    scores: dict[int, float] = {}
    places: dict[int, dict[Signal, int]] = {}
    for ranking in rankings:
        for place, key in enumerate(ranking.keys, start=1):
            scores[key] = scores.get(key, 0.0) + ranking.weight / (damping + place)
            places.setdefault(key, {})[ranking.signal] = place
    # Equal scores keep the order in which the rankings named them: the result never depends on hashing.
    order = sorted(scores, key=lambda key: -scores[key])
    return [Ranked(key, scores[key], places[key]) for key in order]


def spread(shares: Iterable[tuple[Sequence[Key], float]]) -> dict[Key, float]:
    """What each key gets when every share is divided among its keys.

    A hub that points to everything says little about each; what two shares point to gets both. The
    divisor is the square root, so that a note with four links still says half of what one link would.
    """
    worth: dict[Key, float] = {}
    for keys, amount in shares:
        for key in keys:
            worth[key] = worth.get(key, 0.0) + amount / len(keys) ** 0.5
    return worth


def one_per(items: Iterable[Item], group: Callable[[Item], Hashable], most: int = 1) -> list[Item]:
    """The items in order, at most ``most`` of each group."""
    counts: dict[Hashable, int] = {}
    kept: list[Item] = []
    for item in items:
        counts[group(item)] = counts.get(group(item), 0) + 1
        if counts[group(item)] <= most:
            kept.append(item)
    return kept


def fit(items: Iterable[Item], tokens: Callable[[Item], int], budget: int) -> list[Item]:
    """The items, best first, that fit together; one that is too large is passed over, not cut."""
    kept: list[Item] = []
    left = budget
    for item in items:
        if (size := tokens(item)) <= left:
            kept.append(item)
            left -= size
    return kept


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search brought up; ``places`` says which signals wanted it, and how much."""

    path: str
    lines: tuple[int, int]
    text: str
    headings: tuple[str, ...] = ()
    fingerprint: str = ""
    score: float = 0.0
    places: Mapping[Signal, int] = field(default_factory=dict)
