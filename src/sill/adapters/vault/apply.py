"""Carrying out a proposal: approved as it stands, on files that are still what it was made from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...core.edits import Change, Rejected
from ...core.ops import Problem
from ...core.proposal import Preview, Proposal, base_hash, outcome, patch_id
from .files import Held
from .job import (
    Applied,
    Conflict,
    FileJob,
    Job,
    Stamp,
    carry_out,
    look,
    new_file_meta,
    offer,
    trouble,
)
from .journal import Kind
from .lines import Decoded, decode
from .paths import RefusedPath, SafePath, check_paths
from .recover import recover_at
from .transact import Desk, Workspace, at_work


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person agreed to: exactly this change to exactly these states.

    Hidden files are named one by one in ``sensitive``, or they are refused.
    """

    base_hash: str
    patch_id: str
    sensitive: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Refused:
    """These paths may not be written at all."""

    paths: tuple[RefusedPath, ...]


@dataclass(frozen=True, slots=True)
class NotApproved:
    """The approval is for another change; this is what the proposal's own would say."""

    base_hash: str
    patch_id: str


Outcome = Applied | Conflict | Refused | NotApproved | Rejected


def approve(shown: Preview, sensitive: Iterable[str] = ()) -> Approval:
    """A person's agreement to what they were shown."""
    return Approval(shown.base_hash, shown.patch_id, frozenset(sensitive))


def apply(workspace: Workspace, proposal: Proposal, approval: Approval, stamp: Stamp) -> Outcome:
    """Write every file of the proposal, or none, as one transaction that ``undo`` can take back."""
    agreed = agree(proposal, approval)
    if not isinstance(agreed, Agreed):
        return agreed
    with at_work(workspace) as desk:
        recover_at(desk, stamp.when_ms)
        return write(desk, agreed, Origin("apply", proposal.explanation, approval.patch_id), stamp)


@dataclass(frozen=True, slots=True)
class Agreed:
    """Changes that a person agreed to, to files that may be written."""

    paths: tuple[SafePath, ...]
    changes: Mapping[str, Change]


@dataclass(frozen=True, slots=True)
class Origin:
    """What a change is in the history; ``of`` is the apply that an undo or redo belongs to."""

    kind: Kind
    explanation: str
    patch_id: str
    of: str | None = None
    spare_dirs: tuple[str, ...] = ()


def agree(proposal: Proposal, approval: Approval) -> Agreed | Refused | NotApproved | Rejected:
    """The proposal's changes, if the approval is for exactly these."""
    edited = outcome(proposal)
    if isinstance(edited, Rejected):
        return edited
    wanted = NotApproved(base_hash(proposal.base_fingerprints), patch_id(proposal, edited))
    if wanted != NotApproved(approval.base_hash, approval.patch_id):
        return wanted
    changes = edited.changes
    if not changes:
        return Rejected((Problem(None, "", "nothing proposed", "the files are like this already"),))
    paths = allowed(changes, approval.sensitive)
    return paths if isinstance(paths, Refused) else Agreed(paths, changes)


def write(desk: Desk, agreed: Agreed, origin: Origin, stamp: Stamp) -> Applied | Conflict | Refused:
    """Carry out the changes where every file is still what they were made for."""
    files = _prepared(desk, agreed.paths, agreed.changes)
    if isinstance(files, Refused):
        return files
    if isinstance(files, dict):
        return Conflict(files, offer(desk, origin.explanation, agreed.changes))
    job = Job(
        origin.kind,
        origin.explanation,
        files,
        agreed.changes,
        of=origin.of,
        patch_id=origin.patch_id,
        spare_dirs=origin.spare_dirs,
    )
    return carry_out(desk, job, stamp)


def allowed(paths: Iterable[str], sensitive: frozenset[str]) -> tuple[SafePath, ...] | Refused:
    """The paths, if all of them may be written by whoever agreed to the sensitive ones."""
    checked = check_paths(paths)
    refused = [one for one in checked if isinstance(one, RefusedPath)]
    safe = tuple(one for one in checked if isinstance(one, SafePath))
    refused += [
        RefusedPath(one.path, "is hidden: it wants an approval of its own")
        for one in safe
        if one.is_sensitive and one.path not in sensitive
    ]
    return Refused(tuple(refused)) if refused else safe


def _prepared(
    desk: Desk, paths: Iterable[SafePath], changes: Mapping[str, Change]
) -> tuple[FileJob, ...] | Refused | dict[str, str]:
    """Every file's bytes before and after; or those that may not be written; or those that changed."""
    files: list[FileJob] = []
    refused: list[RefusedPath] = []
    stale: dict[str, str] = {}
    for path in paths:
        change, held = changes[path.path], look(desk, path)
        if isinstance(held, RefusedPath):
            refused.append(held)
            continue
        decoded = None if held is None else decode(held.data)
        reason = trouble(held, _text(held, decoded) == (change.before,), change.before is not None)
        if reason:
            stale[path.path] = reason
        else:
            files.append(_file_job(path, held, decoded, change.after))
    if refused:
        return Refused(tuple(refused))
    return stale or tuple(files)


def _text(held: Held | None, decoded: Decoded | None) -> tuple[str | None] | None:
    """The file's text as one value, None in it for no file; nothing at all for a file that is not text."""
    if held is None:
        return (None,)
    return None if decoded is None else (decoded.text,)


def _file_job(
    path: SafePath, held: Held | None, decoded: Decoded | None, after: str | None
) -> FileJob:
    new = None if after is None else (decoded or Decoded("")).encode(after)
    if held is None:
        return FileJob(path, None, new, new_file_meta())
    return FileJob(path, held.data, new, held.meta)
