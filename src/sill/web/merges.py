"""A change whose files changed meanwhile, merged by hand: what clashes, what comes of a choice, doing it."""

from typing import Literal, assert_never

from fastapi import APIRouter

from ..adapters.vault.apply import Approval
from ..adapters.vault.undo import Nothing
from ..adapters.vault.undo import Which as Turn
from ..app.merging import Standing, carry_out, carry_out_turn, standing, standing_turn
from ..app.service import Desk
from ..core.clashes import Choice, is_whole
from ..core.edits import Rejected as OpsRejected
from ..core.proposal import Preview, base_fingerprints
from .answers import Rejected
from .depend import TheDesk, contributor
from .proposals import clashes_of, found, shown, told, turned
from .schemas.proposals import (
    AgreedResolution,
    EditOutcome,
    MergedFile,
    MergeState,
    Resolution,
    Shown,
)

router = APIRouter(prefix="/api/v1", tags=["edits"])
OPEN = ("open", "conflict", "undone")
Way = Literal["undo", "redo"]


@router.get("/proposals/{proposal}/merge")
async def read_merge(desk: TheDesk, proposal: str) -> MergeState:
    """The proposal beside its files as they are now: what still fits, and what clashes."""
    return _state(await _standing(desk, proposal))


@router.post("/proposals/{proposal}/merge", dependencies=[contributor])
async def preview_merge(desk: TheDesk, proposal: str, body: Resolution) -> Shown:
    """What the files become with these choices; a clash without one stays as it is on disk."""
    return shown(_result(await _standing(desk, proposal), body))


@router.post("/proposals/{proposal}/merge/apply", dependencies=[contributor])
async def apply_merge(desk: TheDesk, proposal: str, body: AgreedResolution) -> EditOutcome:
    """Write the result that was shown, in every file or in none."""
    result = _result(await _standing(desk, proposal), body)
    agreed = Approval(body.base_hash, body.patch_id)
    if not result.files:
        return await told(desk.edits, proposal, None)
    return await told(desk.edits, proposal, await carry_out(desk.edits, proposal, result, agreed))


@router.get("/edits/{edit}/{way}/merge", dependencies=[contributor])
async def read_turn(desk: TheDesk, edit: str, way: Way) -> MergeState:
    """Undoing or redoing an edit beside its files as they are now: what still fits, and what clashes."""
    return _state(await _turning(desk, Turn(way, edit)))


@router.post("/edits/{edit}/{way}/merge", dependencies=[contributor])
async def preview_turn(desk: TheDesk, edit: str, way: Way, body: Resolution) -> Shown:
    """What the files become with these choices; a clash without one stays as it is on disk."""
    return shown(_result(await _turning(desk, Turn(way, edit)), body))


@router.post("/edits/{edit}/{way}/merge/apply", dependencies=[contributor])
async def apply_turn(desk: TheDesk, edit: str, way: Way, body: AgreedResolution) -> EditOutcome:
    """Undo or redo with the result that was shown, in every file or in none; the opposite takes it back."""
    which = Turn(way, edit)
    result = _result(await _turning(desk, which), body)
    if not result.files:
        return await told(desk.edits, "", None)
    agreed = Approval(body.base_hash, body.patch_id)
    return await turned(desk, await carry_out_turn(desk.edits, which, result, agreed))


def _state(there: Standing) -> MergeState:
    merge = there.merge
    clashes = clashes_of(merge)
    prints = base_fingerprints(there.current)
    return MergeState(
        state=there.state,
        files=[
            MergedFile(
                path=path,
                now=prints[path],
                fits=sum(op.path == path for op in merge.proposal.ops),
                clashes=clashes.get(path, []),
                is_whole=path in clashes and is_whole(change, there.current[path]),
                is_there=there.current[path] is not None,
                is_kept=change.after is not None,
            )
            for path, change in there.changes.items()
        ],
    )


async def _turning(desk: Desk, which: Turn) -> Standing:
    most = desk.settings.get("max_file_bytes", int) or 0
    found = await standing_turn(desk.edits, which, most)
    if isinstance(found, Nothing):
        raise Rejected(409, "conflict", found.reason)
    return found[1]


async def _standing(desk: Desk, proposal: str) -> Standing:
    stored, kept = await found(desk, proposal)
    if stored.status not in OPEN:
        raise Rejected(409, "conflict", f"the proposal is {stored.status} already")
    most = desk.settings.get("max_file_bytes", int) or 0
    there = await standing(desk.folder, kept.proposal, most)
    if isinstance(there, OpsRejected):
        raise Rejected(409, "conflict", "the proposal cannot be carried out any more")
    return there


def _result(there: Standing, body: Resolution) -> Preview:
    """``Rejected`` where the files are no longer those that were shown."""
    if there.state != body.state:
        raise Rejected(409, "conflict", "a file changed again; look at what clashes now")
    choices = {
        path: [Choice(one.take, one.text) for one in list_] for path, list_ in body.choices.items()
    }
    match there.result(choices):
        case Preview() as result:
            return result
        case OpsRejected():
            raise Rejected(409, "conflict", "these choices do not fit together")
        case never:
            assert_never(never)
