"""What has left the window comes back when a question needs it, and is summed up when it leaves.

``planned`` is ``plan_context`` with both: it finds out which turns will be outside of the window, looks
through them, and plans again with the passages that were found and a message that stands for the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..core import compact, excerpts, trail
from ..core.budget import Budget
from ..core.excerpts import Quote
from ..core.ledger import window
from ..core.memory import Memory
from ..core.messages import Epoch, Message, Sized, Turn
from ..core.offers import FileOffer
from ..core.plan import Ask, Item, OverBudget, Plan, plan_context
from ..core.recall import Query, Scored, asks, query, rank
from ..core.recall_room import ASKED, gives_way, leaving, quoted, reserving, slot, worth
from ..core.trail import Touch
from ..ports import History, StoredTurn
from .compact import ENVELOPE, Carrying, Gone, Rooms, is_due, summed_up
from .past import CLEARLY, Recollection, spoken
from .sizing import Sizer

__all__ = ["CLEARLY", "Recalling", "Recollection", "planned", "spoken"]

CHARACTERS = 4  # of a token, about


@dataclass(frozen=True, slots=True)
class Recalling:
    """One question, the chat it is asked in, and who can count. Without ``carrying`` nothing is summed up."""

    recollection: Recollection
    chat: str
    question: str
    history: History
    sizer: Sizer
    carrying: Carrying | None = None


async def planned(
    budget: Budget,
    ask: Ask,
    turns: Sequence[Turn],
    offers: Sequence[FileOffer],
    recalling: Recalling,
) -> Plan | OverBudget:
    """The plan for the question with what it needs of the turns outside of the window.

    ``turns`` are those of the history, sized. If nothing is outside it is what ``plan_context`` says. Only a
    question that clearly asks for something outside makes the window give way for it; otherwise recall takes
    what is free, after the message that sums up what left.
    """
    if ask.rounds or not turns:
        return plan_context(budget, ask, turns, recalling.history.epoch, offers)
    if recalling.carrying is not None:
        pins = await recalling.carrying.pins(recalling.chat, recalling.sizer)
        ask = replace(ask, pins=pins)
    case = _Case(budget, ask, turns, offers, recalling)
    plain = case.plan(budget)
    if isinstance(plain, OverBudget):
        return plain
    case = replace(case, pinned=_pinned(plain))
    roomy, size, search = await _made_room(case, plain)
    if roomy is not plain:
        # The next turn evicts in any case, this recall first: there is no growth to leave room for.
        case = replace(case, edge=budget.room)
    base, summary = await _summed_up(case, roomy)
    found = await _found(case, base, summary, size, search) if search is not None else None
    if found is None and roomy is not plain:  # the window gives way for nothing else
        case = replace(case, edge=None)
        base, summary = await _summed_up(case, plain)
    if found is None and summary is None:
        return base
    recalls = () if found is None else (found,)
    notices = tuple(one for one in base.hidden if one in ask.notices)
    told = replace(ask, recalls=recalls, summary=summary, notices=(), told=notices)
    # This plan starts where the last one would have left the window, and only adds to its end.
    wider = replace(budget, recall=size, high=case.limit)
    full = plan_context(wider, told, turns, base.epoch, offers)
    if isinstance(full, OverBudget) or full.epoch != base.epoch:
        return plain
    return replace(full, items=(*_left(base), *full.items), budget=budget)


@dataclass(frozen=True, slots=True)
class _Case:
    budget: Budget
    ask: Ask
    turns: Sequence[Turn]
    offers: Sequence[FileOffer]
    recalling: Recalling
    pinned: frozenset[str] = frozenset()  # turns that are shown as they are
    edge: int | None = None  # up to which a recall may fill the prompt; else the high-water mark

    def plan(self, budget: Budget) -> Plan | OverBudget:
        epoch = self.recalling.history.epoch
        return plan_context(budget, self.ask, self.turns, epoch, self.offers)

    def free(self, plan: Plan) -> int:
        return min(self.limit, self.budget.room) - plan.tokens

    @property
    def limit(self) -> int:
        return self.budget.high if self.edge is None else self.edge


def _pinned(plan: Plan) -> frozenset[str]:
    shown = (item for item in plan.items if item.kind == "pin" and item.fate != "omitted")
    return frozenset(item.name for item in shown)


def _left(plan: Plan) -> tuple[Item, ...]:
    return tuple(item for item in plan.items if item.kind == "turn" and item.fate == "evicted")


# --- Recall ---------------------------------------------------------------------------------------


async def _made_room(case: _Case, plain: Plan) -> tuple[Plan, int, "_Search | None"]:
    """The plan that leaves recall its room, the room, and what was found; None where nothing is to be recalled."""
    recollection = case.recalling.recollection
    if not recollection.recalls:
        return plain, 0, None
    search = await _search(case, plain.epoch)
    if not search.ranked:
        return plain, 0, None
    chance, budget = search.ranked[0].chance, case.budget
    size = slot(budget, case.ask.fixed, search.gone)
    least, insists = recollection.least, recollection.insists
    asked = asks(case.recalling.question)
    if asked:
        least, insists = least * ASKED, insists * ASKED
    if case.free(plain) >= size or not gives_way(chance, least, insists, budget.room):
        size = worth(size, chance, least, asked)
        return plain, size, search if size else None
    reserved = case.plan(reserving(budget, size))
    if isinstance(reserved, OverBudget):
        return plain, size, search
    if reserved.epoch != plain.epoch:
        search = await _search(case, reserved.epoch, search)
    # What the latest turns leave free is used, too, once the history is long.
    size = size if size <= budget.recall else max(size, budget.room - reserved.tokens)
    return reserved, size, search


async def _found(
    case: _Case, base: Plan, summary: Sized | None, size: int, search: "_Search"
) -> Sized | None:
    free = case.free(base) - (summary.tokens if summary else 0)
    known = quoted(case.turns, base.epoch)
    return await _recalled(case.recalling.sizer, search, known, min(size, free))


@dataclass(frozen=True, slots=True)
class _Search:
    """What was found for a question outside of the window; ``gone`` is about how many tokens that is.

    ``every`` is the same with what is in the window.
    """

    memory: Memory
    asked: Query
    every: Sequence[Scored]
    ranked: Sequence[Scored]
    gone: int


async def _gone(case: _Case, epoch: Epoch) -> Gone:
    """Everything that this epoch does not show; turns that are leaving are taken into the memory."""
    recalling, history = case.recalling, case.recalling.history
    shelf = await recalling.recollection.shelf(recalling.chat, history)
    stored = {turn.id: turn for turn in history.turns}
    leave = [turn.id for turn in leaving(case.turns, epoch)]
    shelf.add(stored[id] for id in leave if id not in shelf.turns)
    inside = frozenset(stored.keys() - set(leave))
    return Gone(recalling.chat, shelf, inside, case.pinned)


async def _search(case: _Case, epoch: Epoch, before: _Search | None = None) -> _Search:
    """Look through the turns that this epoch does not show; ``before`` was of the same question."""
    recalling, history = case.recalling, case.recalling.history
    outside = await _gone(case, epoch)
    shelf, inside, memory = outside.shelf, outside.shown, outside.shelf.memory
    asked = query(recalling.question, _questions(history.turns))
    if before is not None and len(before.every) == len(memory.said):
        every = before.every
    else:
        close = await shelf.vectors.closeness(memory, asked) if shelf.vectors else None
        every = rank(memory, asked, close)
    ranked = [one for one in every if memory.said[one.place].turn not in inside]
    gone = sum(len(one.text) for one in memory.said if one.turn not in inside)
    return _Search(memory, asked, every, ranked, gone // CHARACTERS)


async def _recalled(sizer: Sizer, search: _Search, known: str, size: int) -> Sized | None:
    """The hidden message of at most ``size`` tokens; no line of it stands in ``known``."""
    quotes = excerpts.quotes(search.memory, search.ranked, search.asked, size)
    lines = [(quote, excerpts.countable(quote)) for quote in quotes]
    if known:
        lines = [(quote, line) for quote, line in lines if line.removesuffix("\\n") not in known]
    counts = await sizer.count([line for _, line in lines])
    return await _fitted(sizer, [quote for quote, _ in lines], counts.tokens, size)


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


def _questions(turns: Sequence[StoredTurn]) -> list[str]:
    return [said.text for turn in turns[-3:] for said in turn.messages if _is_question(said)]


def _is_question(message: Message) -> bool:
    return message.role == "user" and message.carries is None


# --- What stands for the rest ---------------------------------------------------------------------


async def _summed_up(case: _Case, base: Plan) -> tuple[Plan, Sized | None]:
    """The plan and the message that stands for what it does not show, if there is none in the window yet.

    If the window is evicted anyway and leaves too little for that message, it is evicted a little further; but
    never is a file left out for it.
    """
    carrying = case.recalling.carrying
    if carrying is None or carrying.by == "off":
        return base, None
    gone = await _gone(case, base.epoch)
    if not is_due(gone, case.turns, base.epoch):
        return base, None
    wanted = await _summary(case, base, gone, case.budget.room)
    free = case.free(base)
    if wanted is None or wanted.tokens <= free:
        return base, wanted
    if base.epoch.number != case.recalling.history.epoch.number:
        further = case.plan(reserving(case.budget, wanted.tokens))
        if isinstance(further, Plan) and _omitted(further) == _omitted(base):
            base, free = further, case.free(further)
            gone = await _gone(case, base.epoch)
    return base, await _summary(case, base, gone, free)


async def _summary(case: _Case, base: Plan, gone: Gone, most: int) -> Sized | None:
    recalling, room = case.recalling, case.budget.room
    assert recalling.carrying is not None
    rooms = Rooms(
        most=most,
        gist=min(compact.gist_room(room), max(0, most - ENVELOPE)),
        trail=min(compact.trail_room(room), max(0, most - ENVELOPE)),
        last=not window(case.turns, base.epoch),
    )
    gone = replace(gone, touches=_untold(case, base.epoch, gone.inside))
    return await summed_up(recalling.carrying, gone, recalling.history, recalling.sizer, rooms)


def _untold(case: _Case, epoch: Epoch, inside: frozenset[str]) -> tuple[Touch, ...]:
    """Of files that are gone or renamed: what turns of the window said of them before this epoch dropped it, and
    what would have been said now.
    """
    found: list[Touch] = []
    turns = case.recalling.history.turns
    for turn in turns:
        if turn.id in inside:
            dropped = (m for at, m in enumerate(turn.messages) if (turn.id, at) in epoch.dropped)
            found += trail.touches(turn.sequence, dropped)
    found += trail.touches(turns[-1].sequence + 1, (one.message for one in case.ask.notices))
    gone = {touch.path for touch in found if touch.deed in ("deleted", "renamed")}
    return tuple(touch for touch in found if touch.path in gone or touch.was)


def _omitted(plan: Plan) -> set[str]:
    return {item.name for item in plan.items if item.kind == "file" and item.fate == "omitted"}
