"""Facts that are remembered for a folder: which of them bear on a question, and what the model is told of them.

A fact goes out with a question once and is not repeated while it is in the window. One that was changed or
forgotten since is corrected there, whatever the question is about: the model still reads it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from . import envelopes
from .memory import Postings
from .messages import Epoch, Message, Remembered
from .stems import stem, terms

SHARE = 0.04  # of the room of a prompt
LEAST, MOST = 64, 1_000  # tokens of one message, whatever the share is
_FAR = 0.15  # of the best one's score: less is a chance likeness
_BEFORE = 0.5  # what a word of the last question counts in one that has hardly any of its own
_FEW = 2  # words that say what a question is about
OFTEN_TURNS, OFTEN_CHATS = 5, 2  # a document that so many turns of so many chats used is used often
_HOLLOW_WORDS = """
answer ask get give go hello help hi know let like look make mean much need now ok okay please put question say show
tell thank thing think try use want way work write yes
"""
_HOLLOW = frozenset(stem(word) for word in _HOLLOW_WORDS.split())


@dataclass(frozen=True, slots=True)
class Fact:
    id: str
    text: str


def room_for_facts(room: int) -> int:
    """Tokens that facts may take of a prompt of ``room`` tokens."""
    return min(MOST, max(LEAST, int(room * SHARE)))


def matching(texts: Sequence[str], query: str) -> list[int]:
    """Places of the texts that share a word with the query, best first; all, newest first, if it has no words.

    Words are compared and weighed as in a search of notes.
    """
    wanted = dict.fromkeys(terms(query), 1.0)
    if not wanted:
        return list(reversed(range(len(texts))))
    scores = _scores(texts, wanted)
    hits = [place for place, score in enumerate(scores) if score > 0]
    return sorted(hits, key=lambda place: (-scores[place], -place))


def bearing_on(texts: Sequence[str], question: str, before: str = "") -> list[int]:
    """Places of the texts that bear on a question, best first; ``before`` is what was asked last.

    Words that stand in any question do not count, and what is far behind the best is left out. A question with
    hardly a word of its own ("and when was that?") is about what was asked before.
    """
    own = [term for term in terms(question) if term not in _HOLLOW]
    wanted = dict.fromkeys(own, 1.0)
    if len(wanted) < _FEW:
        wanted = {term: _BEFORE for term in terms(before) if term not in _HOLLOW} | wanted
    if not wanted:
        return []
    scores = _scores(texts, wanted)
    least = _FAR * max(scores, default=0.0)
    hits = [place for place, score in enumerate(scores) if score > 0 and score >= least]
    return sorted(hits, key=lambda place: (-scores[place], -place))


def _scores(texts: Sequence[str], wanted: Mapping[str, float]) -> list[float]:
    postings = Postings()
    for place, text in enumerate(texts):
        postings.add(place, terms(text))
    return postings.scores(wanted)


# --- What the model was told ----------------------------------------------------------------------


def held(turns: Iterable[tuple[str, Sequence[Message]]], epoch: Epoch) -> dict[str, Fact]:
    """The facts that the window shows, by id, each as it was told last. ``turns`` are ids and messages."""
    turns = list(turns)
    ids = [id for id, _ in turns]
    start = ids.index(epoch.first) if epoch.first in ids else 0
    known: dict[str, Fact] = {}
    for id, messages in turns[start:]:
        for position, message in enumerate(messages):
            if isinstance(message.carries, Remembered) and (id, position) not in epoch.dropped:
                _tell(known, message, message.carries)
    return known


def _tell(known: dict[str, Fact], message: Message, carried: Remembered) -> None:
    for id in carried.withdrawn:
        known.pop(id, None)
    texts = envelopes.read(message).get("facts", [])
    for id, text in zip(carried.ids, texts, strict=False):
        known[id] = Fact(id, str(text))


@dataclass(frozen=True, slots=True)
class News:
    """``facts`` are to be told, best first, of which the first ``corrections`` in any case.

    ``withdrawn`` were told and do not hold any more.
    """

    facts: tuple[Fact, ...] = ()
    withdrawn: tuple[Fact, ...] = ()
    corrections: int = 0


def news(facts: Sequence[Fact], wanted: Sequence[Fact], shown: Mapping[str, Fact]) -> News:
    """What to tell of all the ``facts``: those ``wanted`` that are not shown, and what has become wrong."""
    now = {fact.id: fact for fact in facts}
    withdrawn = tuple(one for id, one in shown.items() if now.get(id) != one)
    changed = [now[one.id] for one in withdrawn if one.id in now]
    new = [fact for fact in wanted if fact.id not in shown]
    return News((*changed, *new), withdrawn, len(changed))


def told(facts: Sequence[Fact], withdrawn: Sequence[Fact] = ()) -> Message:
    carried = Remembered(tuple(fact.id for fact in facts), tuple(one.id for one in withdrawn))
    return envelopes.remembered(
        carried, [fact.text for fact in facts], [one.text for one in withdrawn]
    )


# --- Documents that are used often ----------------------------------------------------------------


def used_often(uses: Iterable[tuple[str, Collection[str]]]) -> list[str]:
    """Paths that at least so many turns of so many chats used. ``uses`` has each turn's chat and its paths."""
    turns: dict[str, int] = {}
    chats: dict[str, set[str]] = {}
    for chat, paths in uses:
        for path in set(paths):
            turns[path] = turns.get(path, 0) + 1
            chats.setdefault(path, set()).add(chat)
    return sorted(
        path
        for path, count in turns.items()
        if count >= OFTEN_TURNS and len(chats[path]) >= OFTEN_CHATS
    )


def about_document(path: str, summary: str) -> str:
    """What is remembered of a document that is used often."""
    return f"{path} is used often: {summary}" if summary else f"{path} is used often"
