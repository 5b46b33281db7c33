"""What a conversation was about, in sentences of its own: no model, the same input gives the same gist.

A sentence is worth more when its words come up again and again in this conversation without being common in
every part of it, when it settles something, and when it says what no sentence chosen before it has said.
"""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

from .memory import Memory
from .recall_room import ENOUGH

LEAST = 150  # tokens: a gist of fewer says nothing, and recall makes better use of them
MOST = 600
GIST_SHARE = 0.05  # of the room
TRAIL_SHARE = 0.10  # of the room, at most, for files and decisions

_SHORTEST, _LONGEST = 20, 240  # characters of a sentence
_COVERED = 0.35  # what a word that was used already still counts
_ONCE = 0.25  # what a word counts that was used once, beside one that was used e times
_PER_TURN = 2  # sentences of one utterance
_SETTLES = re.compile(
    r"\b(?:decid|agree|settle|chose|choose|conclu|must|should|never|always|instead|prefer|because|plan to|let's"
    r"|we(?:'ll| will)|i(?:'ll| will)|don't|do not|want|need|use|done|fixed|works|result|total|deadline|remember)",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One line of a gist: what was said, by whom, in which turn."""

    place: int
    at: int
    line: str


def gist_room(room: int) -> int:
    """Tokens for the gist in a prompt of so many; none where a few would say nothing."""
    share = min(MOST, int(room * GIST_SHARE))
    return share if share >= LEAST else 0


def trail_room(room: int) -> int:
    return min(ENOUGH, int(room * TRAIL_SHARE))


def gist(memory: Memory, inside: Collection[str], most: int) -> list[Sentence]:
    """The sentences that say most of what was said outside of the turns ``inside``, the best first."""
    weights: dict[str, float] = {}
    waiting: list[tuple[float, int, int]] = []
    for place, at in _candidates(memory, inside):
        for term in memory.sentences[place][at].terms:
            if term not in weights:
                weights[term] = _weight(memory, term)
        waiting.append((-_value(memory, (place, at), weights), place, at))
    heapify(waiting)
    used: dict[int, int] = {}
    chosen: list[Sentence] = []
    while waiting and len(chosen) < most:
        known, place, at = waiting[0]
        if used.get(place, 0) >= _PER_TURN:
            heappop(waiting)
            continue
        # Words only lose by being used, so one that is still worth what it was is worth more than all below it.
        value = -_value(memory, (place, at), weights)
        if value != known:
            heapreplace(waiting, (value, place, at))
            continue
        heappop(waiting)
        used[place] = used.get(place, 0) + 1
        for term in memory.sentences[place][at].terms:
            weights[term] *= _COVERED
        said = memory.said[place]
        text = _SPACE.sub(" ", memory.sentences[place][at].text)
        chosen.append(Sentence(place, at, f"{said.number} {_SPACE.sub(' ', said.speaker)}: {text}"))
    return chosen


def fit(sentences: Sequence[Sentence], tokens: Sequence[int], room: int) -> str:
    """As many of them as fit, in the order in which they were said."""
    kept: list[Sentence] = []
    for sentence, size in zip(sentences, tokens, strict=True):
        if size <= room:
            kept.append(sentence)
            room -= size
    return "\n".join(one.line for one in sorted(kept, key=lambda one: (one.place, one.at)))


def shortened(text: str, tokens: int, room: int) -> str:
    """Text of so many tokens cut to about ``room`` of them, at the end of a sentence if there is one."""
    if tokens <= room:
        return text
    cut = text[: len(text) * room // max(1, tokens)]
    end = max(cut.rfind(mark) for mark in (". ", "! ", "? ", "\n"))
    return cut[: end + 1].rstrip() if end > len(cut) // 2 else cut.rsplit(" ", 1)[0]


def _candidates(memory: Memory, inside: Collection[str]) -> list[tuple[int, int]]:
    return [
        (place, at)
        for place, said in enumerate(memory.said)
        if said.turn not in inside
        for at, sentence in enumerate(memory.sentences[place])
        if _SHORTEST <= len(sentence.text) <= _LONGEST and len(sentence.terms) > 2
    ]


def _weight(memory: Memory, term: str) -> float:
    """How much of the conversation a word is: it comes up again, but not everywhere."""
    uses = sum(memory.words.counts(term).values())
    return memory.weight(term) * (_ONCE + math.log(max(1, uses)))


def _value(memory: Memory, one: tuple[int, int], weights: dict[str, float]) -> float:
    # In a fixed order: sums of the same numbers differ by the order in which they are added.
    total = sum(weights[term] for term in sorted(memory.sentences[one[0]][one[1]].terms))
    return _scale(memory, *one) * total


def _scale(memory: Memory, place: int, at: int) -> float:
    """What a sentence's words count for by its form: its length, whether it settles something, how late it is."""
    text = memory.sentences[place][at].text
    scale = 1.0 / math.sqrt(max(40, len(text)))
    if text.endswith("?"):
        scale *= 0.6
    if _SETTLES.search(text):
        scale *= 1.3
    return scale * (0.8 + 0.4 * (place + 1) / len(memory.said))
