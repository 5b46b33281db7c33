"""One eviction: mask old tool results, drop what newer states replaced, choose how many recent turns stay.

Every file has one best way to stay where it is (a whole copy, or a copy and its deltas) and one way to be
sent afresh. Which of the two a window of the last *k* turns uses depends only on whether it still reaches
back to that copy, so the cost of every *k* comes out of one walk over running sums.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .admission import FileChoice, Wanted, cheap_delta, names, told
from .budget import Budget
from .ledger import Carrier, Holding, Ledger, Spare
from .messages import FileDelta, FileState, Sized


@dataclass(frozen=True, slots=True)
class Stay:
    """A way to leave a file where it is: what must be kept, and what must be added.

    ``tokens`` is what both cost; ``reaches`` is the oldest turn it needs.
    """

    carriers: tuple[Carrier, ...]
    tokens: int
    reaches: int
    extra: Sized | None = None


@dataclass(frozen=True, slots=True)
class File:
    """One path's two ways into the window; ``fresh`` is None where there is nothing to send."""

    path: str
    stay: Stay | None
    fresh: Sized | None
    wanted: Wanted | None

    @property
    def gain(self) -> int:
        """What the cost changes by when the file can stay."""
        return (self.stay.tokens if self.stay else 0) - (self.fresh.tokens if self.fresh else 0)


@dataclass(frozen=True, slots=True)
class Window:
    """The last ``kept`` turns, less the ``dropped`` carriers and what was ``spared``, and what becomes of files."""

    kept: int
    dropped: tuple[Carrier, ...]
    choices: tuple[FileChoice, ...]
    tokens: int
    spared: tuple[Spare, ...] = ()
    pins: tuple["Pin", ...] = ()  # those that must be shown again


@dataclass(frozen=True, slots=True)
class Pin:
    """A turn the user wants to stay: ``reaches`` is the window's turn that shows it, if one does."""

    turn: str
    sized: Sized
    reaches: int | None = None


@dataclass(frozen=True, slots=True)
class Must:
    """What goes in beside turns and files: ``tokens`` of it, and the pins.

    The last ``turns`` turns stay wherever they fit the room at all.
    """

    tokens: int
    pins: Sequence[Pin] = ()
    turns: int = 1


def evict(budget: Budget, must: Must, book: Ledger, wanted: Sequence[Wanted] | None) -> Window:
    """The largest window under the low-water mark.

    ``wanted`` is None between tool rounds: the question has gone out, so what it said of files must stay true
    without a word more, and no new summary can come with it yet.

    Where files and question alone come near that mark, turns may fill half of what is left below the high one:
    a chat about large files needs a memory too. The turns that must stay do so whenever they fit at all. Keeping no
    turn always fits, because admission made sure of it. Old tool results give way before whole turns do; those of the
    latest turn only where what must stay could not otherwise.
    """
    files = _files(book, wanted)
    latest = len(book.talk) - 1
    spares = [spare for spare in book.spares if wanted is not None or not spare.is_summary]
    old = [spare for spare in spares if spare.is_replaced or spare.turn < latest]
    window = _largest(budget, must, book, files, old)
    if window.kept >= must.turns or len(old) == len(spares):
        return window
    return _largest(budget, must, book, files, spares)


