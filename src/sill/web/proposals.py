"""Proposals: asking for them, looking at them, taking and leaving hunks, going back."""

import asyncio
from typing import Annotated, assert_never

from fastapi import APIRouter, Query, Request

from ..adapters.vault.apply import NotApproved, Outcome, Refused
from ..adapters.vault.job import Applied, Conflict
from ..adapters.vault.undo import Nothing, Record
from ..app.edits import Edits, Offered, read_scope
from ..app.service import Desk
from ..core.edits import Rejected as OpsRejected
from ..core.proposal import FilePreview, Merge, Preview, base_fingerprints, preview
from ..engine.edit import Wish
from ..engine.proposals import Kept as KeptBody
from ..engine.proposals import read
from ..engine.streams import Stop
from ..errors import FileRefused
from ..records import StoredProposal
from . import convert
from .answers import Rejected, not_found
from .chats import info_of
from .depend import TheDesk, contributor
from .schemas.common import Done
from .schemas.proposals import (
    AppliedEdit,
    AppliedEdits,
    Approval,
    Clash,
    EditOutcome,
    FileChange,
    FileHunks,
    Hunk,
    Kept,
    ProposalDetail,
    ProposalInfo,
    Proposals,
    Propose,
    Proposed,
    Shown,
    Which,
)
from .stream import while_connected

router = APIRouter(prefix="/api/v1", tags=["edits"])


@router.post("/proposals", dependencies=[contributor])
async def propose(request: Request, desk: TheDesk, body: Propose) -> Proposed:
    """Ask the model to change files. Nothing is written until the proposal is applied; hanging up stops it."""
    if body.chat is not None:
        await info_of(desk, body.chat)
    most = desk.settings.get("max_file_bytes", int) or 0
    lines = body.lines
    if lines is not None and not 1 <= lines[0] <= lines[1]:
        raise Rejected(422, "invalid", "lines: the first one is after the last one")
    scope = await asyncio.to_thread(read_scope, desk.folder, body.files, lines, most)
    editor = await desk.editor()
    stop = Stop()
    with desk.turns.guest(stop):
        async with while_connected(request, stop):
            reply = await editor.ask(body.chat, Wish(body.instruction, scope), stop)
    if reply.outcome == "busy":
        raise Rejected(409, "busy", reply.message)
    found = preview(reply.proposal) if reply.proposal is not None else None
    return Proposed(
        enabled=reply.outcome != "disabled",
        outcome=reply.outcome,
        message=reply.message,
        proposal=reply.id or None,
        shown=shown(found) if isinstance(found, Preview) else None,
        problems=[str(problem) for problem in reply.problems],
        chat=reply.chat,
        turn=reply.turn,
        certificate=convert.counted(reply.certificate),
        usage=convert.used(reply.usage),
        cost=convert.dollars(reply.cost),
        notices=list(reply.notices),
    )


@router.get("/chats/{chat}/proposals")
async def of_chat(desk: TheDesk, chat: str) -> Proposals:
    """Every proposal of the chat, oldest first."""
    await info_of(desk, chat)
    rows = [_info(one, kept) for one in await desk.store.proposals(chat) if (kept := _kept(one))]
    return Proposals(proposals=rows)


@router.get("/proposals/{proposal}")
async def read_proposal(desk: TheDesk, proposal: str) -> ProposalDetail:
    """Its hunks, and whether the files are still what it was made from."""
    stored, kept = await found(desk, proposal)
    would_do = preview(kept.proposal)
    base = kept.proposal.base_fingerprints
    return ProposalDetail(
        **_info(stored, kept).model_dump(),
        base_fingerprints=dict(base),
        shown=shown(would_do, texts=True) if isinstance(would_do, Preview) else None,
        is_current=await _now(desk, list(base)) == base,
    )


async def _now(desk: Desk, paths: list[str]) -> dict[str, str | None] | None:
    """The fingerprints of the files as they are; None if one cannot be read as text."""
    most = desk.settings.get("max_file_bytes", int) or 0
    try:
        scope = await asyncio.to_thread(read_scope, desk.folder, paths, None, most)
    except FileRefused:
        return None
    return dict(base_fingerprints(scope.documents))


@router.post("/proposals/{proposal}/apply", dependencies=[contributor])
async def apply(desk: TheDesk, proposal: str, body: Approval) -> EditOutcome:
    """Carry out what was agreed to: all of its files change, or none does."""
    stored, kept = await found(desk, proposal)
    would_do = preview(kept.proposal)
    if isinstance(would_do, OpsRejected):
        raise Rejected(409, "conflict", "the proposal cannot be carried out any more")
    if (would_do.base_hash, would_do.patch_id) != (body.base_hash, body.patch_id):
        raise Rejected(409, "conflict", "the approval is for another change than this proposal")
    if stored.status not in ("open", "conflict", "undone"):
        raise Rejected(409, "conflict", f"the proposal is {stored.status} already")
    outcome = await desk.edits.apply(Offered(proposal, would_do), body.chosen)
    answer = await told(desk.edits, proposal, outcome)
    if answer.outcome != "conflict":
        return answer
    return answer.model_copy(update={"proposal": await _stopped(desk, stored)})


async def _stopped(desk: Desk, stored: StoredProposal) -> str:
    """The proposal that met the conflict: one that was taken in part has a part of its own."""
    parts = [
        one.id
        for one in await desk.store.proposals(stored.chat)
        if one.status == "conflict" and (kept := _kept(one)) is not None and kept.of == stored.id
    ]
    return parts[-1] if parts else stored.id


