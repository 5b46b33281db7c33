"""Choose what the model sees this turn.

``plan_context`` is one pass over sums that are already known: it cannot loop, and the same input gives the
same plan. Under the high-water mark a request is the last one plus something at its end. Past it, one
eviction takes the window down to the low-water mark (see ``eviction``). What the items say to people is in
``items``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from . import ledger
from .admission import Wanted, admit, in_place
from .budget import Budget
from .eviction import Must, Pin, Window, evict
from .items import Fate, Item, Kind, items
from .ledger import Ledger
from .messages import Epoch, FileNotice, Pinned, Recall, Sized, Turn
from .offers import FileOffer

__all__ = ["Ask", "Fate", "Item", "Kind", "OverBudget", "Part", "Plan", "plan_context"]

Part = Literal["system", "tools", "question", "rounds"]


@dataclass(frozen=True, slots=True)
class Ask:
    """What must go in, and what may.

    ``tools`` and ``overhead`` are the tokens of the tool schemas and of the request itself. ``recalls`` come
    best first. ``notices`` tell of deleted and renamed files where the model holds them, ``told`` in any case.
    ``summary`` stands for what left the window and always goes in; ``pins`` are turns to be shown again where
    they are not in the window. Between tool rounds, ``sent`` is the hidden context that went out with this
    question before, and ``rounds`` what was said since; ``holds`` are pinned turns in the window, which cannot
    be shown again then and so must not leave it.
    """

    system: Sized
    question: Sized
    tools: int = 0
    overhead: int = 0
    recalls: tuple[Sized, ...] = ()
    notices: tuple[Sized, ...] = ()
    told: tuple[Sized, ...] = ()
    sent: tuple[Sized, ...] = ()
    rounds: tuple[Sized, ...] = ()
    summary: Sized | None = None
    pins: tuple[Sized, ...] = ()
    holds: tuple[str, ...] = ()
    pinned: frozenset[str] = frozenset()  # paths of files that the user pinned

    @property
    def fixed(self) -> int:
        """Tokens that nothing can push out."""
        summary = () if self.summary is None else (self.summary,)
        spoken = (self.system, *summary, self.question, *self.sent, *self.rounds)
        return self.tools + self.overhead + _tokens(spoken)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything needed to render, to store and to explain one request.

    ``hidden`` goes before the question and is stored with it. ``tokens`` is the whole prompt.
    ``next_evicts``: if the reply takes its reserve, the next turn starts a new epoch. ``tools`` are the names of
    those it offers; ``shares`` are what the chat was told to give to what.
    """

    items: tuple[Item, ...]
    hidden: tuple[Sized, ...]
    epoch: Epoch
    tokens: int
    budget: Budget
    next_evicts: bool
    tools: tuple[str, ...] = ()
    shares: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class OverBudget:
    """``part`` is what to make smaller; ``parts`` has the tokens of everything that must go in."""

    needed: int
    available: int
    part: Part
    parts: tuple[tuple[Part, int], ...]


def plan_context(
    budget: Budget, ask: Ask, turns: Sequence[Turn], epoch: Epoch, offers: Sequence[FileOffer]
) -> Plan | OverBudget:
    """Fit one request into the budget; ``offers`` come in order of priority.

    The system prompt and the question always go in, whole. ``turns`` are the finished ones of the epoch.
    Between tool rounds no file is sent: the question has gone out already, and files stand before it.
    """
    budget = budget.less(0)  # marks above the room would let a plan overflow it
    if (over := _over_budget(budget, ask)) is not None:
        return over
    turns = ledger.window(turns, epoch)
    book = ledger.read(turns, epoch).after(ask.sent)
    told = (*ask.told, *(notice for notice in ask.notices if _matters(notice, book)))
    # An eviction takes the files away, but not that they are gone: turns are stored with what they told.
    kept = _affordable(budget, ask, told)
    latest = _latest(book)
    pins = _pins(budget, ask, turns, epoch)
    taken = ask.fixed + _tokens(kept) + sum(pin.sized.tokens for pin in pins)
    wanted = () if ask.rounds else admit(budget, taken, _each_once(offers), latest)

    case = Case(budget, ask, turns, epoch, book, pins)
    grown = _grow(case, told, wanted)
    if grown is not None:
        return _finish(case, grown, told)
    kept = tuple(notice for notice in kept if _is_complete(notice, wanted))
    needed = _needed(case)
    must = Must(ask.fixed + _tokens(kept), pins, max(1, needed))
    window = evict(budget, must, book.after(told), None if ask.rounds else wanted)
    if window.kept < needed:
        return OverBudget(ask.fixed + _standing(book), budget.room, "rounds", _parts(ask))
    clear = tuple(notice for notice in kept if not _is_overtaken(notice, window))
    window = replace(window, tokens=window.tokens - _tokens(kept) + _tokens(clear))
    return _finish(case, window, clear)


