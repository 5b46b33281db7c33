"""A plan's items: everything in the prompt or left out of it, with its tokens and why."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from .admission import FileChoice
from .eviction import Window
from .messages import FileDelta, FileNotice, FileState, Pinned, Recall, Sized, Summary

if TYPE_CHECKING:
    from .plan import Case

Kind = Literal[
    "system",
    "tools",
    "overhead",
    "file",
    "turn",
    "recall",
    "news",
    "summary",
    "pin",
    "question",
    "rounds",
    "reply",
    "margin",
]
Fate = Literal["kept", "sent", "updated", "omitted", "evicted", "recalled", "reserved"]


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


def items(
    case: "Case", window: Window, told: Sequence[Sized], recalls: Sequence[Sized]
) -> Iterator[Item]:
    """In the order in which they stand in the prompt, then what is reserved."""
    ask, budget = case.ask, case.budget
    yield Item("system", "system prompt", ask.system.tokens, "kept", "always whole")
    if ask.tools:
        yield Item("tools", "tool schemas", ask.tools, "kept", "the same set for the whole epoch")
    if ask.overhead:
        yield Item("overhead", "chat template", ask.overhead, "kept", "around every request")
    yield from _file_items(case, window, told)
    yield from _turn_items(case, window)
    yield from _sent_items(ask.sent)
    if ask.summary is not None:
        yield _summary_item(ask.summary, "sent", "stands for turns that left the window")
    yield from _pin_items(case, window)
    for sized in recalls:
        carries = sized.message.carries
        assert isinstance(carries, Recall)
        names, why = ", ".join(carries.turns), "earlier turns that bear on the question"
        yield Item("recall", names, sized.tokens, "recalled", why, new=sized.tokens)
    asked = ask.question.tokens
    yield Item("question", "question", asked, "sent", "always whole", new=asked)
    if ask.rounds:
        spoken = _tokens(ask.rounds)
        yield Item("rounds", "tool rounds", spoken, "sent", "of this turn", new=spoken)
    yield Item("reply", "reply", budget.reply, "reserved", "room for the answer")
    if budget.margin:
        yield Item("margin", "margin", budget.margin, "reserved", "in case the count falls short")


def _turn_items(case: "Case", window: Window) -> Iterator[Item]:
    first = len(case.turns) - window.kept
    saved: Counter[int] = Counter()
    stubs = {id for id, _ in case.epoch.masked}
    for spare in window.spared:
        saved[spare.turn] += spare.saved
        if not spare.is_replaced:
            stubs.add(case.turns[spare.turn].id)
    for index, turn in enumerate(case.turns):
        tokens = case.book.talk[index]
        if index < first:
            reason = "past the high-water mark, oldest first"
            yield Item("turn", turn.id, tokens, "evicted", reason)
        else:
            reason = "old tool results as one-line stubs" if turn.id in stubs else ""
            yield Item("turn", turn.id, tokens - saved[index], "kept", reason)


def _sent_items(sent: Sequence[Sized]) -> Iterator[Item]:
    """What went out with this question before its tool rounds."""
    why = "sent with this question"
    recalled = _tokens(sized for sized in sent if isinstance(sized.message.carries, Recall))
    if recalled:
        yield Item("recall", "earlier turns", recalled, "kept", why)
    for sized in sent:
        carries = sized.message.carries
        if isinstance(carries, Summary):
            yield _summary_item(sized, "kept", why)
        elif isinstance(carries, Pinned):
            yield Item("pin", carries.turn, sized.tokens, "kept", why)


def _summary_item(sized: Sized, fate: Fate, why: str) -> Item:
    carries = sized.message.carries
    assert isinstance(carries, Summary)
    name = f"{carries.turns:,} earlier turn{'' if carries.turns == 1 else 's'}"
    return Item("summary", name, sized.tokens, fate, why, sized.tokens if fate == "sent" else 0)


def _pin_items(case: "Case", window: Window) -> Iterator[Item]:
    again = {pin.turn for pin in window.pins}
    admitted = {pin.turn: pin for pin in case.pins}
    for sized in dict.fromkeys(case.ask.pins):
        carries = sized.message.carries
        assert isinstance(carries, Pinned)
        turn = carries.turn
        if turn in again:
            why = "pinned; its turn is not in the window"
            yield Item("pin", turn, sized.tokens, "sent", why, sized.tokens)
        elif turn in admitted:
            yield Item("pin", turn, 0, "kept", "pinned; still in the window")
        else:
            why = f"pinned, but its {sized.tokens:,} tokens do not fit what pins may take"
            yield Item("pin", turn, 0, "omitted", why)
    for turn in case.ask.holds:
        yield Item("pin", turn, 0, "kept", "pinned; still in the window")


def _file_items(case: "Case", window: Window, told: Sequence[Sized]) -> Iterator[Item]:
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
        item = _file_item(choice, old.pop(choice.path, 0), new)
        is_pinned = choice.path in case.ask.pinned
        yield replace(item, reason=f"pinned; {item.reason}") if is_pinned else item
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
    carries = sized.message.carries
    if isinstance(carries, FileNotice):
        return carries.path
    assert isinstance(carries, FileState | FileDelta)
    return carries.stamp.path


def _tokens(sized: Iterable[Sized]) -> int:
    return sum(one.tokens for one in sized)
