"""Putting several rankings together, and fitting the result into a budget."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Signal = Literal["text", "meaning", "links"]

DAMPING = 10  # of reciprocal rank fusion: small, so that a first place counts


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


def spread(
    leaders: Sequence[Key],
    neighbours: Callable[[Key], Iterable[Key]],
    damping: int = DAMPING,
) -> list[tuple[Key, float]]:
    """Documents one link away from the leaders, best first.

    A leader gives its neighbours its own worth, divided among them: a hub that links to everything says
    little about each, and a note that two leaders point to is worth more than one that one does.
    """
    worth: dict[Key, float] = {}
    for place, leader in enumerate(leaders, start=1):
        around = list(dict.fromkeys(neighbours(leader)))
        for neighbour in around:
            if neighbour != leader:
                share = 1.0 / (damping + place) / len(around) ** 0.5
                worth[neighbour] = worth.get(neighbour, 0.0) + share
    return sorted(worth.items(), key=lambda pair: -pair[1])


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
