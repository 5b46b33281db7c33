"""Which earlier utterances bear on a question.

Every utterance gets a chance of being needed: a weighted sum of what its words and words close to them, its
neighbours, its sitting, its speaker, its time and (with an embedder) its meaning say. The weights were fitted on
long conversations with marked evidence; ``docs/recall.md`` has the figures.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .kin import kin
from .memory import Memory
from .periods import closeness, day_of, named
from .stems import COMMON, stem, words

_NEAR = (0.3, 0.5, 0.7, 1.0, 1.0, 1.0, 0.7, 0.5, 0.3)  # what a neighbour's words say, by distance
_LEADERS = 12  # utterances whose words widen the search
_WIDENING = 16  # words that are taken from them
_MOST_TERMS = 48  # of a question that are looked for
_SUBJECT = 0.5  # what a word of the recent subject counts beside a word of the question

# A chance is 1 / (1 + exp(-sum)): what an utterance starts with, and what a unit of each signal adds.
START_WITHOUT = -8.12
WITHOUT_MEANING = {
    "around": 0.24, "sitting": 1.75, "speaker": 0.64, "speaker's own": 0.29, "other's you": -1.3, "time": 1.96,
    "widened": 0.31, "names": 0.27, "own": -0.22, "news": 0.49, "terms": -0.74, "asks": -0.41, "tells": 0.6,
    "when and times": 0.96, "when and news": -0.55, "kin": 2.15, "kin with last": 0.45,
}  # fmt: skip
START_WITH = -8.74
WITH_MEANING = {
    "around": 0.08, "sitting": 1.76, "speaker": 0.45, "speaker's own": 0.27, "other's you": -1.31, "time": 2.01,
    "widened": 0.26, "names": 0.28, "own": -0.2, "news": 0.48, "terms": -0.43, "asks": -0.36, "tells": 0.6,
    "when and times": 0.92, "when and news": -0.53, "kin": 1.74, "kin with last": 0.41, "meaning": 0.36,
    "meaning with last": 0.12,
}  # fmt: skip

# Words that questions are made of: they say what kind of answer is wanted, and little about where it stands.
_ASKING_WORDS = """
according after any before both come consider current decide describe different do during each feel first get go happen
kind last like likely long main make many mention might more most much name new often one other plan reason recent
recently say share some sort specific still take talk tell thing think time together two type use want way year
"""
_ASKING = frozenset(stem(word) for word in _ASKING_WORDS.split())
_ASKING_COUNTS = 0.5

_ASKER = frozenset(["i", "i'm", "i've", "i'd", "my", "me", "mine"])
_ASKED = frozenset(["you", "you've", "you'd", "your", "yours"])
_POINTING_WORDS = """
else he her him his it it's its one ones same she that that's their them then there these they this those
"""
_POINTING = frozenset(_POINTING_WORDS.split())
_ADDING = re.compile(r"\s*(?:and|but|or|so|also|what about|how about|what else|why|really)\b", re.I)


_OF_TIME = re.compile(
    r"\bwhen\b|\bhow long\b|\b(?:what|which) (?:date|day|month|year)\b", re.IGNORECASE
)
_ASKS = re.compile(
    r"[?？؟]|^\s*(?:who|whom|whose|what|when|where|which|why|how|remind|recall|remember|list|name|tell)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Query:
    """``wanted`` are terms and what they count; ``text`` is what an embedder gets."""

    wanted: Mapping[str, float]
    text: str
    words: frozenset[str]  # everything in the question itself, common words too
    is_of_time: bool = False  # it asks when something was, or for how long


@dataclass(frozen=True, slots=True)
class Scored:
    """Utterance ``place`` of a memory, and its chance of being needed."""

    place: int
    chance: float


@dataclass(frozen=True, slots=True)
class Closeness:
    """Cosines of the question with each utterance, and with each utterance and the one after it."""

    alone: Sequence[float]
    with_next: Sequence[float]


def query(question: str, recent: Sequence[str] = ()) -> Query:
    """The question, and what it is about where it only points at that.

    ``recent`` are the questions before this one, the latest last. "And when was that?" is searched with the
    words of the latest one that stands by itself.
    """
    wanted = {term: _ASKING_COUNTS if term in _ASKING else 1.0 for term in _terms(question)}
    text = question
    if is_follow_up(question):
        for earlier in reversed(recent):
            for term in _terms(earlier):
                wanted.setdefault(term, _SUBJECT)
            text = f"{earlier}\n{text}"
            if not is_follow_up(earlier):
                break
    return Query(wanted, text, frozenset(words(question)), bool(_OF_TIME.search(text)))


def is_follow_up(question: str) -> bool:
    """Whether the question leans on what was said just before it."""
    spoken = words(question)
    meaning = [word for word in spoken if word not in COMMON and word not in _POINTING]
    points = bool(_ADDING.match(question)) or not _POINTING.isdisjoint(spoken)
    return not meaning or (points and len(meaning) <= 2)


def asks(text: str) -> bool:
    """Whether something is asked, rather than told: then it is likelier that an answer was given before."""
    return bool(_ASKS.search(text))


def rank(memory: Memory, asked: Query, close: Closeness | None = None) -> list[Scored]:
    """Utterances, the likeliest first; none if nothing in the question can be looked for."""
    if not memory.said or not asked.wanted:
        return []
    found = signals(memory, asked, close)
    weights, start = (
        (WITHOUT_MEANING, START_WITHOUT) if close is None else (WITH_MEANING, START_WITH)
    )
    totals = [start] * len(memory.said)
    for name, weight in weights.items():
        totals = [total + weight * value for total, value in zip(totals, found[name], strict=True)]
    order = sorted(range(len(totals)), key=lambda place: (-totals[place], place))
    return [Scored(place, 1 / (1 + math.exp(-totals[place]))) for place in order]


def signals(memory: Memory, asked: Query, close: Closeness | None = None) -> dict[str, list[float]]:
    """What speaks for each utterance, by name: the columns that the weights belong to."""
    names = memory.names
    wanted = _weightiest(memory, asked.wanted, names)
    scores = memory.words.scores(wanted)
    around = _around(scores)
    by_speaker = _by_speaker(memory, asked.words)
    about_other = [1.0 - one for one in by_speaker] if any(by_speaker) else by_speaker
    sittings = memory.by_sitting.scores(wanted, length=0.5)
    best = max(sittings, default=0.0) or 1.0
    worth, traits = memory.worth(), memory.traits
    when = float(asked.is_of_time)
    alone, with_last = kin(memory, wanted)
    found = {
        "around": around,
        "sitting": [sittings[sitting] / best for sitting in memory.sittings],
        "speaker": by_speaker,
        "speaker's own": [a * one.own for a, one in zip(by_speaker, traits, strict=True)],
        "other's you": [a * one.you for a, one in zip(about_other, traits, strict=True)],
        "time": _by_time(memory, asked.text),
        "widened": _widened(memory, wanted, _leading(memory, scores, by_speaker)),
        "names": [one.names for one in traits],
        "own": [one.own for one in traits],
        "news": [one.news for one in worth],
        "terms": [one.terms for one in worth],
        "asks": [one.asks for one in traits],
        "tells": [one.tells for one in traits],
        "when and times": [when * one.times for one in traits],
        "when and news": [when * one.news for one in worth],
        "kin": alone,
        "kin with last": _standard(with_last),
    }
    if close is not None:
        found["meaning"] = _standard(close.alone)
        found["meaning with last"] = _shifted(memory, _standard(close.with_next), 1)
    return found


def _leading(memory: Memory, scores: Sequence[float], by_speaker: Sequence[float]) -> list[float]:
    """How far each utterance leads by its words, those beside it and its speaker."""
    logs = [math.log1p(score) for score in scores]
    before, after = _shifted(memory, logs, 1), _shifted(memory, logs, -1)
    return [
        log + 0.4 * left + 0.2 * right + (0.5 * one if log else 0.0)
        for log, left, right, one in zip(logs, before, after, by_speaker, strict=True)
    ]


def _terms(text: str) -> list[str]:
    spoken = words(text)
    return [stem(word) for word in spoken if word not in COMMON and word not in _POINTING]


def _weightiest(
    memory: Memory, wanted: Mapping[str, float], names: frozenset[str]
) -> dict[str, float]:
    """The terms that can be found, in their order; of a whole page that was pasted only the rarest."""
    found = {
        term: worth
        for term, worth in wanted.items()
        if term not in names and (len(wanted) <= _MOST_TERMS or term in memory.words.places)
    }
    if len(found) <= _MOST_TERMS:
        return found
    kept = set(
        sorted(found, key=lambda term: (-found[term] * memory.weight(term), term))[:_MOST_TERMS]
    )
    return {term: worth for term, worth in found.items() if term in kept}


def _shifted(memory: Memory, values: Sequence[float], by: int) -> list[float]:
    """The value of the utterance ``by`` places before, within the sitting."""
    sittings, count = memory.sittings, len(values)
    return [
        values[at - by] if 0 <= at - by < count and sittings[at - by] == sittings[at] else 0.0
        for at in range(count)
    ]


def _around(scores: Sequence[float]) -> list[float]:
    half = len(_NEAR) // 2
    near = [0.0] * len(scores)
    for place, score in enumerate(scores):
        if score:
            for step, share in enumerate(_NEAR, start=-half):
                if 0 <= place + step < len(near):
                    near[place + step] += share * score
    return [math.log1p(value) for value in near]


def _by_speaker(memory: Memory, spoken: frozenset[str]) -> list[float]:
    """1 for what the person said whom the question is about, if it is about one."""
    stems = {stem(word) for word in spoken}
    meant = {name for name, parts in memory.speakers.items() if parts & stems}
    if not spoken.isdisjoint(_ASKER):
        meant |= {"user"} & memory.speakers.keys()
    if not spoken.isdisjoint(_ASKED):
        meant |= {"assistant"} & memory.speakers.keys()
    if len(meant) != 1:
        return [0.0] * len(memory.said)
    return [float(one.speaker in meant) for one in memory.said]


def _by_time(memory: Memory, question: str) -> list[float]:
    periods = named(question)
    if not periods:
        return [0.0] * len(memory.said)
    moments = {one.moment_ms for one in memory.said}
    years = sorted({day_of(moment).year for moment in moments})
    fits = {moment: closeness(moment, periods, years) for moment in moments}
    return [fits[one.moment_ms] for one in memory.said]


def _widened(memory: Memory, wanted: Mapping[str, float], first: Sequence[float]) -> list[float]:
    """Scores for the words that the leading utterances share: how they are put where nobody used ours."""
    leaders = sorted(range(len(first)), key=lambda place: (-first[place], place))[:_LEADERS]
    common = len(memory.said) * 0.05
    gathered: dict[str, float] = {}
    for place in leaders:
        if first[place] <= 0:
            break
        for term in dict.fromkeys(memory.terms[place]):
            if term not in wanted and len(memory.words.counts(term)) < common:
                weight = first[place] * memory.words.weight(term)
                gathered[term] = gathered.get(term, 0.0) + weight
    chosen = sorted(gathered, key=lambda term: (-gathered[term], term))[:_WIDENING]
    most = max((gathered[term] for term in chosen), default=1.0)
    scores = memory.words.scores({term: gathered[term] / most for term in chosen})
    return [math.log1p(score) for score in scores]


def _standard(values: Iterable[float]) -> list[float]:
    """The values around 0, in units of how much they differ."""
    listed = list(values)
    mean = sum(listed) / max(1, len(listed))
    spread = math.sqrt(sum((value - mean) ** 2 for value in listed) / max(1, len(listed)))
    return [(value - mean) / (spread or 1.0) for value in listed]
