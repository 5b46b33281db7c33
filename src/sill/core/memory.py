"""What was said and has left the window, ready to be searched.

A ``Memory`` grows as turns leave. It holds words, not scores: what makes an utterance worth recalling is in
``recall``.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .lexicon import NO_WORDS, Code, Lexicon
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
_YOU = frozenset(["you", "you're", "you've", "you'd", "you'll", "your", "yours"])
# Somebody tells what they did or what happened to them.
_TELLS = re.compile(
    r"\b(?:i|we|my|our)\b(?:'\w+)? (?:\w+ )?"
    r"(?:was|were|had|got|went|did|made|took|started|joined|bought|found|met|won|saw|\w+ed)\b",
    re.IGNORECASE,
)


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
    times: float
    names: float
    own: float  # the speaker talks about themselves,
    tells: float  # about what they did,
    you: float  # or about the other one


@dataclass(frozen=True, slots=True)
class Worth:
    """What the words of an utterance say, in a chat in which all the others were said."""

    terms: float  # how many there are
    news: float  # those that nobody had said before, by how much they say


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

    lexicon: Lexicon = NO_WORDS
    said: list[Utterance] = field(default_factory=list)
    terms: list[list[str]] = field(default_factory=list)
    sentences: list[tuple[Sentence, ...]] = field(default_factory=list)
    traits: list[Traits] = field(default_factory=list)
    sittings: list[int] = field(default_factory=list)  # of each utterance
    words: Postings = field(default_factory=Postings)
    by_sitting: Postings = field(default_factory=Postings)
    speakers: dict[str, frozenset[str]] = field(
        default_factory=dict
    )  # and the terms of their names
    vocabulary: dict[str, int] = field(default_factory=dict)  # every term, in order
    codes: list[Code | None] = field(default_factory=list)  # of the vocabulary
    numbers: list[tuple[int, ...]] = field(default_factory=list)  # each utterance's of it
    _fresh: list[tuple[str, ...]] = field(default_factory=list)  # terms first said in it
    _weights: dict[str, float] = field(default_factory=dict)
    _worth: list[Worth] = field(default_factory=list)
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

    def worth(self) -> list[Worth]:
        if len(self._worth) != len(self.said):
            pairs = zip(self.terms, self._fresh, strict=True)
            self._worth = [self._worth_of(found, fresh) for found, fresh in pairs]
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
        distinct = dict.fromkeys(found)
        self._fresh.append(tuple(term for term in distinct if term not in self.vocabulary))
        for term in self._fresh[-1]:
            self.vocabulary[term] = len(self.vocabulary)
            self.codes.append(self.lexicon.code(term))
        self.numbers.append(tuple(self.vocabulary[term] for term in distinct))
        self.said.append(one)
        self.terms.append(found)
        self.sentences.append(sentences(one.text))
        self.traits.append(_traits(one.text))
        self.sittings.append(sitting)
        self.words.add(place, found)
        self.by_sitting.add(sitting, found)

    def _worth_of(self, found: Sequence[str], fresh: Sequence[str]) -> Worth:
        return Worth(
            terms=math.log1p(len(set(found))),
            news=math.log1p(sum(self.weight(term) for term in fresh)),
        )


def _traits(text: str) -> Traits:
    spoken = words(text)
    return Traits(
        asks=float("?" in text),
        times=min(3.0, len(_WHEN.findall(text))),
        names=min(3.0, len(_NAME.findall(text))),
        own=min(4.0, sum(word in _OWN for word in spoken)),
        tells=float(bool(_TELLS.search(text))),
        you=min(4.0, sum(word in _YOU for word in spoken)),
    )