@dataclass(frozen=True, slots=True)
class Case:
    """What a plan is made from, once the window is known; ``pins`` are those there is room for."""

    budget: Budget
    ask: Ask
    turns: Sequence[Turn]
    epoch: Epoch
    book: Ledger
    pins: tuple[Pin, ...]


def _over_budget(budget: Budget, ask: Ask) -> OverBudget | None:
    """A system prompt over its cap or a sum over the room; names the part most worth cutting."""
    parts = _parts(ask)
    if ask.system.tokens > budget.system_cap:
        return OverBudget(ask.system.tokens, budget.system_cap, "system", parts)
    if ask.fixed > budget.room:
        largest, _ = max(parts, key=lambda part: part[1])
        return OverBudget(ask.fixed, budget.room, largest, parts)
    return None


def _each_once(offers: Sequence[FileOffer]) -> tuple[FileOffer, ...]:
    """The first offer of each path: whoever names a file twice wants it once."""
    first: dict[str, FileOffer] = {}
    for offer in offers:
        first.setdefault(offer.stamp.path, offer)
    return tuple(first.values())


def _parts(ask: Ask) -> tuple[tuple[Part, int], ...]:
    return (
        ("system", ask.system.tokens),
        ("tools", ask.tools),
        ("question", ask.question.tokens),
        ("rounds", _tokens((*ask.sent, *ask.rounds))),
    )


def _pins(budget: Budget, ask: Ask, turns: Sequence[Turn], epoch: Epoch) -> tuple[Pin, ...]:
    """The pins that fit together into half of what is left below the high-water mark, in their order."""
    shown = _places(turns, epoch)
    left = (budget.high - ask.fixed) // 2
    pins: list[Pin] = []
    for sized in dict.fromkeys(ask.pins):
        carries = sized.message.carries
        if isinstance(carries, Pinned) and sized.tokens <= left:
            pins.append(Pin(carries.turn, sized, shown.get(carries.turn)))
            left -= sized.tokens
    return tuple(pins)


def _places(turns: Sequence[Turn], epoch: Epoch) -> dict[str, int]:
    """The latest of the window's turns that shows each turn: it itself, or one where it was pinned."""
    shown: dict[str, int] = {}
    for index, turn in enumerate(turns):
        shown[turn.id] = index
        for position, sized in enumerate(turn.messages):
            carries = sized.message.carries
            if isinstance(carries, Pinned) and (turn.id, position) not in epoch.dropped:
                shown[carries.turn] = index
    return shown


def _latest(book: Ledger) -> int:
    """Tokens of the latest turn as an eviction would leave it, so that one does not change what is admitted."""
    last = len(book.talk) - 1
    spared = sum(spare.saved for spare in book.spares if spare.is_replaced and spare.turn == last)
    return book.talk[-1] - spared if book.talk else 0


def _needed(case: Case) -> int:
    """How many turns must stay: deltas that went out with this question start from them, or they are held."""
    present = len(case.turns)
    shown = _places(case.turns, case.epoch)
    pins = (shown[turn] for turn in case.ask.holds)
    files = (
        min(carrier.turn for carrier in held.carriers)
        for held in case.book.held.values()
        if held.carriers[-1].turn == present
    )
    return present - min((*pins, *files), default=present)


def _matters(notice: Sized, book: Ledger) -> bool:
    """Whether the model holds the file that the notice is about; otherwise there is nothing to correct."""
    carries = notice.message.carries
    return isinstance(carries, FileNotice) and carries.path in book.held


def _affordable(budget: Budget, ask: Ask, told: Sequence[Sized]) -> tuple[Sized, ...]:
    """Those that fit into a quarter of what is left below the low-water mark, in their order."""
    left = (budget.low - ask.fixed) // 4
    kept: list[Sized] = []
    for notice in told:
        if notice.tokens <= left:
            kept.append(notice)
            left -= notice.tokens
    return tuple(kept)


