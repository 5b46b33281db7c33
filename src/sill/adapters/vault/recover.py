"""What a crash left behind is brought to an end before anything else is done."""

from dataclasses import dataclass
from typing import Literal

from .journal import State
from .transact import Desk, Kept, Workspace, abandon, at_work, finish, settle


@dataclass(frozen=True, slots=True)
class Recovered:
    """``finished``: all files are new. ``taken back``: all files of ours are old again; ``foreign`` ones had
    been changed by somebody else and were left alone. ``discarded``: nothing had been changed yet.
    ``unreadable``: the disk has damaged the record; it stays where it is, and so do the files."""

    id: str
    outcome: Literal["finished", "taken back", "discarded", "cleaned up", "unreadable"]
    foreign: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()


def recover(workspace: Workspace, now_ms: int) -> tuple[Recovered, ...]:
    """Call it at start, before anything reads the files; and any time later, to clean up."""
    with at_work(workspace) as desk:
        return recover_at(desk, now_ms)


def recover_at(desk: Desk, now_ms: int) -> tuple[Recovered, ...]:
    """Oldest first. Stopped anywhere, it does the same again the next time."""
    live = [(id, state) for id, state in desk.journal.states().items() if state != "done"]
    recovered = tuple(_recover(desk, id, state, now_ms) for id, state in live)
    desk.journal.drop_orphans()
    return recovered


def _recover(desk: Desk, id: str, state: State, now_ms: int) -> Recovered:
    transaction = desk.journal.read(id)
    if transaction is None and state == "open":
        # Cut off while it was being written, so nothing had been staged.
        desk.journal.drop(id)
        return Recovered(id, "discarded")
    if transaction is None:
        return Recovered(id, "unreadable")
    if state == "open":
        abandon(desk, transaction)
        return Recovered(id, "discarded")
    foreign: tuple[str, ...] = ()
    outcome: Literal["finished", "taken back", "cleaned up"] = "cleaned up"
    if state == "prepared":
        foreign = finish(desk, transaction, desk.journal.images(transaction.images))
        outcome = "taken back" if foreign else "finished"
    settled = settle(desk, transaction, now_ms)
    return Recovered(id, outcome, foreign, settled.kept)
