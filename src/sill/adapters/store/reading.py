"""Turns as they are read: a plan's history, one turn with its request, a whole chat."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ...core.messages import Epoch, Message
from ...errors import UsageError
from ...ports import History, StoredTurn
from ...records import Recorded
from . import codec, contents, recordings
from .database import Row, Transaction
from .frames import Frames

_TURN = (
    "turns.key, turns.id, chats.id, turns.status, turns.model, turns.endpoint, turns.outcome,"
    " turns.certificate, turns.usage, turns.epoch, turns.started, turns.took, turns.refs,"
    " turns.sequence, above.id, turns.cites"
)
_FROM = (
    " FROM turns JOIN chats ON chats.key = turns.chat"
    " LEFT JOIN turns AS above ON above.key = turns.parent"
)


async def history(transaction: Transaction, chat: int) -> History:
    """What the chat's next turn is planned from."""
    row = await transaction.row(
        "SELECT head FROM chats WHERE key = ? AND owner = ?", chat, transaction.owner
    )
    return await _way_to(transaction, row[0] if row else None)


async def history_at(transaction: Transaction, turn: str) -> History:
    """What this turn was planned from."""
    row = await transaction.row(
        "SELECT parent FROM turns WHERE owner = ? AND id = ?", transaction.owner, turn
    )
    if row is None:
        raise UsageError(f"there is no turn {turn}")
    return await _way_to(transaction, row[0])


async def _way_to(transaction: Transaction, head: int | None) -> History:
    """The way from a finished turn back to the first one still in its window."""
    last = await transaction.row(
        "SELECT epoch, depth FROM turns WHERE key = ? AND owner = ?", head, transaction.owner
    )
    if last is None:
        return History((), Epoch())
    epoch_key, depth = last
    epoch = (await _epochs(transaction, [epoch_key]))[epoch_key]
    first = await _depth_of(transaction, epoch.first)
    rows = await transaction.rows(
        "WITH RECURSIVE way (key, parent, depth) AS ("
        " SELECT key, parent, depth FROM turns WHERE key = ? UNION ALL"
        " SELECT turns.key, turns.parent, turns.depth FROM way JOIN turns ON turns.key = way.parent"
        " WHERE way.depth > ?)"
        f" SELECT {_TURN}{_FROM} JOIN way ON way.key = turns.key ORDER BY turns.sequence",
        head,
        first,
    )
    return History(await _with_messages(transaction, rows), epoch, min(first, depth))


async def _depth_of(transaction: Transaction, turn: str | None) -> int:
    if turn is None:
        return 0
    row = await transaction.row(
        "SELECT depth FROM turns WHERE owner = ? AND id = ?", transaction.owner, turn
    )
    return row[0] if row else 0


async def _epochs(transaction: Transaction, keys: Sequence[int | None]) -> dict[int | None, Epoch]:
    found = await contents.bodies(transaction, [key for key in keys if key is not None])
    epochs: dict[int | None, Epoch] = {None: Epoch()}
    return epochs | {key: codec.epoch(codec.as_text(body)) for key, body in found.items()}


async def _with_messages(transaction: Transaction, rows: Sequence[Row]) -> tuple[StoredTurn, ...]:
    """The turns of these rows, whole but for plans and requests."""
    epochs = await _epochs(transaction, [row[9] for row in rows])
    messages = await _messages(transaction, [row[0] for row in rows])
    cited = await contents.bodies(transaction, [row[15] for row in rows if row[15] is not None])
    return tuple(_turn(row, messages[row[0]], epochs[row[9]], cited.get(row[15])) for row in rows)


def _turn(row: Row, messages: Sequence[Message], epoch: Epoch, cited: bytes | None) -> StoredTurn:
    return StoredTurn(
        id=row[1],
        chat=row[2],
        status=row[3],
        messages=tuple(messages),
        model=row[4],
        endpoint=row[5],
        outcome=row[6],
        certificate=codec.certificate(row[7]),
        usage=codec.usage(row[8]),
        epoch=epoch,
        started_ms=row[10],
        took_ms=row[11],
        references=row[12] if cited is None else codec.as_text(cited),
        sequence=row[13],
        parent=row[14],
    )