def _largest(
    budget: Budget, must: Must, book: Ledger, files: Sequence[File], spares: Sequence[Spare]
) -> Window:
    turns = len(book.talk)
    talk = list(book.talk)
    for spare in spares:
        talk[spare.turn] -= spare.saved
    gains = _gains(files, must.pins)
    # If nothing of it can stay where it is.
    cost = must.tokens + sum(pin.sized.tokens for pin in must.pins)
    cost += sum(file.fresh.tokens for file in files if file.fresh)
    mark = min(budget.high, max(budget.low, (cost + budget.high) // 2))
    kept, tokens = 0, cost
    for count in range(1, turns + 1):
        cost += talk[turns - count] + gains[turns - count]
        if cost <= mark or (count <= must.turns and cost <= budget.room):
            kept, tokens = count, cost
    first = turns - kept
    return replace(
        _window(kept, tokens, files, book),
        spared=tuple(spare for spare in spares if spare.turn >= first),
        pins=tuple(pin for pin in must.pins if pin.reaches is None or pin.reaches < first),
    )


def _gains(files: Sequence[File], pins: Sequence[Pin]) -> Counter[int]:
    """What the cost changes by when the window reaches back to each turn."""
    gains: Counter[int] = Counter()
    for file in files:
        if file.stay is not None:
            gains[file.stay.reaches] += file.gain
    for pin in pins:
        if pin.reaches is not None:
            gains[pin.reaches] -= pin.sized.tokens
    return gains


def _window(kept: int, tokens: int, files: Sequence[File], book: Ledger) -> Window:
    first = len(book.talk) - kept
    staying = [file for file in files if file.stay is not None and file.stay.reaches >= first]
    needed = {
        (carrier.turn, carrier.position)
        for file in staying
        if file.stay is not None
        for carrier in file.stay.carriers
    }
    dropped = tuple(
        carrier
        for carrier in book.carriers
        if first <= carrier.turn < len(book.talk) and (carrier.turn, carrier.position) not in needed
    )
    paths = {file.path for file in staying}
    return Window(
        kept, dropped, tuple(_choice(file, file.path in paths, book) for file in files), tokens
    )


def _files(book: Ledger, wanted: Sequence[Wanted] | None) -> tuple[File, ...]:
    if wanted is None:
        # With notices: what was said of a file stays true only together.
        return tuple(
            File(path, _stay(book, held.carriers), None, None) for path, held in book.held.items()
        )
    offered = {one.offer.stamp.path for one in wanted}
    rest = (
        File(path, _stay(book, chain) if (chain := _chain(held)) else None, None, None)
        for path, held in book.held.items()
        if path not in offered
    )
    return (*(_file(book, one) for one in wanted), *rest)


def _file(book: Ledger, wanted: Wanted) -> File:
    offer, path = wanted.offer, wanted.offer.stamp.path
    if not wanted.admitted:
        known = book.omitted.get(path)
        stay = _stay(book, (known,)) if known and names(known.sized, offer) else None
        return File(path, stay, wanted.notice, wanted)

    held = book.held.get(path)
    ways: list[Stay] = []
    if (copy := book.copies.get(offer.stamp)) is not None:
        ways.append(_stay(book, (copy,)))
    if held is not None and (chain := _chain(held)):
        if held.stamp == offer.stamp:
            ways.append(_stay(book, chain))
        elif (delta := cheap_delta(offer, held.stamp.fingerprint)) is not None:
            ways.append(_stay(book, chain, delta))
    best = min(ways, key=lambda way: way.tokens, default=None)
    if best is not None and best.tokens > offer.full.tokens:
        best = None
    return File(path, best, offer.full, wanted)


def _stay(book: Ledger, carriers: tuple[Carrier, ...], extra: Sized | None = None) -> Stay:
    # What the present turn has sent already is part of what must go in and was counted there.
    old = sum(carrier.sized.tokens for carrier in carriers if carrier.turn < len(book.talk))
    reaches = min(carrier.turn for carrier in carriers)
    return Stay(carriers, old + (extra.tokens if extra else 0), reaches, extra)


def _chain(held: Holding) -> tuple[Carrier, ...]:
    """The copy and its deltas without notices, which an eviction makes pointless.

    Empty for a file that was renamed: it is sent again, as its old copy bears the wrong name.
    """
    chain: list[Carrier] = []
    for carrier in held.carriers:
        carries = carrier.sized.message.carries
        if isinstance(carries, FileState | FileDelta):
            if carries.stamp.path != held.stamp.path:
                return ()
            chain.append(carrier)
    return tuple(chain)


def _choice(file: File, stays: bool, book: Ledger) -> FileChoice:
    match file.wanted:
        case None if stays:
            return FileChoice(file.path, "kept", "sent earlier, still in the window")
        case None if file.stay is None:
            reason = "renamed; the copy in the window bore its old name"
            return FileChoice(file.path, "evicted", reason)
        case None:
            return FileChoice(file.path, "evicted", "left with the turn that carried it")
        case Wanted(admitted=False) as wanted:
            if stays:
                return FileChoice(file.path, "omitted", f"{wanted.reason}; the model knows")
            return FileChoice(file.path, "omitted", told(wanted), file.fresh)
        case Wanted():
            if not stays:
                reason = _why_sent(file, book)
                return FileChoice(file.path, "sent", reason, file.fresh)
            if file.stay is not None and file.stay.extra is not None:
                return FileChoice(file.path, "updated", "changed; sent as a delta", file.stay.extra)
            return FileChoice(file.path, "kept", "unchanged since it was sent")


def _why_sent(file: File, book: Ledger) -> str:
    held = book.held.get(file.path)
    if held is None:
        return "not in the window yet"
    if file.stay is not None:
        return "the turn that carried it was evicted"
    if not _chain(held):
        return "renamed; the copy in the window bore its old name"
    return "one fresh copy costs no more than the old one and its changes"
