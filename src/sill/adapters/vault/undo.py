"""Taking an applied proposal back, and doing it again: the same transaction with its ends exchanged.

It needs no version control, works after any number of restarts, and refuses only what would overwrite
somebody else's change.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ...core.edits import Change
from ...core.proposal import Proposal
from .apply import Agreed, Approval, Origin, Outcome, Refused, agree, write
from .job import Applied, Conflict, FileJob, Job, Stamp, carry_out, look, offer, trouble
from .journal import Entry, Journal, Transaction
from .lines import decode
from .paths import RefusedPath, SafePath
from .recover import recover_at
from .transact import Desk, Workspace, at_work

KEEP_BYTES = 1_000_000_000
KEEP_MS = 30 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is nothing to undo or redo, or not this; ``reason`` says it in words."""

    reason: str


@dataclass(frozen=True, slots=True)
class FileChange:
    path: str
    kind: Literal["created", "changed", "deleted"]


@dataclass(frozen=True, slots=True)
class Record:
    """An applied proposal as history shows it. ``is_applied`` is False while it is undone."""

    id: str
    when_ms: int
    by: str
    explanation: str
    files: tuple[FileChange, ...]
    is_applied: bool
    is_kept: bool  # its bytes are still there, so it can be undone and redone
    patch_id: str = ""


def history(workspace: Workspace, limit: int | None = None) -> tuple[Record, ...]:
    """What was applied, newest first."""
    records: list[Record] = []
    with at_work(workspace) as desk:
        kept = desk.journal.image_sizes()
        latest: dict[str, Transaction] = {}
        for transaction in _newest_first(desk.journal):
            last = latest.setdefault(transaction.root, transaction)
            if transaction.kind != "apply":
                continue
            records.append(_record(transaction, last.kind != "undo", last.images in kept))
            if limit is not None and len(records) >= limit:
                break
    return tuple(records)


def _record(transaction: Transaction, is_applied: bool, is_kept: bool) -> Record:
    return Record(
        transaction.id,
        transaction.when_ms,
        transaction.by,
        transaction.explanation,
        tuple(FileChange(entry.path, _change_kind(entry)) for entry in transaction.entries),
        is_applied,
        is_kept,
        transaction.patch_id,
    )


def _change_kind(entry: Entry) -> Literal["created", "changed", "deleted"]:
    if entry.base is None:
        return "created"
    return "deleted" if entry.new is None else "changed"


@dataclass(frozen=True, slots=True)
class Which:
    """What is to be undone or redone; ``id`` None is the latest that can be."""

    kind: Literal["undo", "redo"]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Turning:
    """What an undo or redo of the edit ``id`` would do, as text, to the files as they were left."""

    id: str
    explanation: str
    changes: Mapping[str, Change]


def undo(
    workspace: Workspace, stamp: Stamp, id: str | None = None
) -> Applied | Conflict | Refused | Nothing:
    """Take back the latest applied proposal, or the one named."""
    return _turn(workspace, stamp, Which("undo", id))


def redo(
    workspace: Workspace, stamp: Stamp, id: str | None = None
) -> Applied | Conflict | Refused | Nothing:
    """Do again what was undone last, or the one named."""
    return _turn(workspace, stamp, Which("redo", id))


def turning(workspace: Workspace, stamp: Stamp, which: Which) -> Turning | Nothing:
    """For a person who merges it with what has changed since; nothing is written."""
    with at_work(workspace) as desk:
        recover_at(desk, stamp.when_ms)
        found = _find(desk.journal, which)
        if isinstance(found, Nothing):
            return found
        images = desk.journal.images(found.images)
        if not _is_kept(found, images):
            return _forgotten(found)
        changes = _changes(found, images)
        if not changes:
            return Nothing("a file of it is not text, which cannot be merged")
        return Turning(found.root, _wanted(which, found), changes)


def turn_merged(
    workspace: Workspace, stamp: Stamp, which: Which, merged: Proposal, approval: Approval
) -> Outcome | Nothing:
    """Undo or redo as a person has merged it; what follows it takes exactly that back."""
    agreed = agree(merged, approval)
    if not isinstance(agreed, Agreed):
        return agreed
    with at_work(workspace) as desk:
        recover_at(desk, stamp.when_ms)
        found = _find(desk.journal, which)
        if isinstance(found, Nothing):
            return found
        spare = found.made_dirs if which.kind == "undo" else ()
        origin = Origin(which.kind, found.explanation, found.patch_id, found.root, spare)
        return write(desk, agreed, origin, stamp)


