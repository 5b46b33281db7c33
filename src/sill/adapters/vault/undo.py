"""Taking an applied proposal back, and doing it again: the same transaction with its ends exchanged.

It needs no version control, works after any number of restarts, and refuses only what would overwrite
somebody else's change.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ...core.edits import Change
from .apply import Refused
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
        last_kind: dict[str, str] = {}
        for transaction in _newest_first(desk.journal):
            kind = last_kind.setdefault(transaction.root, transaction.kind)
            if transaction.kind != "apply":
                continue
            records.append(_record(transaction, kind != "undo", transaction.images in kept))
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


def undo(
    workspace: Workspace, stamp: Stamp, id: str | None = None
) -> Applied | Conflict | Refused | Nothing:
    """Take back the latest applied proposal, or the one named."""
    return _turn(workspace, stamp, "undo", id)


def redo(
    workspace: Workspace, stamp: Stamp, id: str | None = None
) -> Applied | Conflict | Refused | Nothing:
    """Do again what was undone last, or the one named."""
    return _turn(workspace, stamp, "redo", id)


def _turn(
    workspace: Workspace, stamp: Stamp, kind: Literal["undo", "redo"], id: str | None
) -> Applied | Conflict | Refused | Nothing:
    with at_work(workspace) as desk:
        recover_at(desk, stamp.when_ms)
        found = _find(desk.journal, kind, id)
        if isinstance(found, Nothing):
            return found
        images = desk.journal.images(found.images)
        return _carry(desk, found, images, kind, stamp)


def _find(journal: Journal, kind: str, id: str | None) -> Transaction | Nothing:
    """The apply that is meant."""
    seen: set[str] = set()
    wanted: str | None = None
    for transaction in _newest_first(journal):
        if transaction.root not in seen and wanted is None:
            seen.add(transaction.root)
            fits = (transaction.kind == "undo") == (kind == "redo")
            if id is None and fits:
                wanted = transaction.root
            elif id == transaction.root:
                if not fits:
                    state = "already undone" if kind == "undo" else "not undone"
                    return Nothing(f"{id} is {state}")
                wanted = id
        if transaction.id == wanted:
            return transaction
    return Nothing(f"there is no {id}" if id else f"nothing to {kind}")


def _newest_first(journal: Journal) -> Iterator[Transaction]:
    for id, state in reversed(journal.states().items()):
        transaction = journal.read(id) if state in ("committed", "done") else None
        if transaction is not None:
            yield transaction


def _carry(
    desk: Desk,
    applied: Transaction,
    images: dict[str, bytes],
    kind: Literal["undo", "redo"],
    stamp: Stamp,
) -> Applied | Conflict | Refused | Nothing:
    files: list[FileJob] = []
    refused: list[RefusedPath] = []
    stale: dict[str, str] = {}
    for entry in applied.entries:
        base, new = (entry.new, entry.base) if kind == "undo" else (entry.base, entry.new)
        if not {base, new} <= {None, *images}:
            return Nothing(f"the bytes of {applied.id} are no longer kept")
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
    changes = _changes(applied, images, kind)
    if stale:
        wanted = f"{kind.capitalize()}: {applied.explanation}"
        return Conflict(stale, offer(desk, wanted, changes) if changes else None)
    job = Job(
        kind,
        applied.explanation,
        tuple(files),
        changes,
        of=applied.id,
        images=applied.images,
        patch_id=applied.patch_id,
        spare_dirs=applied.made_dirs if kind == "undo" else (),
    )
    return carry_out(desk, job, stamp)


def _changes(applied: Transaction, images: dict[str, bytes], kind: str) -> dict[str, Change]:
    """The same as text; empty if one of the files is not text, for then nothing can be merged."""
    texts: dict[str | None, str | None] = {None: None}
    for name, data in images.items():
        decoded = decode(data)
        if decoded is None:
            return {}
        texts[name] = decoded.text
    ends = ((entry.path, texts[entry.base], texts[entry.new]) for entry in applied.entries)
    return {
        path: Change(after, before) if kind == "undo" else Change(before, after)
        for path, before, after in ends
    }


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
