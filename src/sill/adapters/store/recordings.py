"""The requests of turns as rows. The key is the turn's times ``EACH``, and the request's number in the turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...core.certificate import Certificate
from ...core.usage import plan_from_json
from ...errors import SillError, StoreError
from ...records import Recorded
from . import codec, contents, recorder
from .database import Transaction
from .drafts import Recent, recipe
from .frames import Frame, Frames, framed, packed
from .leases import Held

EACH = 65_536


@dataclass(frozen=True, slots=True)
class New:
    """A request that is ready to be written; ``keys`` are of its contents that the chat's last one had not."""

    certificate: Certificate | None
    recording: recorder.Recording
    recent: Recent
    keys: Mapping[bytes, int]
    number: int = 0  # how many requests of the turn there are already
    plan: str = ""  # where it is not the turn's,
    turn_plan: Frame | None = None  # which is this, where it is at hand


async def insert(transaction: Transaction, held: Held, new: New) -> Recent:
    """What to remember of it for the next one."""
    recent = new.recent
    made = recipe(new.recording, recent, new.keys)
    frame, packed_recipe = packed(made.body, recent.recipe)
    last_plan = new.turn_plan or recent.plan
    # Only the plan of the same turn is certain to stay as long as this one does.
    base = last_plan if last_plan is not None and last_plan.key == held.turn else None
    plan_frame, packed_plan = packed(codec.as_bytes(new.plan), base) if new.plan else (None, None)
    key = held.turn * EACH + new.number
    await transaction.run(
        "INSERT INTO requests (key, owner, certificate, size, hash, frame, recipe, plan_frame, plan)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        key,
        transaction.owner,
        codec.certificate_text(new.certificate),
        len(new.recording.body),
        new.recording.hash,
        frame and frame.key,
        packed_recipe,
        plan_frame and plan_frame.key,
        packed_plan,
    )
    kept = framed(key, made.body, frame)
    return Recent(held.chat, new.recording, made.keys, kept, made.ends, last_plan)


async def append(transaction: Transaction, held: Held, new: New) -> Recent:
    """The same, behind those the turn has already."""
    row = await transaction.row(
        "SELECT COUNT(*) FROM requests WHERE key >= ? AND key < ?", *keys_of(held.turn)
    )
    return await insert(transaction, held, replace(new, number=row[0] if row else 0))


def keys_of(turn: int) -> tuple[int, int]:
    """From the first that a request of the turn can have to the first of the next turn."""
    return turn * EACH, (turn + 1) * EACH


async def forget(transaction: Transaction, turns: Sequence[int]) -> None:
    await transaction.many(
        "DELETE FROM requests WHERE key >= ? AND key < ? AND owner = ?",
        [(*keys_of(turn), transaction.owner) for turn in turns],
    )


# --- Read ----------------------------------------------------------------------------------------


async def of_turn(transaction: Transaction, turn: int) -> list[Recorded]:
    """Every request of a turn, in order, each with its plan."""
    rows = await transaction.rows(
        "SELECT key, certificate, hash, plan_frame, plan FROM requests"
        " WHERE key >= ? AND key < ? AND owner = ? ORDER BY key",
        *keys_of(turn),
        transaction.owner,
    )
    recipes = Frames(transaction, "requests", "recipe")
    plans = Frames(transaction, "turns", "plan")
    found = []
    for key, certificate, hash, frame, plan in rows:
        recording, _ = await _read(transaction, hash, await recipes.get(key))
        text = "" if plan is None else codec.as_text(await plans.unpacked(frame, plan))
        found.append(Recorded(codec.certificate(certificate), recording.body, text))
    return with_first_plan(found, codec.as_text((await plans.get(turn)).body)) if found else []


def with_first_plan(requests: Sequence[Recorded], plan: str) -> list[Recorded]:
    """``plan`` is kept with the turn: it is the first request's.

    Before every request had its own, the last one's took its place when a turn with tool rounds ended.
    """
    has_own = any(one.plan for one in requests[1:])
    is_last = len(requests) > 1 and not has_own and plan and _has_rounds(plan)
    place = len(requests) - 1 if is_last else 0
    return [replace(one, plan=plan) if at == place else one for at, one in enumerate(requests)]


def _has_rounds(plan: str) -> bool:
    try:
        return any(item.kind == "rounds" for item in plan_from_json(plan).items)
    except (ValueError, KeyError, TypeError, SillError):
        return False  # of a form that this version does not know


async def last_plans(transaction: Transaction, turns: Sequence[int]) -> dict[int, str]:
    """By turn, where its last request has a plan of its own."""
    plans = Frames(transaction, "turns", "plan")
    found: dict[int, str] = {}
    for start in range(0, len(turns), 500):
        some = turns[start : start + 500]
        for key, frame, plan in await transaction.rows(
            "SELECT requests.key, requests.plan_frame, requests.plan FROM turns JOIN requests"
            f" ON requests.key > turns.key * {EACH} AND requests.key < (turns.key + 1) * {EACH}"
            f" WHERE turns.owner = ? AND turns.key IN ({contents.places(some)})"
            " AND requests.plan IS NOT NULL ORDER BY requests.key",
            transaction.owner,
            *some,
        ):
            found[key // EACH] = codec.as_text(await plans.unpacked(frame, plan))
    return found


async def recent(transaction: Transaction, chat: int) -> Recent:
    """What the next request of the chat will resemble. An open turn may yet be taken back."""
    row = await transaction.row(
        "SELECT requests.key, requests.hash, turns.key FROM turns JOIN requests"
        f" ON requests.key >= turns.key * {EACH} AND requests.key < (turns.key + 1) * {EACH}"
        " WHERE turns.chat = ? AND turns.owner = ? AND turns.status <> 'open'"
        " ORDER BY turns.sequence DESC, requests.key DESC LIMIT 1",
        chat,
        transaction.owner,
    )
    if row is None:
        return Recent(chat)
    recipe = await Frames(transaction, "requests", "recipe").get(row[0])
    recording, keys = await _read(transaction, row[1], recipe)
    plan = await Frames(transaction, "turns", "plan").get(row[2])
    _, ends = recorder.read_recipe(recipe.body)
    return Recent(chat, recording, keys, recipe, ends, plan)


async def body_of(transaction: Transaction, key: int) -> bytes:
    """A request as it was sent."""
    row = await transaction.row(
        "SELECT hash FROM requests WHERE key = ? AND owner = ?", key, transaction.owner
    )
    assert row is not None
    recipe = await Frames(transaction, "requests", "recipe").get(key)
    recording, _ = await _read(transaction, row[0], recipe)
    return recording.body


async def _read(
    transaction: Transaction, hash: bytes, recipe: Frame
) -> tuple[recorder.Recording, dict[bytes, int]]:
    """A request as it was sent, and the keys of its contents."""
    pieces, _ = recorder.read_recipe(recipe.body)
    found = await contents.bodies(
        transaction, [what for _, what in pieces if isinstance(what, int)]
    )
    recording = recorder.recalled(pieces, found)
    if recording.hash != bytes(hash):
        raise StoreError("a recorded request does not match its hash", hint="restore a backup")
    return recording, {body: key for key, body in found.items()}
