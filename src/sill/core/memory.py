"""What was said and has left the window, ready to be searched.

A ``Memory`` grows as turns leave. It holds words, not scores: what makes an utterance worth recalling is in
``recall``.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .stems import COMMON, stem, terms, words

SITTING_MS = 3_600_000  # a longer silence begins a new sitting

# "Ann: see you at ten" in a chat of several people, or in one that was pasted.
_SPEAKER = re.compile(r"\s*([^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}): +(?=\S)")
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s)|[。！？]+[」』”]?|\n|\s(?=\[)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")
_OWN = frozenset(
    [
        "i",
        "i'm",
        "i've",
        "i'd",
        "i'll",
        "my",
        "me",
        "mine",
        "we",
        "we're",
        "we've",
        "our",
        "ours",
        "us",
    ]
)
_WHEN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|just|(?:week|month|year|day)s?|weekend"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|morning|night|spring|summer|autumn|fall|winter|january|february"
    r"|march|april|may|june|july|august|september|october|november|december|\d+)\b",
    re.IGNORECASE,
)
_ANSWERING_WORDS = """
awesome congrats congratulations cool glad great nice no sounds thank thanks that's wow yeah yep yes you're
"""
_ANSWERING = frozenset(_ANSWERING_WORDS.split())


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one person (or the model) said in one turn; ``number`` is how the turn is cited."""

    turn: str
    number: int
    speaker: str
    moment_ms: int
    text: str


def utterance(turn: str, number: int, moment_ms: int, role: str, text: str) -> Utterance:
    """The speaker is named at the beginning of the text, or is the role."""
    named = _SPEAKER.match(text)
    if named is None or stem(named[1].lower()) in COMMON:
        return Utterance(turn, number, role, moment_ms, text)
    return Utterance(turn, number, named[1], moment_ms, text[named.end() :])


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    terms: frozenset[str]


def sentences(text: str) -> tuple[Sentence, ...]:
    """The text in pieces, nothing left out but the space between them."""
    cuts = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    pieces = (text[first:last].strip() for first, last in pairwise(cuts))
    return tuple(Sentence(piece, frozenset(terms(piece))) for piece in pieces if piece)


@dataclass(frozen=True, slots=True)
class Traits:
    """What can be told about an utterance before any question is asked."""

    asks: float
    opens: float  # the first of its sitting
    times: float
    names: float
    own: float  # the speaker talks about themselves
    answers: float  # it begins like an echo of what was said before


@dataclass(slots=True)
class Postings:
    """In which texts each term stands, how often, and how long the texts are.

    Most pairs of words are said once in a chat: for those the number of the text alone is kept.
    """

    places: dict[str, int | dict[int, int]] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)

    def add(self, place: int, found: Sequence[str]) -> None:
        """Text number ``place`` is new, or goes on with these terms."""
        if place == len(self.lengths):
            self.lengths.append(0)
        self.lengths[place] += len(found)
        for term in found:
            known = self.places.get(term)
            if known is None:
                self.places[term] = place
                continue
            if isinstance(known, int):
                known = self.places[term] = {known: 1}
            known[place] = known.get(place, 0) + 1

    def counts(self, term: str) -> Mapping[int, int]:
        """How often the term stands in each text that has it."""
        found = self.places.get(term)
        if found is None:
            return {}
        return {found: 1} if isinstance(found, int) else found

    def weight(self, term: str) -> float:
        """How much it says that a text has this term."""
        texts = len(self.counts(term))
        return math.log(1 + (len(self.lengths) - texts + 0.5) / (texts + 0.5))

    def scores(
        self, wanted: Mapping[str, float], saturation: float = 1.2, length: float = 0.4
    ) -> list[float]:
        """BM25 of every text for the weighted terms."""
        scores = [0.0] * len(self.lengths)
        average = sum(self.lengths) / max(1, len(self.lengths)) or 1.0
        for term, worth in wanted.items():
            found = self.counts(term)
            if not found:
                continue
            gain = worth * self.weight(term) * (saturation + 1)
            for place, count in found.items():
                norm = saturation * (1 - length + length * self.lengths[place] / average)
                scores[place] += gain * count / (count + norm)
        return scores