def _turn(
    workspace: Workspace, stamp: Stamp, which: Which
) -> Applied | Conflict | Refused | Nothing:
    with at_work(workspace) as desk:
        recover_at(desk, stamp.when_ms)
        found = _find(desk.journal, which)
        if isinstance(found, Nothing):
            return found
        return _reverse(desk, found, which, stamp)


def _find(journal: Journal, which: Which) -> Transaction | Nothing:
    """What was done last to the edit that is meant: taking that back is the undo, or the redo."""
    kind, id = which.kind, which.id
    seen: set[str] = set()
    for transaction in _newest_first(journal):
        if transaction.root in seen:
            continue
        seen.add(transaction.root)
        fits = (transaction.kind == "undo") == (kind == "redo")
        if fits and id in (None, transaction.root):
            return transaction
        if id == transaction.root:
            return Nothing(f"{id} is {'already undone' if kind == 'undo' else 'not undone'}")
    return Nothing(f"there is no {id}" if id else f"nothing to {kind}")


def _wanted(which: Which, found: Transaction) -> str:
    return f"{which.kind.capitalize()}: {found.explanation}"


def _is_kept(found: Transaction, images: Mapping[str, bytes]) -> bool:
    return all({entry.base, entry.new} <= {None, *images} for entry in found.entries)


def _forgotten(found: Transaction) -> Nothing:
    return Nothing(f"the bytes of {found.root} are no longer kept")


def _newest_first(journal: Journal) -> Iterator[Transaction]:
    for id, state in reversed(journal.states().items()):
        transaction = journal.read(id) if state in ("committed", "done") else None
        if transaction is not None:
            yield transaction


def _reverse(
    desk: Desk, found: Transaction, which: Which, stamp: Stamp
) -> Applied | Conflict | Refused | Nothing:
    files: list[FileJob] = []
    refused: list[RefusedPath] = []
    stale: dict[str, str] = {}
    images = desk.journal.images(found.images)
    if not _is_kept(found, images):
        return _forgotten(found)
    for entry in found.entries:
        base, new = entry.new, entry.base
        path = SafePath(entry.path, tuple(entry.path.split("/")), False)
        held = look(desk, path)
        if isinstance(held, RefusedPath):
            refused.append(held)
            continue
        reason = trouble(held, (held and held.sha) == base, base is not None)
        if reason:
            stale[entry.path] = reason
        data, meta = (held.data, held.meta) if held else (None, entry.meta)
        files.append(FileJob(path, data, None if new is None else images[new], meta))
    if refused:
        return Refused(tuple(refused))
    changes = _changes(found, images)
    if stale:
        return Conflict(stale, offer(desk, _wanted(which, found), changes) if changes else None)
    job = Job(
        which.kind,
        found.explanation,
        tuple(files),
        changes,
        of=found.root,
        images=found.images,
        patch_id=found.patch_id,
        spare_dirs=found.made_dirs if which.kind == "undo" else (),
    )
    return carry_out(desk, job, stamp)


def _changes(found: Transaction, images: Mapping[str, bytes]) -> dict[str, Change]:
    """Taking it back, as text; empty if one of the files is not text, for then nothing can be merged."""
    texts: dict[str | None, str | None] = {None: None}
    for name, data in images.items():
        decoded = decode(data)
        if decoded is None:
            return {}
        texts[name] = decoded.text
    return {entry.path: Change(texts[entry.new], texts[entry.base]) for entry in found.entries}


def kept_bytes(workspace: Workspace) -> int:
    """How much the history takes."""
    with at_work(workspace) as desk:
        return sum(desk.journal.image_sizes().values())


def prune(
    workspace: Workspace, now_ms: int, keep_bytes: int = KEEP_BYTES, keep_ms: int = KEEP_MS
) -> tuple[str, ...]:
    """Forget the bytes of the oldest transactions, but only those past both limits; their ids."""
    with at_work(workspace) as desk:
        sizes = desk.journal.image_sizes()
        total = sum(sizes.values())
        forgotten: list[str] = []
        for id, state in desk.journal.states().items():
            transaction = desk.journal.read(id) if state == "done" and id in sizes else None
            if total <= keep_bytes:
                break
            if transaction is not None and now_ms - transaction.when_ms > keep_ms:
                forgotten.append(id)
                total -= sizes[id]
        desk.journal.forget_images(forgotten)
        return tuple(forgotten)
