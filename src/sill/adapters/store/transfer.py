"""Whole chats out of a database and into another."""

from dataclasses import replace

from ...errors import UsageError
from ...ports import ChatCopy, Opening, StoredTurn
from ...records import Recorded, StoredAttempt, StoredProposal
from . import chats, codec, contents, desk, ledger, reading, recordings, words
from .database import Transaction
from .drafts import Recent, draft, message_texts, new_pieces, reference_bodies
from .leases import Held
from .recorder import record
from .turns import insert_messages, insert_turn


async def copy(transaction: Transaction, chat: str) -> ChatCopy:
    """The chat as it is in this moment."""
    info = await chats.one(transaction, chat)
    if info is None:
        raise chats.missing(chat)
    key = await chats.key_of(transaction, chat)
    head = await transaction.row(
        "SELECT turns.id FROM chats JOIN turns ON turns.key = chats.head WHERE chats.key = ?", key
    )
    found = [t for t in await reading.turns(transaction, key, None) if t.status != "open"]
    requests = {}
    for turn in found:
        requests[turn.id] = tuple(await reading.requests(transaction, turn.id))
    return ChatCopy(
        replace(info, turns=len(found)),
        head[0] if head else None,
        tuple(found),
        requests,
        tuple(await desk.proposals(transaction, chat)),
        tuple(await ledger.every(transaction, 0, chat, None)),
        tuple(await chats.pins(transaction, chat)),
    )


async def add(transaction: Transaction, copied: ChatCopy) -> None:
    info = copied.info
    await _refuse_if_here(transaction, copied)
    chat = await chats.create(transaction, info.id, info.workspace, info.title)
    keys: dict[str, int] = {}
    depths: dict[str | None, int] = {None: -1}
    recent = Recent()
    for turn in copied.turns:
        keys[turn.id], recent = await _add_turn(
            transaction, chat, turn, copied.requests[turn.id], recent
        )
        depths[turn.id] = depths[turn.parent] + 1
        await transaction.run(
            "UPDATE turns SET parent = ?, depth = ?, sequence = ? WHERE key = ?",
            keys[turn.parent] if turn.parent else None,
            depths[turn.id],
            turn.sequence,
            keys[turn.id],
        )
    await transaction.run(
        "UPDATE chats SET head = ?, turns = ?, created = ?, used = ?, pinned = ?, archived = ?"
        " WHERE key = ?",
        keys[copied.head] if copied.head else None,
        max((turn.sequence for turn in copied.turns), default=0),
        info.created_ms,
        info.used_ms,
        int(info.pinned),
        int(info.archived),
        chat,
    )
    for proposal in copied.proposals:
        await _add_proposal(transaction, proposal)
    for attempt in copied.attempts:
        await put_attempt(transaction, attempt)
    for pin in copied.pins:
        await chats.pin(transaction, info.id, pin)


async def _refuse_if_here(transaction: Transaction, copied: ChatCopy) -> None:
    if await chats.one(transaction, copied.info.id) is not None:
        raise UsageError(
            f"the chat {copied.info.id[:12]} is here already",
            hint="delete it first, or import into another database",
        )
    for turn in copied.turns:
        if await transaction.row(
            "SELECT 1 FROM turns WHERE owner = ? AND id = ?", transaction.owner, turn.id
        ):
            raise UsageError(f"the turn {turn.id[:12]} is here already, in another chat")


async def _add_turn(
    transaction: Transaction,
    chat: int,
    turn: StoredTurn,
    requests: tuple[Recorded, ...],
    recent: Recent,
) -> tuple[int, Recent]:
    """The turn's key, and what the next one is kept against."""
    first = requests[0] if requests else Recorded(None, b"")
    opening = Opening(
        messages=turn.messages,
        model=turn.model,
        endpoint=turn.endpoint,
        certificate=turn.certificate,  # type: ignore[arg-type]  # None where it never had one
        epoch=turn.epoch,
        # Without any of its own, as older copies are, the turn has the one plan that is known.
        plan=first.plan if any(one.plan for one in requests) else turn.plan,
        request=first.request,
    )
    begun = draft(turn.id, opening, recent)
    held = Held(0, chat, 0)
    cited = contents.prepared(reference_bodies(turn.references))
    texts = await contents.keep(
        transaction, held, begun.texts | message_texts(turn.messages) | cited
    )
    place = chats.Place(chat, 0, 0, None, None, None, None, False)
    key, plan = await insert_turn(transaction, held, begun, texts, place)
    held = replace(held, turn=key)
    await transaction.run(
        "UPDATE turns SET status = ?, started = ?, took = ?, outcome = ?, usage = ?, cites = ?"
        " WHERE key = ?",
        turn.status,
        turn.started_ms,
        turn.took_ms,
        turn.outcome,
        codec.usage_text(turn.usage),
        next((texts[body] for body in reference_bodies(turn.references)), None),
        key,
    )
    await insert_messages(transaction, key, turn.messages, texts, 0)
    for number, recorded in enumerate(requests):
        recording = record(recorded.request, [m.text for m in turn.messages], recent.recording)
        keys = await contents.keep(
            transaction, held, contents.prepared(new_pieces(recording, recent))
        )
        new = recordings.New(
            recorded.certificate,
            recording,
            recent,
            keys,
            number,
            recorded.plan if number else "",
            plan,
        )
        recent = await recordings.insert(transaction, held, new)
    await words.index(transaction, key)
    return key, recent if requests else replace(recent, plan=plan)


async def _add_proposal(transaction: Transaction, proposal: StoredProposal) -> None:
    await desk.add_proposal(transaction, proposal)
    await transaction.run(
        "UPDATE proposals SET created = ?, decided = ?, decided_by = ? WHERE owner = ? AND id = ?",
        proposal.created_ms,
        proposal.decided_ms,
        proposal.decided_by,
        transaction.owner,
        proposal.id,
    )


async def put_attempt(transaction: Transaction, stored: StoredAttempt) -> None:
    """What was paid stays in the ledger when its chat is deleted, so it may be there already."""
    if await transaction.row(
        "SELECT 1 FROM attempts WHERE owner = ? AND id = ?", transaction.owner, stored.id
    ):
        return
    await ledger.begin(transaction, stored.id, stored.attempt, ())
    if stored.settlement is not None:
        await ledger.settle(transaction, stored.id, stored.settlement)
    await transaction.run(
        "UPDATE attempts SET started = ?, settled = ? WHERE owner = ? AND id = ?",
        stored.started_ms,
        stored.settled_ms,
        transaction.owner,
        stored.id,
    )
    if stored.price_since_ms is not None:
        await ledger.date_price(transaction, stored.id, stored.price_since_ms)