@dataclass(slots=True)
class Memory:
    """Utterances in the order in which they were said, and what a search needs to know of them."""

    said: list[Utterance] = field(default_factory=list)
    terms: list[list[str]] = field(default_factory=list)
    sentences: list[tuple[Sentence, ...]] = field(default_factory=list)
    traits: list[Traits] = field(default_factory=list)
    sittings: list[int] = field(default_factory=list)  # of each utterance
    words: Postings = field(default_factory=Postings)
    pairs: Postings = field(default_factory=Postings)  # of words side by side
    by_sitting: Postings = field(default_factory=Postings)
    speakers: dict[str, frozenset[str]] = field(
        default_factory=dict
    )  # and the terms of their names
    _weights: dict[str, float] = field(default_factory=dict)
    _worth: list[tuple[float, float]] = field(default_factory=list)
    _sentence_worth: dict[int, list[float]] = field(default_factory=dict)

    def add(self, utterances: Iterable[Utterance]) -> None:
        for one in utterances:
            self._add(one)
        # A word's weight depends on everything that was said.
        self._weights, self._worth, self._sentence_worth = {}, [], {}

    @property
    def names(self) -> frozenset[str]:
        """Terms of speakers' names: they say who, and nothing about what."""
        return frozenset().union(*self.speakers.values())

    def weight(self, term: str) -> float:
        """How much it says that this word was used; nothing where it never was."""
        weight = self._weights.get(term)
        if weight is None:
            weight = self.words.weight(term) if term in self.words.places else 0.0
            self._weights[term] = weight
        return weight

    def worth(self) -> list[tuple[float, float]]:
        """For each utterance how much its words say together, and how rare its rarest are."""
        if len(self._worth) != len(self.said):
            self._worth = [_worth([self.weight(term) for term in found]) for found in self.terms]
        return self._worth

    def sentence_worth(self, place: int) -> list[float]:
        """How much the words of each sentence of an utterance say together."""
        known = self._sentence_worth.get(place)
        if known is None:
            # In a fixed order: sums of the same numbers differ by the order in which they are added.
            known = [
                sum(self.weight(term) for term in sorted(sentence.terms))
                for sentence in self.sentences[place]
            ]
            self._sentence_worth[place] = known
        return known

    def _add(self, one: Utterance) -> None:
        if one.speaker not in self.speakers:
            self.speakers[one.speaker] = frozenset(stem(word) for word in words(one.speaker))
        names = self.names
        found = [term for term in terms(one.text) if term not in names]
        place = len(self.said)
        last = self.said[-1] if self.said else None
        opens = last is None or one.moment_ms - last.moment_ms > SITTING_MS
        sitting = (self.sittings[-1] if self.sittings else -1) + opens
        self.said.append(one)
        self.terms.append(found)
        self.sentences.append(sentences(one.text))
        self.traits.append(_traits(one.text, opens))
        self.sittings.append(sitting)
        self.words.add(place, found)
        self.pairs.add(place, [f"{first} {second}" for first, second in pairwise(found)])
        self.by_sitting.add(sitting, found)


def _traits(text: str, opens: bool) -> Traits:
    spoken = words(text)
    counts = Counter(word in _OWN for word in spoken)
    return Traits(
        asks=float(text.partition("[")[0].rstrip().endswith("?")),
        opens=float(opens),
        times=min(3.0, len(_WHEN.findall(text))),
        names=min(3.0, len(_NAME.findall(text))),
        own=min(4.0, counts[True]),
        answers=float(bool(spoken) and spoken[0] in _ANSWERING),
    )


def _worth(weights: list[float]) -> tuple[float, float]:
    rarest = sorted(weights)[-4:]
    return math.log1p(sum(weights)), sum(rarest) / len(rarest) if rarest else 0.0
