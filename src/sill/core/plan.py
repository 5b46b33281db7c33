"""Choose what the model sees this turn.

``plan_context`` is one pass over sums that are already known: it cannot loop, and the same input gives the
same plan. Under the high-water mark a request is the last one plus something at its end. Past it, one
eviction takes the window down to the low-water mark (see ``eviction``).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from . import ledger
from .admission import FileChoice, Wanted, admit, in_place
from .budget import Budget
from .eviction import Window, evict
from .ledger import Ledger
from .messages import Epoch, FileDelta, FileNotice, FileState, Recall, Sized, Turn
from .offers import FileOffer

Kind = Literal[
    "system",
    "tools",
    "overhead",
    "file",
    "turn",
    "recall",
    "news",
    "question",
    "rounds",
    "reply",
    "margin",
]
Fate = Literal["kept", "sent", "updated", "omitted", "evicted", "recalled", "reserved"]
Part = Literal["system", "tools", "question", "rounds"]


@dataclass(frozen=True, slots=True)
class Ask:
    """What must go in, and what may.

    ``tools`` and ``overhead`` are the tokens of the tool schemas and of the request itself. ``recalls`` come
    best first. ``notices`` tell of deleted and renamed files. Between tool rounds, ``sent`` is the hidden
    context that went out with this question before, and ``rounds`` what was said since.
    """

    system: Sized
    question: Sized
    tools: int = 0
    overhead: int = 0
    recalls: tuple[Sized, ...] = ()
    notices: tuple[Sized, ...] = ()
    sent: tuple[Sized, ...] = ()
    rounds: tuple[Sized, ...] = ()

    @property
    def fixed(self) -> int:
        """Tokens that nothing can push out."""
        spoken = (self.system, self.question, *self.sent, *self.rounds)
        return self.tools + self.overhead + _tokens(spoken)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in the prompt or left out of it; ``new`` of its tokens were not in the last request.

    For what was evicted or is reserved, ``tokens`` are not in the prompt.
    """

    kind: Kind
    name: str
    tokens: int
    fate: Fate
    reason: str = ""
    new: int = 0

    @property
    def in_prompt(self) -> bool:
        return self.fate not in ("evicted", "reserved")


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
    told = tuple(notice for notice in ask.notices if _matters(notice, book))
    latest = book.talk[-1] if book.talk else 0
    wanted = () if ask.rounds else admit(budget, ask.fixed, offers, latest)

    case = _Case(budget, ask, turns, epoch, book)
    grown = _grow(case, told, wanted)
    if grown is not None:
        return _finish(case, grown, told)
    window = evict(budget, ask.fixed, book.after(told), wanted)
    if window.kept < _pinned(book):
        return OverBudget(ask.fixed + _standing(book), budget.room, "rounds", _parts(ask))
    return _finish(case, window, ())


@dataclass(frozen=True, slots=True)
class _Case:
    """What a plan is made from, once the window is known."""

    budget: Budget
    ask: Ask
    turns: Sequence[Turn]
    epoch: Epoch
    book: Ledger


def _over_budget(budget: Budget, ask: Ask) -> OverBudget | None:
    """A system prompt over its cap or a sum over the room; names the part most worth cutting."""
    parts = _parts(ask)
    if ask.system.tokens > budget.system_cap:
        return OverBudget(ask.system.tokens, budget.system_cap, "system", parts)
    if ask.fixed > budget.room:
        largest, _ = max(parts, key=lambda part: part[1])
        return OverBudget(ask.fixed, budget.room, largest, parts)
    return None


def _parts(ask: Ask) -> tuple[tuple[Part, int], ...]:
    return (
        ("system", ask.system.tokens),
        ("tools", ask.tools),
        ("question", ask.question.tokens),
        ("rounds", _tokens((*ask.sent, *ask.rounds))),
    )


def _pinned(book: Ledger) -> int:
    """How many turns must stay because deltas that went out with this question start from them."""
    present = len(book.talk)
    reaches = (
        min(carrier.turn for carrier in held.carriers)
        for held in book.held.values()
        if held.carriers[-1].turn == present
    )
    return present - min(reaches, default=present)


def _matters(notice: Sized, book: Ledger) -> bool:
    """Whether the model holds the file that the notice is about; otherwise there is nothing to correct."""
    carries = notice.message.carries
    return isinstance(carries, FileNotice) and carries.path in book.held


def _grow(case: _Case, told: Sequence[Sized], wanted: Sequence[Wanted]) -> Window | None:
    """The same window with the new things at its end, if that stays under the mark."""
    after = case.book.after(told)
    choices = [in_place(after, one) for one in wanted]
    settled = [choice for choice in choices if choice is not None]
    if len(settled) < len(choices):
        return None
    tokens = (
        case.ask.fixed
        + _standing(case.book)
        + _tokens(told)
        + sum(choice.message.tokens for choice in settled if choice.message)
    )
    # In the middle of a tool loop the cache is worth more than the mark; the next turn will evict.
    limit = case.budget.room if case.ask.rounds else case.budget.high
    return Window(len(case.turns), (), tuple(settled), tokens) if tokens <= limit else None


def _standing(book: Ledger) -> int:
    """Tokens of the window's turns with everything they carry."""
    present = len(book.talk)
    carried = sum(carrier.sized.tokens for carrier in book.carriers if carrier.turn < present)
    return sum(book.talk) + carried


