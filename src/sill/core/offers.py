"""The ways in which one file could enter a request; the plan chooses among them."""

from collections.abc import Callable
from dataclasses import dataclass

from . import deltas, envelopes
from .ledger import Ledger
from .messages import FileStamp, Fingerprint, Message, Sized, fingerprint


@dataclass(frozen=True, slots=True)
class FileOffer:
    """``delta`` starts from the state the model holds; ``restored`` points at a copy it was given before.

    ``withheld`` says why the whole text is not to be sent although it might fit: the model can read it by itself.
    """

    stamp: FileStamp
    full: Sized
    omitted: Sized
    delta: Sized | None = None
    restored: Sized | None = None
    outline: Sized | None = None
    withheld: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """An offer whose messages have not been counted yet."""

    stamp: FileStamp
    full: Message
    omitted: Message
    delta: Message | None = None
    restored: Message | None = None
    outline: Message | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        ways = (self.full, self.omitted, self.delta, self.restored, self.outline)
        return tuple(message for message in ways if message is not None)

    def sized(self, size: Callable[[Message], Sized]) -> FileOffer:
        return FileOffer(
            stamp=self.stamp,
            full=size(self.full),
            omitted=size(self.omitted),
            delta=size(self.delta) if self.delta else None,
            restored=size(self.restored) if self.restored else None,
            outline=size(self.outline) if self.outline else None,
        )


def draft(book: Ledger, path: str, text: str, outline: str | None = None) -> Draft:
    """Every way to show ``text``, given what the model holds. ``NotText`` for lone surrogates."""
    stamp = FileStamp(path, _checked_fingerprint(text))
    held = book.held.get(path)
    is_stale = held is None or held.stamp != stamp
    return Draft(
        stamp=stamp,
        full=envelopes.state(stamp, text),
        omitted=envelopes.omitted(stamp),
        delta=_delta(held.text, held.stamp, stamp, text) if held and is_stale else None,
        restored=envelopes.restored(stamp) if is_stale and stamp in book.copies else None,
        outline=envelopes.omitted(stamp, outline) if outline is not None else None,
    )


def _checked_fingerprint(text: str) -> Fingerprint:
    try:
        return fingerprint(text)
    except UnicodeEncodeError as error:
        raise envelopes.NotText(error.start) from None


def _delta(base: str | None, held: FileStamp, stamp: FileStamp, text: str) -> Message | None:
    if base is None:
        return None
    return envelopes.delta(stamp, held.fingerprint, deltas.make(base, text))
