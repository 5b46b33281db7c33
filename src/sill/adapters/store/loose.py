"""Turns laid down in a row at first and put in their places later.

A turn belongs in half a dozen tables, its texts hashed and compressed, its request cut. Whoever begins or finishes it
need not wait for that: the lease of its chat is taken or given back, and everything else is written as it is in one
row beside it, in the same transaction. Such rows are put in their places, all of them in one transaction, before
anybody reads or changes anything that could depend on them, and in idle moments. So nobody ever sees one, and a
process that dies leaves them to the next.

SQLite does so, where a turn is mostly work. On a server it is mostly the way there and back.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

from ...core.certificate import Certificate
from ...core.messages import Epoch, Message, Role
from ...errors import StoreError
from ...ports import Closing, Opening, SoFar
from . import chats, codec, drafts, leases, recordings, turns
from .database import Transaction
from .drafts import Recent, remember
from .leases import Held, LeaseTimes
from .splice import common

_FIRST = Epoch()
_TAIL = 256  # bytes: what is behind the messages of a request is shorter


@dataclass(frozen=True, slots=True)
class Last:
    """What this process knows of a chat behind its last turn there, and the last request of that one.

    The first three hold for as long as nobody else has had the chat, which its fence tells. The turn is finished, or
    open until this process finishes or forgets it.
    """

    chat: int
    fence: int
    used: int
    turn: str
    body: bytes
    number: int = 0  # of the request in the turn


@dataclass(frozen=True, slots=True)
class New:
    """A turn to begin, by whom, for how long that one may be silent, and when."""

    chat: str
    turn: str
    opening: Opening
    holder: str
    times: LeaseTimes
    now: int  # milliseconds


@dataclass(frozen=True, slots=True)
class Sent:
    """A further request of an open turn."""

    certificate: Certificate
    request: bytes
    so_far: SoFar


# --- Laid down ------------------------------------------------------------------------------------


async def begin(transaction: Transaction, new: New, last: Last | None) -> tuple[Held, Last]:
    """The open turn, and what to remember for the next one.

    Nothing may lie loose: a turn that a dead holder left open is closed with what it said.
    """
    place = await chats.place(transaction, new.chat)
    seen = leases.Seen(place.fence, place.holder)
    free = await leases.hold_after(transaction, place.key, seen, new.holder, new.times)
    if place.is_open:
        await turns.interrupt(transaction, free.chat)
    if new.opening.instead_of is not None:
        await turns.parent_of(transaction, free.chat, new.opening.instead_of)
    like = last if last is not None and last.chat == free.chat else None
    held = _held(free.chat, free.fence, place.used, new)
    return held, await _lay_opening(transaction, held, new, like)


async def begin_next(transaction: Transaction, new: New, last: Last) -> tuple[Held, Last]:
    """The same behind a turn of this process; ``Outdated`` if anybody else has had the chat since."""
    expires = new.now + int(new.times.lasts * 1000)
    if not await leases.take_again(transaction, last.chat, last.fence, new.holder, expires):
        raise turns.Outdated
    held = _held(last.chat, last.fence + 1, last.used, new)
    return held, await _lay_opening(transaction, held, new, last)


def _held(chat: int, fence: int, used: int, new: New) -> Held:
    count = len(new.opening.messages)
    return Held(0, chat, fence, used, count, has_partials=False, id=new.turn)


async def _lay_opening(transaction: Transaction, held: Held, new: New, last: Last | None) -> Last:
    request = new.opening.request
    start = 0 if last is None else _shared(request, last.body)
    like = last if start * 2 > len(request) else None
    if like is None:
        start = 0
    await transaction.run(
        "INSERT INTO loose (owner, chat, fence, turn, said, base, number, start, request)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        transaction.owner,
        held.chat,
        held.fence,
        held.id,
        _opening_bytes(new.opening, new.now),
        like.turn if like else None,
        like.number if like else None,
        start,
        request[start:],
    )
    return Last(held.chat, held.fence, new.now, held.id, request)


def _shared(request: bytes, last: bytes) -> int:
    """How many bytes both begin with: mostly all but the end of the last one."""
    sure = max(0, len(last) - _TAIL)
    if request.startswith(memoryview(last)[:sure]):
        return sure + common(request[sure : sure + _TAIL], last[sure:])
    return common(request, last)


async def finish(transaction: Transaction, held: Held, closing: Closing) -> None:
    if not await leases.give_back_unseen(transaction, held):
        raise turns.closed_meanwhile()
    await transaction.run(
        "INSERT INTO loose (owner, chat, fence, turn, said) VALUES (?, ?, ?, ?, ?)",
        transaction.owner,
        held.chat,
        held.fence,
        held.id,
        _closing_bytes(closing, held),
    )


# --- As bytes: a line of JSON with what is short, and the texts behind it as they are --------------------


def _opening_bytes(opening: Opening, started: int) -> bytes:
    header = [
        _heads(opening.messages),
        opening.model,
        opening.endpoint,
        codec.certificate_text(opening.certificate),
        None if opening.epoch == _FIRST else codec.epoch_text(opening.epoch),
        opening.instead_of,
        started,
    ]
    return _joined(header, [*(message.text for message in opening.messages), opening.plan])


def _opening(said: bytes, request: bytes) -> tuple[Opening, int]:
    header, (*texts, plan) = _parted(said)
    heads, model, endpoint, certificate, epoch, instead_of, started = header
    return Opening(
        _messages(heads, texts),
        model,
        endpoint,
        codec.certificate(certificate),  # type: ignore[arg-type]  # None where it never had one
        _FIRST if epoch is None else codec.epoch(epoch),
        plan,
        request,
        instead_of,
    ), started


def _closing_bytes(closing: Closing, held: Held) -> bytes:
    """Of its messages those that are not kept yet, and where they begin."""
    assert held.messages is not None
    same = turns.common(held.rounds, closing.messages) if held.rounds else 0
    messages = closing.messages[same:]
    header = [
        held.messages + same,
        same < len(held.rounds),
        _heads(messages),
        closing.status,
        codec.certificate_text(closing.certificate),
        codec.usage_text(closing.usage),
        closing.took_ms,
        None if closing.epoch is None else codec.epoch_text(closing.epoch),
    ]
    texts = [*(message.text for message in messages), closing.outcome, closing.references]
    return _joined(header, texts)


def _closing(said: bytes) -> tuple[Closing, int, bool]:
    """And where its messages begin, and whether they replace others."""
    header, (*texts, outcome, references) = _parted(said)
    first, replaces, heads, status, certificate, usage, took, epoch = header
    closing = Closing(
        status,
        _messages(heads, texts),
        outcome,
        codec.certificate(certificate),
        codec.usage(usage),
        took,
        references,
        None if epoch is None else codec.epoch(epoch),
    )
    return closing, first, replaces


def _joined(header: list[Any], texts: Iterable[str]) -> bytes:
    bodies = [codec.as_bytes(text) for text in texts]
    line = codec.dumps([header, [len(body) for body in bodies]])
    return b"".join((line.encode(), b"\n", *bodies))


def _parted(said: bytes) -> tuple[list[Any], list[str]]:
    line, _, bodies = said.partition(b"\n")
    header, sizes = json.loads(line)
    ends = list(accumulate(sizes))
    return header, [
        codec.as_text(bodies[end - size : end]) for end, size in zip(ends, sizes, strict=True)
    ]


def _heads(messages: Iterable[Message]) -> list[tuple[str, str]]:
    return [(message.role, codec.carried_text(message.carries)) for message in messages]


def _messages(heads: Iterable[tuple[Role, str]], texts: Iterable[str]) -> tuple[Message, ...]:
    return tuple(
        Message(role, text, codec.carried(carries))
        for (role, carries), text in zip(heads, texts, strict=True)
    )


# --- Put in its place -----------------------------------------------------------------------------


class _Row(NamedTuple):
    """A turn that was begun, if it has a ``request``; else one that was finished."""

    owner: str
    chat: int
    fence: int
    turn: str
    said: bytes
    base: str | None
    number: int | None
    start: int | None
    request: bytes | None


class Loose:
    """Puts away, and remembers what saves reading for that. Used by one transaction at a time."""

    def __init__(self) -> None:
        self.is_waiting = False  # something was laid down here since
        self._recent: OrderedDict[int, Recent] = OrderedDict()
        self._open: set[str] = set()  # turns of this process

    def forget(self) -> None:
        """A transaction was undone: what was remembered in it never was."""
        self._recent.clear()

    def begun(self, turn: str) -> None:
        self._open.add(turn)
        self.is_waiting = True

    def ended(self, turn: str) -> None:
        self._open.discard(turn)
        self.is_waiting = True

    async def put_away(
        self, transaction: Transaction, for_owner: Callable[[str], Transaction]
    ) -> None:
        """All that lies loose, whoever's it is and whichever process laid it down."""
        self.is_waiting = False
        found = await transaction.rows(
            "SELECT owner, chat, fence, turn, said, base, number, start, request FROM loose"
            " ORDER BY key"
        )
        rows = [_Row(*row) for row in found]
        finished = {row.turn for row in rows if row.request is None}
        for row in rows:
            if row.request is None:
                await self._put_closing(for_owner(row.owner), row)
                continue
            recorded = await self._put_opening(for_owner(row.owner), row, bytes(row.request))
            # An open turn of another process may yet be taken back.
            if row.turn in finished or row.turn in self._open:
                remember(self._recent, row.chat, recorded)
        if rows:
            await transaction.run("DELETE FROM loose")

    async def _put_opening(self, transaction: Transaction, row: _Row, added: bytes) -> Recent:
        recent = await self._like_recent(transaction, row.chat)
        begun = await _begun_like(transaction, row, recent)
        opening, started = _opening(row.said, (begun or b"") + added)
        held, recorded = await turns.put_begun(
            transaction,
            Held(0, row.chat, row.fence),
            drafts.draft(row.turn, opening, recent, started),
            await chats.place_of(transaction, row.chat),
        )
        if begun is None:
            await recordings.forget(transaction, [held.turn])
            return Recent(row.chat)
        return recorded

    async def _put_closing(self, transaction: Transaction, row: _Row) -> None:
        closing, first, replaces = _closing(row.said)
        key = await turns.key_of(transaction, row.turn)
        assert key is not None
        if replaces:
            # What tools brought in earlier rounds was put away meanwhile.
            await transaction.run(
                "DELETE FROM messages WHERE turn = ? AND position >= ?", key, first
            )
        held = Held(key, row.chat, row.fence, messages=first)
        texts = drafts.closing_texts(closing)
        keys = await turns.put_finished(transaction, held, closing, texts)
        # The next request will hold what was just said: no need to look that up.
        if recent := self._recent.get(row.chat):
            said = tuple(message.text for message in closing.messages)
            known = replace(recent, keys={**recent.keys, **keys}, said=said)
            remember(self._recent, row.chat, known)

    async def _like_recent(self, transaction: Transaction, chat: int) -> Recent:
        """What the next request will resemble."""
        if known := self._recent.get(chat):
            return known
        try:
            return await recordings.recent(transaction, chat)
        except StoreError:
            return Recent(chat)  # a damaged recording is in nobody's way but its own

    async def record_request(self, transaction: Transaction, held: Held, sent: Sent) -> int:
        """Its number in the turn, nothing of which lies loose."""
        recent = await self._like_recent(transaction, held.chat)
        further = drafts.further(sent.certificate, sent.request, recent, sent.so_far)
        recorded = await turns.record_request(transaction, held, further)
        remember(self._recent, held.chat, recorded)
        assert recorded.recipe is not None
        return recorded.recipe.key % recordings.EACH

    async def discard(self, transaction: Transaction, held: Held) -> None:
        """The chat as it was before the open turn was begun."""
        await turns.discard(transaction, held)
        # The next request must not be kept against one that is gone.
        self._recent.pop(held.chat, None)


async def _begun_like(transaction: Transaction, row: _Row, recent: Recent) -> bytes | None:
    """What the request has in common with the one it begins like; None if that one is damaged.

    Then nobody can tell any more what was sent. What was said is kept all the same, and stands in nobody's way.
    """
    if row.base is None or row.number is None:
        return b""
    turn = await turns.key_of(transaction, row.base)
    assert turn is not None
    key = turn * recordings.EACH + row.number
    if recent.recording is not None and recent.recipe is not None and recent.recipe.key == key:
        return recent.recording.body[: row.start]
    try:
        return (await recordings.body_of(transaction, key))[: row.start]
    except StoreError:
        return None
