"""Who may write a chat's open turn: a row with a number that only grows.

The holder renews it; when it expires, or when its process is known to be dead, the next one takes it
with a higher number, closes the turn that was left open, and every later write of the old holder fails.
"""

import functools
import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from ...core.messages import Message
from ...errors import TurnInProgress
from .database import Transaction


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """In seconds: how long a silent holder keeps its chat, and how often it speaks."""

    lasts: float = 30.0
    beats: float = 10.0


@dataclass(frozen=True, slots=True)
class Held:
    """A chat that is this process's, and the open turn in it (0: none)."""

    turn: int
    chat: int
    fence: int
    used: int = 0  # when the chat was used before this turn
    messages: int | None = None  # how many the turn began with, where that is known,
    said: tuple[str, ...] | None = None  # and those of them that are talk
    has_partials: bool = True  # or none was ever written
    rounds: tuple[Message, ...] = ()  # that are kept behind those it began with
    id: str = ""  # of an open turn that may not have a key yet


@dataclass(frozen=True, slots=True)
class Seen:
    """A chat's last lease: its number, and who has it still."""

    fence: int | None = None
    holder: str | None = None


async def hold(transaction: Transaction, chat: int, holder: str, times: LeaseTimes) -> Held:
    """The chat for this transaction. ``TurnInProgress`` while a turn is in flight."""
    row = await transaction.row(
        f"SELECT fence, CASE WHEN expires > {transaction.now} THEN holder END FROM leases"
        " WHERE chat = ? AND owner = ?",
        chat,
        transaction.owner,
    )
    return await hold_after(transaction, chat, Seen(*row) if row else Seen(), holder, times)


async def hold_after(
    transaction: Transaction, chat: int, seen: Seen, holder: str, times: LeaseTimes
) -> Held:
    """The same, if nobody has had the chat since that was seen."""
    if seen.holder is not None and is_dead(seen.holder):
        await _free(transaction, chat, seen.holder)
    elif seen.holder is not None:
        raise _busy()
    lasts = int(times.lasts * 1000)
    if seen.fence is None:
        taken = await transaction.run(
            "INSERT INTO leases (chat, owner, fence, holder, expires)"
            f" VALUES (?, ?, 1, ?, {transaction.now} + {lasts}) ON CONFLICT DO NOTHING",
            chat,
            transaction.owner,
            holder,
        )
    else:
        taken = await transaction.run(
            f"UPDATE leases SET fence = fence + 1, holder = ?, expires = {transaction.now} + {lasts}"
            f" WHERE chat = ? AND owner = ? AND fence = ? AND expires <= {transaction.now}",
            holder,
            chat,
            transaction.owner,
            seen.fence,
        )
    if not taken:
        raise _busy()
    return Held(0, chat, (seen.fence or 0) + 1)


async def take_again(
    transaction: Transaction, chat: int, fence: int, holder: str, expires: int
) -> bool:
    """The chat with the next number, if it was given back and nobody has had it since. Then no turn of it is open."""
    return bool(
        await transaction.run(
            "UPDATE leases SET fence = ?, holder = ?, expires = ?"
            " WHERE chat = ? AND owner = ? AND fence = ? AND expires = 0",
            fence + 1,
            holder,
            expires,
            chat,
            transaction.owner,
            fence,
        )
    )


def _busy() -> TurnInProgress:
    return TurnInProgress(
        "another turn of this chat is in flight", hint="wait for its answer, or stop it"
    )


async def _free(transaction: Transaction, chat: int, holder: str) -> None:
    await transaction.run(
        "UPDATE leases SET expires = 0 WHERE chat = ? AND owner = ? AND holder = ?",
        chat,
        transaction.owner,
        holder,
    )


async def renew(transaction: Transaction, held: Held, times: LeaseTimes) -> bool:
    """False if the turn is no longer this process's."""
    return bool(
        await transaction.run(
            f"UPDATE leases SET expires = {transaction.now} + {int(times.lasts * 1000)}"
            " WHERE chat = ? AND owner = ? AND fence = ? AND expires > 0",
            held.chat,
            transaction.owner,
            held.fence,
        )
    )


async def is_held(transaction: Transaction, held: Held) -> bool:
    """Whether the turn is open and nobody has taken the chat; still true when the transaction ends."""
    lock = "" if transaction.is_sqlite else " FOR UPDATE"
    row = await transaction.row(
        "SELECT 1 FROM leases JOIN turns ON turns.chat = leases.chat"
        " WHERE leases.chat = ? AND leases.owner = ? AND leases.fence = ? AND turns.key = ?"
        " AND turns.status = 'open' AND turns.fence = leases.fence" + lock,
        held.chat,
        transaction.owner,
        held.fence,
        held.turn,
    )
    return row is not None


async def give_back(transaction: Transaction, held: Held) -> bool:
    """Release the chat if the turn is open and still this process's; False if not, and nothing is changed.

    Nobody else can take the chat before the transaction ends.
    """
    return bool(
        await transaction.run(
            "UPDATE leases SET expires = 0 WHERE chat = ? AND owner = ? AND fence = ? AND EXISTS"
            " (SELECT 1 FROM turns WHERE turns.key = ? AND turns.chat = leases.chat"
            " AND turns.status = 'open' AND turns.fence = leases.fence)",
            held.chat,
            transaction.owner,
            held.fence,
            held.turn,
        )
    )


async def give_back_unseen(transaction: Transaction, held: Held) -> bool:
    """The same without a look at the turn: it is open for as long as nobody else has had the chat."""
    return bool(
        await transaction.run(
            "UPDATE leases SET expires = 0"
            " WHERE chat = ? AND owner = ? AND fence = ? AND expires > 0",
            held.chat,
            transaction.owner,
            held.fence,
        )
    )


async def release(transaction: Transaction, held: Held) -> None:
    await transaction.run(
        "UPDATE leases SET expires = 0 WHERE chat = ? AND owner = ? AND fence = ?",
        held.chat,
        transaction.owner,
        held.fence,
    )


# --- Holders: a process that can be recognised as dead by its neighbours on the same machine ------


def holder_name(unique: str) -> str:
    """``unique`` tells two stores of one process apart."""
    return f"{_machine()}/{os.getpid()}/{_started(os.getpid()) or ''}/{unique}"


def is_dead(holder: str) -> bool:
    """True only if that process certainly ended: same machine, and its number is free or used anew."""
    machine, _, rest = holder.partition("/")
    if machine != _machine() or sys.platform == "win32":
        return False
    pid, started, _ = rest.split("/")
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return bool(started) and _started(int(pid)) != started


@functools.cache
def _machine() -> str:
    """This boot of this machine, and this view of its processes."""
    boot = _text(Path("/proc/sys/kernel/random/boot_id"))
    try:
        view = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        view = ""
    return f"{socket.gethostname()}:{boot}:{view}".replace("/", "-")


def _started(pid: int) -> str | None:
    """When the process began, in the kernel's ticks, where the kernel says so; None if it is a corpse."""
    # The command may hold spaces and brackets: count the fields behind its last bracket.
    fields = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 and fields[0] not in "ZX" else None


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
