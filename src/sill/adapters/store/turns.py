"""Turns as they are written: begun, checkpointed, recorded, finished, interrupted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...core.messages import Message
from ...errors import Fenced, UsageError
from ...ports import Closing
from . import chats, codec, contents, leases, recordings, words
from .chats import Place
from .database import Transaction
from .drafts import Draft, Further, Recent, epoch_bodies, reference_bodies
from .frames import Frame, framed, packed
from .leases import Held, LeaseTimes


class Outdated(Exception):
    """What is remembered of the chat does not hold any more."""


async def begin(
    transaction: Transaction, chat: str, draft: Draft, holder: str, times: LeaseTimes
) -> tuple[Held, Recent]:
    """The open turn, and what to remember of it for the next one."""
    place = await chats.place(transaction, chat)
    seen = leases.Seen(place.fence, place.holder)
    free = await leases.hold_after(transaction, place.key, seen, holder, times)
    if draft.recent.chat not in (0, free.chat):
        raise Outdated
    if place.is_open:
        await interrupt(transaction, free.chat)
    return await put_begun(transaction, free, draft, place)


async def put_begun(
    transaction: Transaction, free: Held, draft: Draft, place: Place
) -> tuple[Held, Recent]:
    """The same in a chat that is this process's, or was when the turn was begun."""
    keys = await contents.keep(transaction, free, draft.texts)
    turn, plan = await insert_turn(transaction, free, draft, keys, place)
    messages = draft.opening.messages
    await insert_messages(transaction, turn, messages, keys, 0)
    said = words.talk(messages)
    held = Held(turn, free.chat, free.fence, place.used, len(messages), said, has_partials=False)
    new = recordings.New(
        draft.opening.certificate, draft.recording, draft.recent, keys, turn_plan=plan
    )
    return held, await recordings.insert(transaction, held, new)


async def insert_turn(
    transaction: Transaction, held: Held, draft: Draft, keys: Mapping[bytes, int], place: Place
) -> tuple[int, Frame]:
    """The turn's key, and its plan for later ones to be kept against."""
    opening = draft.opening
    await transaction.run(
        f"UPDATE chats SET turns = ?, used = COALESCE(?, {transaction.now}) WHERE key = ? AND owner = ?",
        place.turns + 1,
        draft.started,
        held.chat,
        transaction.owner,
    )
    head, depth = place.head, place.depth
    if opening.instead_of is not None:
        head, depth = await parent_of(transaction, held.chat, opening.instead_of)
    plan = codec.as_bytes(opening.plan)
    frame, packed_plan = packed(plan, draft.recent.plan)
    key = await transaction.insert(
        "INSERT INTO turns (owner, id, chat, sequence, parent, depth, status, fence, started, epoch,"
        " model, endpoint, certificate, frame, plan)"
        f" VALUES (?, ?, ?, ?, ?, ?, 'open', ?, COALESCE(?, {transaction.now}), ?, ?, ?, ?, ?, ?)",
        transaction.owner,
        draft.turn,
        held.chat,
        place.turns + 1,
        head,
        0 if depth is None else depth + 1,
        held.fence,
        draft.started,
        next((keys[body] for body in epoch_bodies(opening.epoch)), None),
        opening.model,
        opening.endpoint,
        codec.certificate_text(opening.certificate),
        frame and frame.key,
        packed_plan,
    )
    assert key is not None
    return key, framed(key, plan, frame)


async def parent_of(
    transaction: Transaction, chat: int, turn: str
) -> tuple[int | None, int | None]:
    """What the turn continued, and how deep that is."""
    row = await transaction.row(
        "SELECT turns.parent, above.depth FROM turns LEFT JOIN turns AS above"
        " ON above.key = turns.parent WHERE turns.owner = ? AND turns.id = ? AND turns.chat = ?",
        transaction.owner,
        turn,
        chat,
    )
    if row is None:
        raise UsageError(f"the chat has no turn {turn}")
    parent, depth = row
    return parent, depth


async def insert_messages(
    transaction: Transaction,
    turn: int,
    messages: Sequence[Message],
    keys: Mapping[bytes, int],
    first: int | None = None,
) -> None:
    """From the place ``first`` on; behind those the turn has already if it is not known."""
    if first is None:
        row = await transaction.row("SELECT COUNT(*) FROM messages WHERE turn = ?", turn)
        first = row[0] if row else 0
    await transaction.many(
        "INSERT INTO messages (turn, position, owner, role, carries, content, said)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                turn,
                position,
                transaction.owner,
                message.role,
                codec.carried_text(message.carries),
                keys[codec.as_bytes(message.text)],
                int(words.is_said_before_calls(message)),
            )
            for position, message in enumerate(messages, first)
        ],
    )