async def _messages(transaction: Transaction, turns: Sequence[int]) -> dict[int, list[Message]]:
    found: dict[int, list[Message]] = defaultdict(list)
    for start in range(0, len(turns), 500):
        some = turns[start : start + 500]
        for turn, role, carries, coding, body in await transaction.rows(
            "SELECT messages.turn, messages.role, messages.carries, contents.codec, contents.body"
            " FROM messages JOIN contents ON contents.key = messages.content"
            f" WHERE messages.owner = ? AND messages.turn IN ({contents.places(some)})"
            " ORDER BY messages.turn, messages.position",
            transaction.owner,
            *some,
        ):
            text = codec.as_text(codec.unsqueeze(coding, body))
            found[turn].append(Message(role, text, codec.carried(carries)))
    return found


async def turns(transaction: Transaction, chat: int, limit: int | None) -> list[StoredTurn]:
    rows = await transaction.rows(
        f"SELECT {_TURN}, turns.frame, turns.plan{_FROM} WHERE turns.chat = ? AND turns.owner = ?"
        " ORDER BY turns.sequence DESC" + (f" LIMIT {int(limit)}" if limit is not None else ""),
        chat,
        transaction.owner,
    )
    return await _with_plans(transaction, rows[::-1])


async def turn(transaction: Transaction, id: str) -> StoredTurn | None:
    rows = await transaction.rows(
        f"SELECT {_TURN}, turns.frame, turns.plan{_FROM} WHERE turns.owner = ? AND turns.id = ?",
        transaction.owner,
        id,
    )
    if not rows:
        return None
    (found,) = await _with_plans(transaction, rows)
    sent = await recordings.of_turn(transaction, rows[0][0])
    return replace(found, request=sent[-1].request if sent else b"")


async def ids(transaction: Transaction, beginning: str) -> list[str]:
    # Ids are letters and digits; anything else begins none of them.
    if not beginning.isalnum():
        return []
    rows = await transaction.rows(
        "SELECT id FROM turns WHERE owner = ? AND id LIKE ? ORDER BY key DESC LIMIT 10",
        transaction.owner,
        beginning + "%",
    )
    return [id for (id,) in rows]


async def _with_plans(transaction: Transaction, rows: Sequence[Row]) -> list[StoredTurn]:
    found = await _with_messages(transaction, rows)
    frames = Frames(transaction, "turns", "plan")
    plans = {row[0]: codec.as_text((await frames.add(row[0], *row[-2:])).body) for row in rows}
    plans |= await recordings.last_plans(transaction, [row[0] for row in rows])
    return [replace(turn, plan=plans[row[0]]) for turn, row in zip(found, rows, strict=True)]


async def requests(transaction: Transaction, turn: str) -> list[Recorded]:
    row = await transaction.row(
        "SELECT key FROM turns WHERE owner = ? AND id = ?", transaction.owner, turn
    )
    return [] if row is None else await recordings.of_turn(transaction, row[0])


async def partial(transaction: Transaction, turn: str) -> str:
    """The words of an open turn, those before its tool rounds too."""
    said = await transaction.rows(
        "SELECT contents.codec, contents.body FROM turns JOIN messages ON messages.turn = turns.key"
        " JOIN contents ON contents.key = messages.content WHERE turns.owner = ? AND turns.id = ?"
        " AND turns.status = 'open' AND messages.said = 1 ORDER BY messages.position",
        transaction.owner,
        turn,
    )
    rows = await transaction.rows(
        "SELECT partials.text FROM partials JOIN turns ON turns.key = partials.turn"
        " WHERE turns.owner = ? AND turns.id = ? ORDER BY partials.position",
        transaction.owner,
        turn,
    )
    since = codec.as_text(b"".join(bytes(part) for (part,) in rows))
    before = (codec.as_text(codec.unsqueeze(coding, body)) for coding, body in said)
    return "\n\n".join(filter(None, (*before, since)))
