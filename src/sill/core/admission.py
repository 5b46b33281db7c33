"""Which files may go in, and what to do about each while the window only grows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .budget import Budget
from .ledger import Ledger
from .messages import FileDelta, FileNotice, Sized
from .offers import FileOffer

FileFate = Literal["kept", "sent", "updated", "omitted", "evicted"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """An offer and whether its whole text may go in; ``notice`` names the file where it may not."""

    offer: FileOffer
    admitted: bool
    reason: str = ""
    notice: Sized | None = None


@dataclass(frozen=True, slots=True)
class FileChoice:
    """What becomes of a file: the message to send, if any, and why."""

    path: str
    fate: FileFate
    reason: str
    message: Sized | None = None


def admit(
    budget: Budget, fixed: int, offers: Sequence[FileOffer], latest: int
) -> tuple[Wanted, ...]:
    """Decide in order of priority, as if every file had to be sent whole now.

    Files within the files' share outrank every old turn. Past the share a file outranks all but the latest
    turn: it goes in only if that turn (``latest`` tokens) still fits beside it. What the model already holds
    plays no part, so the answer does not change from turn to turn by itself.
    """
    wanted: list[Wanted] = []
    used, shared = fixed, 0
    for offer in offers:
        tokens = offer.full.tokens
        limit = budget.high if shared + tokens <= budget.files else budget.high - latest
        if used + tokens <= limit and not offer.withheld:
            wanted.append(Wanted(offer, admitted=True))
            used, shared = used + tokens, shared + tokens
            continue
        notice = _notice(offer, room=budget.room - used, spare=limit - used)
        reason = offer.withheld or _too_large(tokens, max(0, limit - used))
        wanted.append(Wanted(offer, False, reason, notice))
        used += notice.tokens if notice else 0
    return tuple(wanted)


def in_place(book: Ledger, wanted: Wanted) -> FileChoice | None:
    """The file's fate if nothing may be taken out; None if that would mislead the model.

    It would, where one state were shown twice, or an outdated copy stayed without a word about it.
    """
    offer, path = wanted.offer, wanted.offer.stamp.path
    held = book.held.get(path)
    if held is not None and held.stamp == offer.stamp:
        return FileChoice(path, "kept", "unchanged since it was sent")
    if offer.stamp in book.copies:
        reason = "back in a state that is still in the window"
        return FileChoice(path, "updated", reason, offer.restored) if offer.restored else None
    if held is not None and (delta := cheap_delta(offer, held.stamp.fingerprint)) is not None:
        saved = offer.full.tokens - delta.tokens
        return FileChoice(path, "updated", f"changed; the delta saves {saved:,} tokens", delta)
    if wanted.admitted:
        return FileChoice(path, "sent", "changed" if held else "not in the window yet", offer.full)
    known = book.omitted.get(path)
    if known is not None and names(known.sized, offer):
        return FileChoice(path, "omitted", f"{wanted.reason}; the model knows")
    if held is not None and wanted.notice is None:
        return None
    return FileChoice(path, "omitted", told(wanted), wanted.notice)


def cheap_delta(offer: FileOffer, held: str) -> Sized | None:
    """The delta, if it starts from the state held and costs under half of the file."""
    delta = offer.delta
    if delta is None or not isinstance(delta.message.carries, FileDelta):
        return None
    fits = delta.message.carries.base == held and 2 * delta.tokens < offer.full.tokens
    return delta if fits else None


def _notice(offer: FileOffer, room: int, spare: int) -> Sized | None:
    if offer.outline is not None and offer.outline.tokens <= spare:
        return offer.outline
    return offer.omitted if offer.omitted.tokens <= room else None


def names(notice: Sized, offer: FileOffer) -> bool:
    """Whether the notice speaks of the very state that is offered."""
    carries = notice.message.carries
    return isinstance(carries, FileNotice) and carries.fingerprint == offer.stamp.fingerprint


def told(wanted: Wanted) -> str:
    """Why the file is left out, and what the model hears of it."""
    if wanted.notice is None:
        return f"{wanted.reason}; no room even to name it"
    if wanted.notice is wanted.offer.outline:
        return f"{wanted.reason}; its outline is sent instead"
    return f"{wanted.reason}; the model is told"


def _too_large(tokens: int, left: int) -> str:
    return f"{tokens:,} tokens do not fit the {left:,} left for files"
