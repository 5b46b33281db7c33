"""What has left the window comes back when a question needs it.

``planned`` is ``plan_context`` with recall: it finds out which turns will be outside of the window, looks
through them, and plans again with the passages that were found.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..core import excerpts
from ..core.budget import Budget
from ..core.excerpts import Quote
from ..core.memory import Memory, Utterance, utterance
from ..core.messages import Epoch, Message, Sized, Turn
from ..core.offers import FileOffer
from ..core.plan import Ask, OverBudget, Plan, plan_context
from ..core.recall import Query, Scored, query, rank
from ..core.recall_room import leaving, quoted, reserving, slot
from ..ports import Embedder, History, StoredTurn
from .sizing import Sizer
from .vectors import Vectors

OPEN_CHATS = 8  # whose memories are kept ready
CLEARLY = 0.01  # the chance from which a question asks for something that is not in the window
CHARACTERS = 4  # of a token, about


@dataclass(slots=True)
class _Shelf:
    """The memory of one chat: ``turns`` are the ids of those in it, oldest first."""

    memory: Memory = field(default_factory=Memory)
    turns: list[str] = field(default_factory=list)
    vectors: Vectors | None = None

    def add(self, turns: Iterable[StoredTurn]) -> None:
        for turn in turns:
            self.memory.add(spoken(turn))
            self.turns.append(turn.id)


class Turns(Protocol):
    """Who knows the turns of a chat: a store, or a client that sends all of them every time."""

    async def turns(self, chat: str, limit: int | None = None) -> list[StoredTurn]: ...


@dataclass(slots=True)
class Recollection:
    """The memories of chats. Turns are taken in as they leave the window; without an embedder, by words."""

    store: Turns
    embedder: Embedder | None = None
    least: float = 0.0  # chance below which nothing is recalled: small talk needs no memory
    insists: float = (
        CLEARLY  # chance from which the window gives way; each time costs the server's cache
    )
    # What is found depends on the history alone, never on what was looked for before.
    is_repeatable: bool = False
    _shelves: OrderedDict[str, _Shelf] = field(default_factory=OrderedDict)

    async def shelf(self, chat: str, history: History) -> _Shelf:
        """What left the window before this epoch, and perhaps turns of it that were about to leave."""
        shelf = self._shelves.pop(chat, None)
        is_other = self.is_repeatable and shelf is not None and len(shelf.turns) != history.earlier
        if shelf is None or is_other or not _continues(shelf.turns, history):
            shelf = _Shelf(vectors=Vectors(self.embedder) if self.embedder else None)
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


@dataclass(frozen=True, slots=True)
class Recalling:
    """One question, the chat it is asked in, and who can count."""

    recollection: Recollection
    chat: str
    question: str
    history: History
    sizer: Sizer


async def planned(
    budget: Budget,
    ask: Ask,
    turns: Sequence[Turn],
    offers: Sequence[FileOffer],
    recalling: Recalling,
) -> Plan | OverBudget:
    """The plan for the question with what it needs of the turns outside of the window.

    ``turns`` are those of the history, sized. If nothing has to be recalled it is what ``plan_context`` says.
    Only a question that clearly asks for something outside makes the window give way for it; otherwise recall
    takes what is free.
    """
    epoch = recalling.history.epoch
    plain = plan_context(budget, ask, turns, epoch, offers)
    if isinstance(plain, OverBudget) or ask.rounds or not turns:
        return plain
    search = await _search(recalling, turns, plain.epoch)
    if not search.ranked or search.ranked[0].chance < recalling.recollection.least:
        return plain
    size = slot(budget, ask.fixed, search.gone)
    free = min(budget.high, budget.room) - plain.tokens
    roomy = plain
    if free < size and search.ranked[0].chance >= recalling.recollection.insists:
        reserved = plan_context(reserving(budget, size), ask, turns, epoch, offers)
        if isinstance(reserved, OverBudget):
            return plain
        roomy = reserved
        if roomy.epoch != plain.epoch:
            search = await _search(recalling, turns, roomy.epoch)
        free = min(budget.high, budget.room) - roomy.tokens
    # What the latest turns leave free is used, too, once the history is long.
    size = min(size, free) if size <= budget.recall or roomy is plain else free
    found = await _recalled(recalling.sizer, search, quoted(turns, roomy.epoch), size)
    if found is None:
        return plain
    # This plan starts where the last one would have left the window, and only adds the recall.
    wider = replace(budget, recall=size)
    full = plan_context(wider, replace(ask, recalls=(found,)), turns, roomy.epoch, offers)
    if isinstance(full, OverBudget):
        return plain
    evicted = tuple(item for item in roomy.items if item.kind == "turn" and item.fate == "evicted")
    return replace(full, items=(*evicted, *full.items), budget=budget)


@dataclass(frozen=True, slots=True)
class _Search:
    """What was found for a question outside of the window; ``gone`` is about how many tokens that is."""

    memory: Memory
    asked: Query
    ranked: Sequence[Scored]
    gone: int


async def _search(recalling: Recalling, turns: Sequence[Turn], epoch: Epoch) -> _Search:
    """Look through the turns that this epoch does not show."""
    history = recalling.history
    shelf = await recalling.recollection.shelf(recalling.chat, history)
    stored = {turn.id: turn for turn in history.turns}
    leave = [turn.id for turn in leaving(turns, epoch)]
    known = set(shelf.turns[history.earlier :])
    shelf.add(stored[id] for id in leave if id not in known)
    inside = stored.keys() - set(leave)
    memory = shelf.memory
    asked = query(recalling.question, _questions(history.turns))
    close = await shelf.vectors.closeness(memory, asked) if shelf.vectors else None
    ranked = [
        scored
        for scored in rank(memory, asked, close)
        if memory.said[scored.place].turn not in inside
    ]
    gone = sum(len(one.text) for one in memory.said if one.turn not in inside)
    return _Search(memory, asked, ranked, gone // CHARACTERS)


async def _recalled(sizer: Sizer, search: _Search, known: str, size: int) -> Sized | None:
    """The hidden message of at most ``size`` tokens; no line of it stands in ``known``."""
    found = [
        quote
        for quote in excerpts.quotes(search.memory, search.ranked, search.asked, size)
        if excerpts.countable(quote).removesuffix("\\n") not in known
    ]
    counts = await sizer.count([excerpts.countable(quote) for quote in found])
    return await _fitted(sizer, found, counts.tokens, size)


async def _fitted(
    sizer: Sizer, found: Sequence[Quote], tokens: Sequence[int], size: int
) -> Sized | None:
    """As many quotes as fit, counted together: side by side they take other numbers of tokens than alone."""
    best: Sized | None = None
    room = size
    for spare in (0, 4, 12, size // 8):
        chosen = excerpts.fit(found, tokens, room - spare)
        if not chosen:
            return best
        (sized,) = await sizer.messages([excerpts.message(chosen)])
        if sized.tokens <= size and (best is None or sized.tokens > best.tokens):
            best = sized
        if best is not None and spare:
            return best
        room += size - sized.tokens
    return best


def spoken(turn: StoredTurn) -> list[Utterance]:
    """What people and the model said in it, without files, tools and recalls."""
    return [
        utterance(turn.id, turn.sequence, turn.started_ms, message.role, message.text)
        for message in turn.messages
        if message.carries is None and message.text.strip()
    ]


def _questions(turns: Sequence[StoredTurn]) -> list[str]:
    return [said.text for turn in turns[-3:] for said in turn.messages if _is_question(said)]


def _is_question(message: Message) -> bool:
    return message.role == "user" and message.carries is None


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
