"""A change whose files have changed meanwhile: what still fits, what clashes, and what a person makes of it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..adapters.vault.apply import Approval, NotApproved, Outcome
from ..adapters.vault.undo import Nothing, Which
from ..core.clashes import Choice, decided
from ..core.edits import Change, Rejected
from ..core.proposal import (
    Merge,
    Preview,
    Proposal,
    base_fingerprints,
    base_hash,
    outcome,
    preview,
    rebase,
)
from .edits import Edits, read_scope

Choices = Mapping[str, Sequence[Choice]]


@dataclass(frozen=True, slots=True)
class Standing:
    """A proposal, undo or redo beside its files as they are now; ``state`` names their texts."""

    explanation: str
    changes: Mapping[str, Change]
    current: Mapping[str, str | None]

    @property
    def state(self) -> str:
        return base_hash(base_fingerprints(self.current))

    @property
    def merge(self) -> Merge:
        """What can be done without asking anybody, and what cannot."""
        return rebase(self.explanation, self.changes, self.current)

    def result(self, choices: Choices) -> Preview | Rejected:
        """What the files become; a clash without a choice stays as it is on disk."""
        return preview(decided(self.merge, choices))


async def standing(folder: Path, proposal: Proposal, max_bytes: int) -> Standing | Rejected:
    """``FileRefused`` where a file cannot be read as text any more."""
    edited = outcome(proposal)
    if isinstance(edited, Rejected):
        return edited
    return await _beside(folder, proposal.explanation, edited.changes, max_bytes)


async def standing_turn(
    edits: Edits, which: Which, max_bytes: int
) -> tuple[Which, Standing] | Nothing:
    """The same for an undo or redo, with the one that is meant by name."""
    found = await edits.turning(which)
    if isinstance(found, Nothing):
        return found
    there = await _beside(edits.folder, found.explanation, found.changes, max_bytes)
    return Which(which.kind, found.id), there


async def _beside(
    folder: Path, explanation: str, changes: Mapping[str, Change], max_bytes: int
) -> Standing:
    scope = await asyncio.to_thread(read_scope, folder, list(changes), None, max_bytes)
    return Standing(explanation, changes, scope.documents)


async def carry_out(edits: Edits, of: str, shown: Preview, agreed: Approval) -> Outcome:
    """Write the result that was shown, as a proposal of its own; nothing where another one was agreed to."""
    if (other := _other(shown, agreed)) is not None:
        return other
    files = ", ".join(file.path for file in shown.files)
    told = f"Your edits to {files} were merged by the user into the files, which had changed meanwhile."
    merged = await edits.apply(await edits.offer(shown.proposal, of=of, told=told))
    assert merged is not None  # every hunk of it was taken
    return merged


async def carry_out_turn(
    edits: Edits, which: Which, shown: Preview, agreed: Approval
) -> Outcome | Nothing:
    """Undo or redo with the result that was shown; nothing where another one was agreed to."""
    return _other(shown, agreed) or await edits.turn_merged(which, shown)


def _other(shown: Preview, agreed: Approval) -> NotApproved | None:
    if (agreed.base_hash, agreed.patch_id) == (shown.base_hash, shown.patch_id):
        return None
    return NotApproved(shown.base_hash, shown.patch_id)