def _is_complete(notice: Sized, wanted: Sequence[Wanted]) -> bool:
    """Whether a request without the file's old copy says what its new name stands for."""
    carries = notice.message.carries
    if not isinstance(carries, FileNotice) or carries.new_path is None:
        return True
    named = (one for one in wanted if one.offer.stamp.path == carries.new_path)
    return any(one.admitted or one.notice is not None for one in named)


def _is_overtaken(notice: Sized, window: Window) -> bool:
    """Whether an older copy stands for the new name: a rename told after it would take its meaning away."""
    carries = notice.message.carries
    if not isinstance(carries, FileNotice) or carries.new_path is None:
        return False
    (choice,) = (choice for choice in window.choices if choice.path == carries.new_path)
    return choice.message is None or choice.fate == "updated"


def _grow(case: Case, told: Sequence[Sized], wanted: Sequence[Wanted]) -> Window | None:
    """The same window with the new things at its end, if that stays under the mark."""
    after = case.book.after(told)
    choices = [in_place(after, one) for one in wanted]
    settled = [choice for choice in choices if choice is not None]
    if len(settled) < len(choices):
        return None
    pins = tuple(pin for pin in case.pins if pin.reaches is None)
    tokens = (
        case.ask.fixed
        + _standing(case.book)
        + _tokens(told)
        + sum(pin.sized.tokens for pin in pins)
        + sum(choice.message.tokens for choice in settled if choice.message)
    )
    # In the middle of a tool loop the cache is worth more than the mark; the next turn will evict.
    limit = case.budget.room if case.ask.rounds else case.budget.high
    if tokens > limit:
        return None
    return Window(len(case.turns), (), tuple(settled), tokens, pins=pins)


def _standing(book: Ledger) -> int:
    """Tokens of the window's turns with everything they carry."""
    present = len(book.talk)
    carried = sum(carrier.sized.tokens for carrier in book.carriers if carrier.turn < present)
    return sum(book.talk) + carried


def _finish(case: Case, window: Window, told: Sequence[Sized]) -> Plan:
    first = len(case.turns) - window.kept
    recalls = _recalls(case, window, first)
    tokens = window.tokens + _tokens(recalls)
    files = tuple(choice.message for choice in window.choices if choice.message is not None)
    summary = () if case.ask.summary is None else (case.ask.summary,)
    pins = tuple(pin.sized for pin in window.pins)
    budget = case.budget
    return Plan(
        items=tuple(items(case, window, told, recalls)),
        hidden=(*summary, *pins, *recalls, *told, *files),
        epoch=_next_epoch(case, window, first),
        tokens=tokens,
        budget=budget,
        next_evicts=tokens + budget.reply > budget.high,
    )


def _next_epoch(case: Case, window: Window, first: int) -> Epoch:
    if first == 0 and not window.dropped and not window.spared:
        return case.epoch
    number = case.epoch.number + 1
    if not window.kept:
        last = case.turns[-1]
        return Epoch(number, last.id, frozenset((last.id, at) for at in range(len(last.messages))))
    kept = {turn.id for turn in case.turns[first:]}
    dropped = {(id, at) for id, at in case.epoch.dropped if id in kept}
    dropped |= {(case.turns[carrier.turn].id, carrier.position) for carrier in window.dropped}
    masked = {(id, at) for id, at in case.epoch.masked if id in kept}
    for spare in window.spared:
        (dropped if spare.is_replaced else masked).add((case.turns[spare.turn].id, spare.position))
    return Epoch(number, case.turns[first].id, frozenset(dropped), frozenset(masked))


def _recalls(case: Case, window: Window, first: int) -> tuple[Sized, ...]:
    """The best candidates that fit their share and say nothing the window says already."""
    if not case.ask.recalls:
        return ()
    kept = case.turns[first:]
    gone = case.epoch.dropped | {(case.turns[s.turn].id, s.position) for s in window.spared}
    known = {turn.id for turn in kept} | {pin.turn for pin in case.pins}
    for turn in kept:
        for position, sized in enumerate(turn.messages):
            carries = sized.message.carries
            if isinstance(carries, Recall) and (turn.id, position) not in gone:
                known.update(carries.turns)
    left = min(case.budget.recall, case.budget.high - window.tokens)
    chosen: list[Sized] = []
    for sized in case.ask.recalls:
        carries = sized.message.carries
        if not isinstance(carries, Recall) or known.issuperset(carries.turns):
            continue
        if sized.tokens <= left:
            chosen.append(sized)
            known.update(carries.turns)
            left -= sized.tokens
    return tuple(chosen)


def _tokens(sized: Iterable[Sized]) -> int:
    return sum(one.tokens for one in sized)
