"""Structured edits for an editor that holds the files: propose, preview, apply, undo. Nothing touches a disk here."""

import secrets
from collections.abc import Mapping
from typing import Any, assert_never

from fastapi import APIRouter, Request
from starlette.responses import Response

from ..app.service import Desk
from ..core.edits import Rejected as OpsRejected
from ..core.edits import Scope
from ..core.ops import Op, Problem, Span, op_body, read_op
from ..core.proposal import Preview, Proposal, base_fingerprints, preview, propose
from ..engine.edit import EditReply, Wish
from ..engine.proposals import Kept, read, written
from ..engine.streams import Stop
from ..records import StoredProposal
from .answers import Rejected, not_found
from .depend import TheDesk, contributor
from .editor import capability, conversation, workspace_of
from .schemas.editor import (
    ApplyReply,
    ApplyRequest,
    EditOpsReply,
    EditOpsRequest,
    EditScope,
    OpProblem,
    PreviewMeta,
    PreviewReply,
    PreviewRequest,
    UndoReply,
    UndoRequest,
)
from .schemas.events import EditorDone
from .stream import while_connected
from .tracing import correlation_id, measure

router = APIRouter(prefix="/api/v1/editor", tags=["editor"], dependencies=[contributor])
_DISABLED = "Edits are switched off in the settings."


@router.post("/edit-ops")
async def edit_ops(
    request: Request, response: Response, desk: TheDesk, body: EditOpsRequest
) -> EditOpsReply:
    """Ask for edits of the files. Whatever goes wrong, ``ops`` is empty: there is never a part of an edit."""
    correlation = _traced(request, response)
    prints = _fingerprints(body)
    app = await capability(desk, "chat_ops", _DISABLED)
    if isinstance(app, EditorDone):
        return EditOpsReply(
            enabled=False,
            assistant_message=app.message or "",
            ops=[],
            base_fingerprints=prints,
            outcome="disabled",
            code=app.code,
            correlation_id=correlation,
        )
    reply = await _ask(request, desk, body, correlation)
    if reply.outcome == "busy":
        raise Rejected(409, "busy", reply.message)
    measure(
        request,
        response,
        outcome=reply.outcome,
        template_id=desk.settings.of_profile("chat_ops", "template", str) or "chat_ops",
        system_prompt_chars=len(app.chat.call.system),
        instruction_chars=len(body.message),
    )
    is_on = reply.outcome != "disabled"
    return EditOpsReply(
        enabled=is_on,
        assistant_message=reply.message,
        ops=[op_body(op) for op in reply.ops],
        base_fingerprints=prints,
        outcome=reply.outcome,
        code=None if is_on else "disabled",
        correlation_id=correlation,
        notices=list(reply.notices),
    )


async def _ask(request: Request, desk: Desk, body: EditOpsRequest, trace: str) -> EditReply:
    """In the tool's own conversation."""
    editor, stop = await desk.editor(), Stop()
    wish = Wish(body.message, scope_of(body), trace)
    async with conversation(desk, body.tool_id) as thread:
        with desk.turns.guest(stop):
            async with while_connected(request, stop):
                return await editor.ask(thread, wish, stop)


@router.post("/edit-ops/preview")
async def preview_ops(request: Request, response: Response, body: PreviewRequest) -> PreviewReply:
    """What the operations make of the files. Asks no model."""
    return previewed(body, _traced(request, response))


@router.post("/edit-ops/apply")
async def apply_ops(
    request: Request, response: Response, desk: TheDesk, body: ApplyRequest
) -> ApplyReply:
    """The files after the operations, if they are exactly those that were previewed; 409 otherwise."""
    correlation = _traced(request, response)
    found = _shown(body)
    if not isinstance(found, Preview):
        raise Rejected(409, "conflict", "the operations do not fit the files as they are now")
    if (found.base_hash, found.patch_id) != (body.base_hash, body.patch_id):
        raise Rejected(409, "conflict", "the files or the operations are not those previewed")
    undo_id = await _record(desk, body.tool_id, found)
    return ApplyReply(**previewed(body, correlation).model_dump(), undo_id=undo_id)


async def _record(desk: Desk, tool_id: str, found: Preview) -> str:
    """Write down that it was applied, so that the model is told and it can be undone."""
    store, workspace = desk.store, workspace_of(tool_id)
    thread = await store.latest_chat(workspace) or await store.new_chat(workspace)
    for one in await store.proposals(thread):
        kept = _kept(one)
        same = preview(kept.proposal) if kept is not None else None
        if (
            one.status in ("open", "undone")
            and isinstance(same, Preview)
            and same.patch_id == found.patch_id
        ):
            await store.decide_proposal(one.id, "applied", desk.edits.by)
            return one.id
    id = secrets.token_hex(8)
    last = await store.turns(thread, 1)
    turn = last[-1].id if last else ""
    await store.add_proposal(StoredProposal(id, thread, turn, written(Kept(found.proposal))))
    await store.decide_proposal(id, "applied", desk.edits.by)
    return id