# --- While it is open ----------------------------------------------------------------------------


async def _check(transaction: Transaction, held: Held) -> Held:
    """With its key, if it was begun without one."""
    if not held.turn:
        key = await key_of(transaction, held.id)
        held = replace(held, turn=0 if key is None else key)
    if not await leases.is_held(transaction, held):
        raise closed_meanwhile()
    return held


async def key_of(transaction: Transaction, turn: str) -> int | None:
    row = await transaction.row(
        "SELECT key FROM turns WHERE owner = ? AND id = ?", transaction.owner, turn
    )
    return None if row is None else row[0]


def closed_meanwhile() -> Fenced:
    return Fenced(
        "this turn was closed by somebody else meanwhile", hint="what had arrived is kept"
    )


async def append_partial(transaction: Transaction, held: Held, start: int, text: str) -> None:
    """``text`` follows the ``start`` characters that are kept already; 0 begins anew."""
    held = await _check(transaction, held)
    if start == 0:
        await transaction.run("DELETE FROM partials WHERE turn = ?", held.turn)
    await transaction.run(
        "INSERT INTO partials (turn, position, owner, text) VALUES (?, ?, ?, ?)",
        held.turn,
        start,
        transaction.owner,
        codec.as_bytes(text),
    )


async def record_request(transaction: Transaction, held: Held, further: Further) -> Recent:
    """The request, and the turn's rounds so far; of words only those that follow them are partial."""
    held = await _check(transaction, held)
    keys = await contents.keep(transaction, held, further.texts)
    if further.so_far.rounds != held.rounds:
        await _insert_rounds(transaction, held, further.so_far.rounds, keys)
        await transaction.run("DELETE FROM partials WHERE turn = ?", held.turn)
    if further.so_far.references:
        await transaction.run(
            "UPDATE turns SET cites = ? WHERE key = ? AND owner = ?",
            keys[codec.as_bytes(further.so_far.references)],
            held.turn,
            transaction.owner,
        )
    new = recordings.New(further.certificate, further.recording, further.recent, keys)
    return await recordings.append(transaction, held, replace(new, plan=further.so_far.plan))


async def _insert_rounds(
    transaction: Transaction, held: Held, messages: Sequence[Message], keys: Mapping[bytes, int]
) -> None:
    """``messages`` behind those the turn began with, in place of the rounds that are kept."""
    same = common(held.rounds, messages)
    first = None if held.messages is None else held.messages + same
    if same < len(held.rounds):
        # What tools brought in earlier rounds was put away meanwhile.
        await transaction.run(
            "DELETE FROM messages WHERE turn = ? AND position >= ?", held.turn, first
        )
    await insert_messages(transaction, held.turn, messages[same:], keys, first)


