"""What apply, undo and redo have in common: look at the files, carry the change out, say how it ended."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...core.edits import Change
from ...core.proposal import Merge, rebase
from .files import Held, Meta, NotAFile, default_mode, sha
from .journal import Entry, Kind, Transaction
from .lines import decode
from .paths import MAX_NAME, RefusedPath, SafePath
from .transact import Desk, Kept, settle, transact

CHANGED = "changed since the proposal was made"
GONE = "no longer there"
TAKEN = "already there"
NO_EXCHANGE = (
    "this disk cannot exchange two files in one step: "
    "a program that saves in the very moment of an edit could lose its save"
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """When, by whom, and eight characters nobody can guess, for the names of temporary files."""

    when_ms: int
    by: str = ""
    token: str = field(default_factory=lambda: secrets.token_hex(4))


@dataclass(frozen=True, slots=True)
class Applied:
    """``kept``: saves that fell into the same moment and lie beside the files now.

    ``is_recorded`` is False if the hook failed; it will be called again. ``warning`` is for people.
    """

    id: str
    files: tuple[str, ...]
    kept: tuple[Kept, ...] = ()
    is_recorded: bool = True
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """These files are not in the state the change was made for; nothing was changed.

    ``merge`` offers the same change to the files as they are now, to be looked at like any proposal.
    """

    files: Mapping[str, str]
    merge: Merge | None = None
    kept: tuple[Kept, ...] = ()


@dataclass(frozen=True, slots=True)
class FileJob:
    """One file from ``base`` to ``new``; None where it does not exist."""

    path: SafePath
    base: bytes | None
    new: bytes | None
    meta: Meta


@dataclass(frozen=True, slots=True)
class Job:
    """``changes`` are the same files as text, for a merge if it comes to that.

    ``images`` names an earlier record that holds the bytes.
    """

    kind: Kind
    explanation: str
    files: tuple[FileJob, ...]
    changes: Mapping[str, Change]
    of: str | None = None
    images: str | None = None
    patch_id: str = ""
    spare_dirs: tuple[str, ...] = ()


def look(desk: Desk, path: SafePath) -> Held | RefusedPath | None:
    """The file as it is now, if it is one that can be written."""
    try:
        directory = desk.walker.directory(path.parts[:-1])
        held = None if directory is None else desk.fs.read(directory, path.parts[-1])
    except NotAFile:
        return RefusedPath(path.path, "is not a regular file in a real folder")
    if held is not None and held.links > 1:
        return RefusedPath(path.path, "has several names (hard links), which a change would part")
    # Renaming would get around a mode that was set to keep people from writing.
    if held is not None and not held.meta.mode & 0o222:
        return RefusedPath(path.path, "is read-only")
    return held


def new_file_meta() -> Meta:
    return Meta(default_mode())


def carry_out(desk: Desk, job: Job, stamp: Stamp) -> Applied | Conflict:
    """Run the transaction and clean up after it as far as that can be done at once."""
    id = desk.journal.new_id(stamp.token)
    files = tuple(file.path.path for file in job.files)
    transaction = Transaction(
        id,
        job.kind,
        tuple(_entry(file, stamp.token) for file in job.files),
        job.images or id,
        job.of,
        _missing_dirs(desk, job),
        job.spare_dirs,
        job.explanation,
        stamp.by,
        stamp.when_ms,
        job.patch_id,
    )
    foreign = transact(desk, transaction, _images(job), is_stored=job.images is not None)
    settled = settle(desk, transaction, stamp.when_ms)
    if foreign:
        reasons = dict.fromkeys(foreign, CHANGED)
        return Conflict(reasons, offer(desk, job.explanation, job.changes), settled.kept)
    warning = NO_EXCHANGE if desk.fs.lacks_exchange else ""
    return Applied(id, files, settled.kept, settled.is_recorded, warning)


def _entry(file: FileJob, token: str) -> Entry:
    name = file.path.parts[-1]
    # A third name is made from this one by adding four characters.
    if len(name.encode()) + len(token) + 7 > MAX_NAME:
        name = sha(name.encode())[:16]
    return Entry(
        file.path.path,
        f".~{name}.{token}",
        None if file.base is None else sha(file.base),
        None if file.new is None else sha(file.new),
        file.meta,
    )


def _images(job: Job) -> dict[str, bytes]:
    both = (data for file in job.files for data in (file.base, file.new))
    return {sha(data): data for data in both if data is not None}


def _missing_dirs(desk: Desk, job: Job) -> tuple[str, ...]:
    """Folders that new files need, outermost first."""
    missing: dict[str, None] = {}
    for file in job.files:
        parents = file.path.parts[:-1]
        for depth in range(1, len(parents) + 1):
            if file.new is not None and desk.directory(parents[:depth]) is None:
                missing["/".join(parents[:depth])] = None
    return tuple(sorted(missing))


def offer(desk: Desk, explanation: str, changes: Mapping[str, Change]) -> Merge | None:
    """The same change to the files as they are now; None if one of them is not text any more."""
    current: dict[str, str | None] = {}
    for path in changes:
        parts = tuple(path.split("/"))
        directory = desk.directory(parts[:-1])
        try:
            held = None if directory is None else desk.fs.read(directory, parts[-1])
        except NotAFile:
            return None
        decoded = None if held is None else decode(held.data)
        if held is not None and decoded is None:
            return None
        current[path] = None if decoded is None else decoded.text
    return rebase(explanation, changes, current)


def trouble(held: Held | None, is_as_expected: bool, exists_in_base: bool) -> str | None:
    """Why a file cannot be changed from its base state, in words."""
    if is_as_expected:
        return None
    if held is None:
        return GONE
    return CHANGED if exists_in_base else TAKEN