@router.post("/edit-ops/undo")
async def undo_ops(
    request: Request, response: Response, desk: TheDesk, body: UndoRequest
) -> UndoReply:
    """The files as they were before an apply, if they are still what it made of them; 409 otherwise."""
    correlation = _traced(request, response)
    stored = await desk.store.proposal(body.undo_id)
    kept = _kept(stored) if stored is not None else None
    info = await desk.store.chat(stored.chat) if stored is not None else None
    if stored is None or kept is None or info is None:
        raise not_found("applied edit")
    if info.workspace != workspace_of(body.tool_id):
        raise not_found("applied edit")
    if stored.status != "applied":
        raise Rejected(409, "conflict", f"the edit is {stored.status}, so it cannot be undone")
    found = preview(kept.proposal)
    assert isinstance(found, Preview)  # it was applied
    files: dict[str, str | None] = dict(body.virtual_files)
    changed = [f.path for f in found.files if files.get(f.path) != f.change.after]
    if changed:
        words = f"{', '.join(changed)}: changed since the edit was applied"
        raise Rejected(409, "conflict", words)
    for file in found.files:
        files[file.path] = file.change.before
    await desk.store.decide_proposal(stored.id, "undone", desk.edits.by)
    return UndoReply(after_virtual_files=_there(files), correlation_id=correlation)


# --- Values ---------------------------------------------------------------------------------------


def scope_of(body: EditScope) -> Scope:
    selection = None if body.selection is None else Span(body.selection.start, body.selection.end)
    cursor = None if body.cursor is None else body.cursor.pos
    return Scope(dict(body.virtual_files), body.active_file, selection, cursor)


def previewed(body: PreviewRequest, correlation: str) -> PreviewReply:
    found = _shown(body)
    match found:
        case Preview():
            files: dict[str, str | None] = dict(body.virtual_files)
            files |= {file.path: file.change.after for file in found.files}
            clean = not (found.fuzz or found.offset or found.normalizations)
            return PreviewReply(
                ok=True,
                after_virtual_files=_there(files),
                errors=[],
                error_details=[],
                meta=PreviewMeta(
                    base_hash=found.base_hash,
                    patch_id=found.patch_id,
                    requires_confirmation=found.requires_confirmation,
                    fuzz_level_used=found.fuzz,
                    max_offset=found.offset,
                    normalizations_applied=list(found.normalizations),
                    applied_cleanly=clean,
                ),
                correlation_id=correlation,
            )
        case OpsRejected(problems=problems):
            return PreviewReply(
                ok=False,
                after_virtual_files=dict(body.virtual_files),
                errors=[str(problem) for problem in problems],
                error_details=[_problem(problem) for problem in problems],
                meta=PreviewMeta(),
                correlation_id=correlation,
            )
        case never:
            assert_never(never)


def _shown(body: PreviewRequest) -> Preview | OpsRejected:
    proposal = _proposal(body.ops, scope_of(body))
    return proposal if isinstance(proposal, OpsRejected) else preview(proposal)


def _proposal(bodies: list[dict[str, Any]], scope: Scope) -> Proposal | OpsRejected:
    if not bodies:
        return OpsRejected((Problem(None, "", "nothing proposed"),))
    found = [read_op(body, number) for number, body in enumerate(bodies)]
    problems = tuple(one for one in found if isinstance(one, Problem))
    ops: list[Op] = [one for one in found if not isinstance(one, Problem)]
    problems += tuple(
        Problem(number, op.path, "not a file of the request")
        for number, op in enumerate(found)
        if not isinstance(op, Problem) and op.path not in scope.documents
    )
    return OpsRejected(problems) if problems else propose("", ops, scope)


def _problem(problem: Problem) -> OpProblem:
    hunk = problem.hunk
    return OpProblem(
        op_index=problem.op,
        target_file=problem.path,
        reason=problem.reason,
        hunk_index=hunk.hunk if hunk else None,
        hunk_header=hunk.header if hunk else None,
        expected_snippet=hunk.expected if hunk else None,
        base_snippet=hunk.found if hunk else None,
    )


def _there(files: Mapping[str, str | None]) -> dict[str, str]:
    return {path: text for path, text in files.items() if text is not None}


def _fingerprints(body: EditScope) -> dict[str, str]:
    prints = base_fingerprints(dict(body.virtual_files))
    return {path: print for path, print in prints.items() if print is not None}


def _kept(stored: StoredProposal) -> Kept | None:
    try:
        return read(stored.body)
    except (ValueError, KeyError, TypeError):
        return None


def _traced(request: Request, response: Response) -> str:
    correlation = correlation_id(request)
    response.headers["X-Correlation-ID"] = correlation
    return correlation
