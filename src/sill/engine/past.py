"""The memories of chats: what left their windows, ready to be searched, summed up and followed."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..core import compact, trail
from ..core.compact import Sentence
from ..core.memory import Memory, Utterance, utterance
from ..core.trail import Touch
from ..lexicon import load
from ..ports import Embedder, History, StoredTurn
from .vectors import Vectors

OPEN_CHATS = 8  # whose memories are kept ready
KEPT_GISTS = 4  # of each
CLEARLY = 0.01  # the chance from which a question asks for something that is not in the window


@dataclass(slots=True)
class Shelf:
    """The memory of one chat: ``turns`` are those in it by id, oldest first, with their numbers."""

    memory: Memory = field(default_factory=Memory)
    turns: dict[str, int] = field(default_factory=dict)
    touches: list[tuple[str, Touch]] = field(default_factory=list)  # of files, by turn
    requests: dict[str, str] = field(default_factory=dict)  # what the user said, by turn
    written: dict[str, str] = field(default_factory=dict)  # summaries by a model, by last turn
    vectors: Vectors | None = None
    _gists: dict[tuple[int, frozenset[str], int], list[Sentence]] = field(default_factory=dict)

    def gist(self, inside: frozenset[str], most: int) -> list[Sentence]:
        """As ``compact.gist`` says; the last ones are kept, because one plan asks more than once."""
        key = (len(self.memory.said), inside, most)
        if key not in self._gists:
            found = compact.gist(self.memory, inside, most)
            self._gists = dict([*self._gists.items(), (key, found)][-KEPT_GISTS:])
        return self._gists[key]

    def add(self, turns: Iterable[StoredTurn]) -> None:
        for turn in turns:
            self.memory.add(spoken(turn))
            self.turns[turn.id] = turn.sequence
            found = trail.touches(turn.sequence, turn.messages, turn.references)
            self.touches += [(turn.id, touch) for touch in found]
            asked = [m.text for m in turn.messages if m.role == "user" and m.carries is None]
            self.requests[turn.id] = asked[-1] if asked else ""


class Turns(Protocol):
    """Who knows the turns of a chat: a store, or a client that sends all of them every time."""

    async def turns(self, chat: str, limit: int | None = None) -> list[StoredTurn]: ...


@dataclass(slots=True)
class Recollection:
    """The memories of chats. Turns are taken in as they leave the window; without an embedder, by words."""

    store: Turns
    embedder: Embedder | None = None
    recalls: bool = True  # without it, memories are kept for summaries alone
    # The chances from which a recall may fill its slot, and from which the window gives way (see ``recall_room``).
    least: float = 0.0
    insists: float = CLEARLY
    # What is found depends on the history alone, never on what was looked for before.
    is_repeatable: bool = False
    _shelves: OrderedDict[str, Shelf] = field(default_factory=OrderedDict)

    async def shelf(self, chat: str, history: History) -> Shelf:
        """What left the window before this epoch, and perhaps turns of it that were about to leave."""
        shelf = self._shelves.pop(chat, None)
        is_other = self.is_repeatable and shelf is not None and len(shelf.turns) != history.earlier
        if shelf is None or is_other or not _continues(list(shelf.turns), history):
            shelf = Shelf(Memory(load()), vectors=Vectors(self.embedder) if self.embedder else None)
            if history.earlier:
                shelf.add(_way_to(history.turns[0], await self.store.turns(chat)))
        self._shelves[chat] = shelf
        while len(self._shelves) > OPEN_CHATS:
            self._shelves.popitem(last=False)
        return shelf

    async def settled(self) -> None:
        """Until every memory has its vectors."""
        for shelf in self._shelves.values():
            if shelf.vectors is not None:
                await shelf.vectors.settled()

    async def close(self) -> None:
        for shelf in self._shelves.values():
            if shelf.vectors is not None:
                await shelf.vectors.close()


def spoken(turn: StoredTurn) -> list[Utterance]:
    """What people and the model said in it, without files, tools and recalls."""
    return [
        utterance(turn.id, turn.sequence, turn.started_ms, message.role, message.text)
        for message in turn.messages
        if message.is_talk
    ]


def _continues(known: Sequence[str], history: History) -> bool:
    """Whether a memory of these turns is the one that this history goes on from."""
    if len(known) < history.earlier or (history.earlier and not history.turns):
        return False
    if history.earlier and known[history.earlier - 1] != history.turns[0].parent:
        return False
    rest = known[history.earlier :]
    return rest == [turn.id for turn in history.turns[: len(rest)]]


def _way_to(turn: StoredTurn, turns: Sequence[StoredTurn]) -> list[StoredTurn]:
    """The turns that led to this one, oldest first."""
    by_id = {one.id: one for one in turns}
    way: list[StoredTurn] = []
    at = turn.parent
    while at is not None and at in by_id:
        way.append(by_id[at])
        at = by_id[at].parent
    return way[::-1]