def common(one: Sequence[Message], other: Sequence[Message]) -> int:
    """How many messages both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


async def finish(
    transaction: Transaction,
    held: Held,
    closing: Closing,
    texts: Mapping[bytes, contents.Content],
) -> dict[bytes, int]:
    """The keys of the texts it ended with."""
    if not await leases.give_back(transaction, held):
        raise closed_meanwhile()
    return await put_finished(transaction, held, closing, texts)


async def put_finished(
    transaction: Transaction,
    held: Held,
    closing: Closing,
    texts: Mapping[bytes, contents.Content],
) -> dict[bytes, int]:
    """The same for a turn whose chat was given back."""
    keys = await contents.keep(transaction, held, texts)
    await _insert_rounds(transaction, held, closing.messages, keys)
    if closing.epoch is not None:
        await transaction.run(
            "UPDATE turns SET epoch = ? WHERE key = ? AND owner = ?",
            next((keys[body] for body in epoch_bodies(closing.epoch)), None),
            held.turn,
            transaction.owner,
        )
    cites = next((keys[body] for body in reference_bodies(closing.references)), None)
    await _close(transaction, held, closing, cites)
    return keys


async def _close(
    transaction: Transaction, held: Held, closing: Closing, cites: int | None = None
) -> None:
    await transaction.run(
        "UPDATE turns SET status = ?, outcome = ?, usage = ?, cites = ?, took = ?,"
        " certificate = COALESCE(NULLIF(?, ''), certificate) WHERE key = ? AND owner = ?",
        closing.status,
        closing.outcome,
        codec.usage_text(closing.usage),
        cites,
        closing.took_ms,
        codec.certificate_text(closing.certificate),
        held.turn,
        transaction.owner,
    )
    if held.has_partials:
        await transaction.run("DELETE FROM partials WHERE turn = ?", held.turn)
    if closing.status == "complete":
        await transaction.run(
            "UPDATE chats SET head = ? WHERE key = ? AND owner = ?",
            held.turn,
            held.chat,
            transaction.owner,
        )
    said = None if held.said is None else (*held.said, *words.talk(closing.messages))
    await words.index(transaction, held.turn, said)


async def discard(transaction: Transaction, held: Held) -> None:
    """The chat as it was before the open turn was begun."""
    held = await _check(transaction, held)
    await recordings.forget(transaction, [held.turn])
    for table in ("messages", "partials"):
        await transaction.run(
            f"DELETE FROM {table} WHERE turn = ? AND owner = ?", held.turn, transaction.owner
        )
    # Whatever the chat did not use before this turn was written under its fence.
    await contents.forget(transaction, held.chat, held.fence)
    await transaction.run(
        "DELETE FROM turns WHERE key = ? AND owner = ?", held.turn, transaction.owner
    )
    await transaction.run(
        "UPDATE chats SET turns = turns - 1, used = ? WHERE key = ? AND owner = ?",
        held.used,
        held.chat,
        transaction.owner,
    )
    await leases.release(transaction, held)


async def keep(transaction: Transaction, turn: str, holder: str, times: LeaseTimes) -> bool:
    """Let the chat go on from a turn that did not end by itself, if nothing came after it."""
    row = await transaction.row(
        "SELECT key, chat FROM turns WHERE owner = ? AND id = ?", transaction.owner, turn
    )
    if row is None:
        raise UsageError(f"there is no turn {turn}")
    held = await leases.hold(transaction, row[1], holder, times)
    kept = await transaction.run(
        "UPDATE chats SET head = ? WHERE key = ? AND owner = ? AND EXISTS (SELECT 1 FROM turns"
        " WHERE turns.key = ? AND turns.status IN ('partial', 'cancelled', 'interrupted')"
        " AND COALESCE(turns.parent, 0) = COALESCE(chats.head, 0))",
        row[0],
        row[1],
        transaction.owner,
        row[0],
    )
    await leases.release(transaction, held)
    return bool(kept)


# --- After a holder's death ----------------------------------------------------------------------


async def interrupt(transaction: Transaction, chat: int) -> None:
    """Close the turn that a dead holder left open, with what had arrived."""
    row = await transaction.row(
        f"SELECT key, fence, {transaction.now} - started, cites FROM turns"
        " WHERE chat = ? AND owner = ? AND status = 'open'",
        chat,
        transaction.owner,
    )
    if row is None:
        return
    held = Held(row[0], chat, row[1])
    parts = await transaction.rows(
        "SELECT text FROM partials WHERE turn = ? ORDER BY position", held.turn
    )
    text = b"".join(bytes(part) for (part,) in parts)
    messages = (Message("assistant", codec.as_text(text)),) if text else ()
    keys = await contents.keep(transaction, held, contents.prepared([text] if text else []))
    await insert_messages(transaction, held.turn, messages, keys)
    await _close(
        transaction,
        held,
        Closing("interrupted", messages, "the program ended before the answer did", took_ms=row[2]),
        row[3],
    )


async def abandoned(transaction: Transaction) -> list[tuple[int, int]]:
    """Chat and fence of every open turn whose holder is dead or silent."""
    # Whoever finishes gives its lease back by setting its end to 0.
    rows = await transaction.rows(
        f"SELECT chat, holder, fence, expires, {transaction.now} FROM leases"
        " WHERE owner = ? AND expires > 0 ORDER BY chat",
        transaction.owner,
    )
    return [
        (chat, fence)
        for chat, holder, fence, expires, now in rows
        if expires <= now or leases.is_dead(holder)
    ]


async def interrupt_abandoned(transaction: Transaction) -> int:
    """Close every turn that was left open; how many there were."""
    closed = 0
    for chat, fence in await abandoned(transaction):
        # The higher number shuts the old holder out; the chat is free at once.
        if await transaction.run(
            "UPDATE leases SET fence = fence + 1, expires = 0 WHERE chat = ? AND fence = ?",
            chat,
            fence,
        ):
            await interrupt(transaction, chat)
            closed += 1
    return closed