@router.post("/proposals/{proposal}/refuse", dependencies=[contributor])
async def refuse(desk: TheDesk, proposal: str) -> Done:
    """None of it; the model is told with the next question."""
    stored, _ = await found(desk, proposal)
    if stored.status not in ("open", "conflict"):
        raise Rejected(409, "conflict", f"the proposal is {stored.status} already")
    await desk.store.decide_proposal(proposal, "refused", desk.edits.by)
    return Done()


async def found(desk: Desk, proposal: str) -> tuple[StoredProposal, KeptBody]:
    """The proposal, if it is one of the owner's."""
    stored = await desk.store.proposal(proposal)
    kept = _kept(stored) if stored is not None else None
    if stored is None or kept is None:
        raise not_found("proposal")
    return stored, kept


def _kept(stored: StoredProposal) -> KeptBody | None:
    try:
        return read(stored.body)
    except (ValueError, KeyError, TypeError):
        return None  # of another version


def _info(stored: StoredProposal, kept: KeptBody) -> ProposalInfo:
    return ProposalInfo(
        id=stored.id,
        chat=stored.chat,
        turn=stored.turn,
        status=stored.status,
        explanation=kept.proposal.explanation,
        files=list(kept.proposal.base),
        created_ms=stored.created_ms,
        decided_ms=stored.decided_ms,
        decided_by=stored.decided_by,
        of=kept.of,
    )


# --- What was applied -----------------------------------------------------------------------------


@router.get("/edits")
async def history(desk: TheDesk, limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> AppliedEdits:
    """What was applied in the folder, newest first."""
    return AppliedEdits(edits=[_edit(one) for one in await desk.edits.history(limit)])


def _edit(record: Record) -> AppliedEdit:
    return AppliedEdit(
        id=record.id,
        when_ms=record.when_ms,
        by=record.by,
        explanation=record.explanation,
        files=[FileChange(path=one.path, change=one.kind) for one in record.files],
        is_applied=record.is_applied,
        is_kept=record.is_kept,
    )


@router.post("/edits/undo", dependencies=[contributor])
async def undo(desk: TheDesk, body: Which) -> EditOutcome:
    """Take back what was applied last, or the edit named; a file that changed since is a conflict."""
    return await turned(desk, await desk.edits.undo(body.id))


@router.post("/edits/redo", dependencies=[contributor])
async def redo(desk: TheDesk, body: Which) -> EditOutcome:
    """Do again what was undone last, or the edit named."""
    return await turned(desk, await desk.edits.redo(body.id))


async def turned(desk: Desk, outcome: Outcome | Nothing) -> EditOutcome:
    """What became of an undo or redo."""
    if isinstance(outcome, Nothing):
        return EditOutcome(outcome="nothing", warning=outcome.reason)
    return await told(desk.edits, "", outcome)


async def told(edits: Edits, of: str, outcome: Outcome | None) -> EditOutcome:
    """What became of an edit. A merge without clashes is offered as a proposal made ``of`` another one."""
    match outcome:
        case None:
            return EditOutcome(outcome="nothing")
        case Applied():
            return EditOutcome(
                outcome="applied",
                id=outcome.id,
                files=list(outcome.files),
                kept=[Kept(path=one.path, copy_path=one.copy) for one in outcome.kept],
                warning=outcome.warning,
            )
        case Conflict(files=reasons, merge=merge):
            return EditOutcome(
                outcome="conflict",
                files=list(reasons),
                reasons=dict(reasons),
                merge=await _offered(edits, of, merge),
                clashes=clashes_of(merge),
                kept=[Kept(path=one.path, copy_path=one.copy) for one in outcome.kept],
            )
        case Refused(paths=paths):
            reasons = {one.path: one.reason for one in paths}
            return EditOutcome(outcome="refused", files=list(reasons), reasons=reasons)
        case NotApproved():
            return EditOutcome(outcome="not_approved")
        case OpsRejected(problems=problems):
            told = {problem.path: str(problem) for problem in problems}
            return EditOutcome(outcome="rejected", reasons=told)
        case never:
            assert_never(never)


async def _offered(edits: Edits, of: str, merge: Merge | None) -> str | None:
    """The whole merge as a proposal of its own; one that comes from no stored proposal cannot be kept."""
    if merge is None or not merge.is_whole or not merge.proposal.ops or not of:
        return None
    return (await edits.offer(merge.proposal, of=of)).id


def clashes_of(merge: Merge | None) -> dict[str, list[Clash]]:
    if merge is None:
        return {}
    return {
        path: [
            Clash(line=one.line, base=one.base, mine=one.mine, theirs=one.theirs) for one in clashes
        ]
        for path, clashes in merge.clashes.items()
    }


# --- Hunks ----------------------------------------------------------------------------------------


def shown(found: Preview, *, texts: bool = False) -> Shown:
    """``texts`` adds each file whole, before and after, for a diff side by side."""
    return Shown(
        base_hash=found.base_hash,
        patch_id=found.patch_id,
        files=[_file(one, texts) for one in found.files],
        fuzz=found.fuzz,
        offset=found.offset,
        normalizations=list(found.normalizations),
        requires_confirmation=found.requires_confirmation,
    )


def _file(file: FilePreview, texts: bool) -> FileHunks:
    before, after = file.change.before, file.change.after
    return FileHunks(
        path=file.path,
        change="created" if before is None else "deleted" if after is None else "changed",
        hunks=[
            Hunk(
                number=hunk.number,
                header=hunk.header,
                added=hunk.added,
                removed=hunk.removed,
                lines=[str(line) for line in hunk.lines],
            )
            for hunk in file.hunks
        ],
        before=before if texts else None,
        after=after if texts else None,
    )
