"""A proposed edit in the hands of a program: look at it, apply it whole or in part, or leave it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..adapters.vault.apply import NotApproved, Outcome, Refused
from ..adapters.vault.job import Applied, Conflict
from ..app.edits import Edits, Offered
from ..core.diff import unified
from ..core.edits import Rejected
from ..core.proposal import Preview
from ..engine.edit import EditReply
from .loop import Loop


@dataclass(frozen=True, slots=True)
class Change:
    """What became of an attempt to change files: ``applied`` says which, else ``reason`` says why not."""

    applied: tuple[str, ...] = ()
    reason: str = ""
    conflicts: tuple[str, ...] = ()  # files that changed meanwhile


@dataclass(frozen=True, slots=True)
class Proposal:
    """Edits a model proposes, bound to the exact file states they were made from. Nothing is written yet.

    ``ok`` is False where there is nothing to apply; ``message`` then says why.
    """

    outcome: str
    message: str
    shown: Preview | None
    _offered: Offered | None
    _edits: Edits
    _loop: Loop

    @property
    def ok(self) -> bool:
        return self._offered is not None

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.shown.files) if self.shown else ()

    @property
    def diff(self) -> str:
        """Unified diff of everything it would change."""
        files = self.shown.files if self.shown else ()
        return "".join(unified(f.path, f.change.before, f.change.after) for f in files)

    def apply(self, hunks: Mapping[str, Sequence[int]] | None = None) -> Change:
        """Write all of it, or the numbered ``hunks`` of each file: every file changes, or none does."""
        if self._offered is None:
            return Change(reason=self.message)
        return change_of(self._loop.run(self._edits.apply(self._offered, hunks)))

    def refuse(self) -> None:
        """Write nothing and let the chat know."""
        if self._offered is not None:
            self._loop.run(self._edits.apply(self._offered, {}))


def proposal_of(reply: EditReply, shown: Preview | None, edits: Edits, loop: Loop) -> Proposal:
    offered = Offered(reply.id, shown) if shown is not None else None
    return Proposal(reply.outcome, reply.message, shown, offered, edits, loop)


def change_of(outcome: Outcome | None) -> Change:
    match outcome:
        case Applied(files=files):
            return Change(files)
        case Conflict(files=reasons):
            words = "; ".join(f"{path}: {reason}" for path, reason in reasons.items())
            return Change(reason=words, conflicts=tuple(reasons))
        case Refused(paths=paths):
            return Change(reason="; ".join(f"{one.path} {one.reason}" for one in paths))
        case NotApproved() | Rejected():
            return Change(reason="the proposal cannot be applied to these files")
        case None:
            return Change(reason="nothing was chosen")