def _finish(case: _Case, window: Window, told: Sequence[Sized]) -> Plan:
    first = len(case.turns) - window.kept
    recalls = _recalls(case, window, first)
    tokens = window.tokens + _tokens(recalls)
    files = tuple(choice.message for choice in window.choices if choice.message is not None)
    budget = case.budget
    return Plan(
        items=tuple(_items(case, window, told, recalls)),
        hidden=(*recalls, *told, *files),
        epoch=_next_epoch(case, window, first),
        tokens=tokens,
        budget=budget,
        next_evicts=tokens + budget.reply > budget.high,
    )


def _next_epoch(case: _Case, window: Window, first: int) -> Epoch:
    if first == 0 and not window.dropped:
        return case.epoch
    number = case.epoch.number + 1
    if not window.kept:
        last = case.turns[-1]
        return Epoch(number, last.id, frozenset((last.id, at) for at in range(len(last.messages))))
    kept = {turn.id for turn in case.turns[first:]}
    dropped = {(case.turns[carrier.turn].id, carrier.position) for carrier in window.dropped}
    before = {(id, at) for id, at in case.epoch.dropped if id in kept}
    return Epoch(number, case.turns[first].id, frozenset(dropped | before))


def _recalls(case: _Case, window: Window, first: int) -> tuple[Sized, ...]:
    """The best candidates that fit their share and say nothing the window says already."""
    if not case.ask.recalls:
        return ()
    kept = case.turns[first:]
    known = {turn.id for turn in kept}
    for turn in kept:
        for sized in turn.messages:
            if isinstance(sized.message.carries, Recall):
                known.update(sized.message.carries.turns)
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


def _items(
    case: _Case, window: Window, told: Sequence[Sized], recalls: Sequence[Sized]
) -> Iterator[Item]:
    ask, budget, first = case.ask, case.budget, len(case.turns) - window.kept
    yield Item("system", "system prompt", ask.system.tokens, "kept", "always whole")
    if ask.tools:
        yield Item("tools", "tool schemas", ask.tools, "kept", "the same set for the whole epoch")
    if ask.overhead:
        yield Item("overhead", "chat template", ask.overhead, "kept", "around every request")
    yield from _file_items(case, window, told)
    for turn, tokens in zip(case.turns[:first], case.book.talk, strict=False):
        yield Item("turn", turn.id, tokens, "evicted", "past the high-water mark, oldest first")
    for turn, tokens in zip(case.turns[first:], case.book.talk[first:], strict=True):
        yield Item("turn", turn.id, tokens, "kept")
    earlier = _tokens(sized for sized in ask.sent if isinstance(sized.message.carries, Recall))
    if earlier:
        yield Item("recall", "earlier turns", earlier, "kept", "sent with this question")
    for sized in recalls:
        names = sized.message.carries.turns if isinstance(sized.message.carries, Recall) else ()
        reason = "earlier turns that bear on the question"
        yield Item("recall", ", ".join(names), sized.tokens, "recalled", reason, new=sized.tokens)
    asked = ask.question.tokens
    yield Item("question", "question", asked, "sent", "always whole", new=asked)
    if ask.rounds:
        spoken = _tokens(ask.rounds)
        yield Item("rounds", "tool rounds", spoken, "sent", "of this turn", new=spoken)
    yield Item("reply", "reply", budget.reply, "reserved", "room for the answer")
    if budget.margin:
        yield Item("margin", "margin", budget.margin, "reserved", "in case the count falls short")


def _file_items(case: _Case, window: Window, told: Sequence[Sized]) -> Iterator[Item]:
    first = len(case.turns) - window.kept
    gone = {(carrier.turn, carrier.position) for carrier in window.dropped}
    old: Counter[str] = Counter()
    for carrier in case.book.carriers:
        if carrier.turn >= first and (carrier.turn, carrier.position) not in gone:
            old[_path(carrier.sized)] += carrier.sized.tokens
    news = {_path(sized): sized for sized in told}
    for choice in window.choices:
        new = choice.message.tokens if choice.message else 0
        if choice.path in news:
            new += news.pop(choice.path).tokens
        yield _file_item(choice, old.pop(choice.path, 0), new)
    for path, sized in news.items():
        yield Item(
            "file", path, old.pop(path, 0) + sized.tokens, "sent", _tidings(sized), sized.tokens
        )
    for path, tokens in old.items():
        yield Item("file", path, tokens, "kept", "sent earlier, still in the window")


def _file_item(choice: FileChoice, old: int, new: int) -> Item:
    return Item("file", choice.path, old + new, choice.fate, choice.reason, new)


def _tidings(notice: Sized) -> str:
    match notice.message.carries:
        case FileNotice(event="renamed", new_path=new_path):
            return f"renamed to {new_path}; the model is told"
        case _:
            return "deleted; the model is told"


def _path(sized: Sized) -> str:
    match sized.message.carries:
        case FileState(stamp) | FileDelta(stamp, _):
            return stamp.path
        case FileNotice(path=path):
            return path
        case _:
            return ""


def _tokens(sized: Iterable[Sized]) -> int:
    return sum(one.tokens for one in sized)
