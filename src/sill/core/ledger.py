"""What the model holds of each file, read off the messages that are really in the window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, assert_never

from . import deltas, envelopes
from .messages import (
    Epoch,
    FileDelta,
    FileNotice,
    FileStamp,
    FileState,
    Message,
    Recall,
    Sized,
    Summary,
    Turn,
    fingerprint,
)

FileCarried = FileState | FileDelta | FileNotice


@dataclass(frozen=True, slots=True)
class Carrier:
    """A hidden message about a file: ``turn`` counts the window's turns, whose end is the present turn."""

    turn: int
    position: int
    sized: Sized


@dataclass(frozen=True, slots=True)
class Holding:
    """A state the model can put together: a whole copy, then what led from it to ``stamp`` without a gap."""

    stamp: FileStamp
    carriers: tuple[Carrier, ...]

    @property
    def tokens(self) -> int:
        return sum(carrier.sized.tokens for carrier in self.carriers)

    @property
    def text(self) -> str | None:
        """The file as the model can put it together; None if any fingerprint on the way is wrong."""
        return text_of([carrier.sized.message for carrier in self.carriers])


@dataclass(frozen=True, slots=True)
class Spare:
    """A message that an eviction can do without: a stub can stand for it (``saved`` tokens less), or it is
    dropped whole, because a new summary replaces it or the question it was recalled for has been answered."""

    turn: int
    position: int
    saved: int
    is_replaced: bool = False
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """The window's files, and what of it could be spared.

    ``held`` by path; ``copies`` are whole copies by state, superseded ones too; ``omitted`` are the notices
    in force that name a file without showing it; ``carriers`` are all messages about files, in order; ``talk``
    has the tokens of each turn without those.
    """

    held: Mapping[str, Holding]
    copies: Mapping[FileStamp, Carrier]
    omitted: Mapping[str, Carrier]
    carriers: tuple[Carrier, ...]
    talk: tuple[int, ...]
    spares: tuple[Spare, ...] = ()

    def after(self, messages: Sequence[Sized]) -> Self:
        """The ledger once these have been added to the present turn."""
        book = _Book(dict(self.held), dict(self.copies), dict(self.omitted), list(self.carriers))
        for position, sized in enumerate(messages):
            if isinstance(sized.message.carries, FileCarried):
                book.enter(Carrier(len(self.talk), position, sized))
        return replace(
            self,
            held=book.held,
            copies=book.copies,
            omitted=book.omitted,
            carriers=tuple(book.carriers),
        )


def window(turns: Sequence[Turn], epoch: Epoch) -> Sequence[Turn]:
    """The turns that the epoch still shows. Earlier ones may have been left out by whoever loaded them."""
    if epoch.first is None:
        return turns
    start = next((at for at, turn in enumerate(turns) if turn.id == epoch.first), 0)
    if turns and not shown(turns[start], epoch):
        start += 1
    return turns[start:]


def shown(turn: Turn, epoch: Epoch) -> list[Message]:
    """The turn's messages that are rendered."""
    if not epoch.dropped and not epoch.masked:
        return [sized.message for sized in turn.messages]
    stubs = {at: stub.message for at, stub in turn.stubs if (turn.id, at) in epoch.masked}
    return [
        stubs.get(position, sized.message)
        for position, sized in enumerate(turn.messages)
        if (turn.id, position) not in epoch.dropped
    ]


def read(turns: Sequence[Turn], epoch: Epoch) -> Ledger:
    """The ledger of a window (see ``window``)."""
    book = _Book({}, {}, {}, [])
    talk: list[int] = []
    spares: list[Spare] = []
    for index, turn in enumerate(turns):
        tokens = turn.tokens
        for position, sized in enumerate(turn.messages):
            if sized.message.carries is None:
                break  # the question: all that is hidden stands before it
            if (turn.id, position) in epoch.dropped:
                tokens -= sized.tokens
            elif isinstance(sized.message.carries, FileCarried):
                book.enter(Carrier(index, position, sized))
                tokens -= sized.tokens
            elif isinstance(sized.message.carries, Summary | Recall):
                is_summary = isinstance(sized.message.carries, Summary)
                spares.append(Spare(index, position, sized.tokens, True, is_summary))
        for position, stub in turn.stubs:
            saved = turn.messages[position].tokens - stub.tokens
            if (turn.id, position) in epoch.masked:
                tokens -= saved
            elif saved > 0 and (turn.id, position) not in epoch.dropped:
                spares.append(Spare(index, position, saved))
        talk.append(tokens)
    carriers = tuple(book.carriers)
    return Ledger(book.held, book.copies, book.omitted, carriers, tuple(talk), tuple(spares))


def text_of(messages: Sequence[Message]) -> str | None:
    """Follow a whole copy and its deltas; None at the first fingerprint that does not match."""
    text: str | None = None
    for message in messages:
        match message.carries:
            case FileState(stamp):
                text = envelopes.read(message).get("content")
            case FileDelta(stamp, base):
                if text is None or fingerprint(text) != base:
                    return None
                text = deltas.apply(text, str(envelopes.read(message).get("diff")))
            case _:
                continue
        if text is None or fingerprint(text) != stamp.fingerprint:
            return None
    return text


@dataclass(slots=True)
class _Book:
    """A ledger while it is being written."""

    held: dict[str, Holding]
    copies: dict[FileStamp, Carrier]
    omitted: dict[str, Carrier]
    carriers: list[Carrier]

    def enter(self, carrier: Carrier) -> None:
        self.carriers.append(carrier)
        match carrier.sized.message.carries:
            case FileState(stamp):
                self.copies[stamp] = carrier
                self._hold(stamp, (carrier,))
            case FileDelta(stamp, base):
                known = self.held.pop(stamp.path, None)
                if known is not None and known.stamp.fingerprint == base:
                    self._hold(stamp, (*known.carriers, carrier))
            case FileNotice() as notice:
                self._note(notice, carrier)

    def _note(self, notice: FileNotice, carrier: Carrier) -> None:
        known = self.held.pop(notice.path, None)
        match notice.event:
            case "deleted":
                self.omitted.pop(notice.path, None)
            case "omitted":
                self.omitted[notice.path] = carrier
            case "renamed":
                if known is not None and notice.new_path is not None:
                    stamp = FileStamp(notice.new_path, known.stamp.fingerprint)
                    self._hold(stamp, (*known.carriers, carrier))
            case "restored":
                if notice.fingerprint is not None:
                    stamp = FileStamp(notice.path, notice.fingerprint)
                    if (copy := self.copies.get(stamp)) is not None:
                        self._hold(stamp, (copy, carrier))
            case never:
                assert_never(never)

    def _hold(self, stamp: FileStamp, carriers: tuple[Carrier, ...]) -> None:
        self.held[stamp.path] = Holding(stamp, carriers)
        self.omitted.pop(stamp.path, None)
