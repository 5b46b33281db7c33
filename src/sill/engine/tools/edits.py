"""The tool by which a model proposes edits. It stores a proposal; a person decides, and nothing is written here."""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ...core.edits import Rejected, Scope
from ...core.ops import Anchor, Op, Replace, Whole
from ...core.proposal import preview, propose
from ...core.tools import Tool
from ...ports import Caller, Store, ToolOutcome
from ...records import StoredProposal
from ..proposals import Kept, written
from .schemas import choice, tool, words

_EDIT = {
    "type": "object",
    "properties": {
        "path": words(),
        "find": words("exact text that occurs once; empty for the whole file"),
        "replace": words(),
    },
    "required": ["path", "find", "replace"],
}
TOOLS = (
    tool(
        "propose_edit",
        "Propose edits of files; the user decides.",
        {"explanation": words(), "edits": {"type": "array", "minItems": 1, "items": _EDIT}},
        required=("explanation", "edits"),
    ),
)


class EditTools:
    """``read_scope`` gives the named files as they are now; it raises ``FileRefused`` for what may not be edited."""

    def __init__(
        self,
        store: Store,
        read_scope: Callable[[Sequence[str]], Awaitable[Scope]],
        new_id: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._store = store
        self._read_scope = read_scope
        self._new_id = new_id

    async def tools(self) -> Sequence[Tool]:
        return TOOLS

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        ops = [_op(edit) for edit in arguments["edits"]]
        scope = await self._read_scope([op.path for op in ops])
        proposal = propose(arguments["explanation"], ops, scope)
        shown = proposal if isinstance(proposal, Rejected) else preview(proposal)
        if isinstance(shown, Rejected):
            problems = "; ".join(str(problem) for problem in shown.problems[:3])
            return ToolOutcome(f"nothing was proposed: {problems}", is_error=True)
        if not shown.files:
            return ToolOutcome("nothing was proposed: this changes nothing", is_error=True)
        id = self._new_id()
        body = written(Kept(shown.proposal))
        await self._store.add_proposal(StoredProposal(id, caller.chat, caller.turn, body))
        files = ", ".join(file.path for file in shown.files)
        return ToolOutcome(f"proposal {id} for {files} is stored; it is not applied yet")


def _op(edit: Mapping[str, Any]) -> Op:
    path = choice(edit["path"])
    target = Anchor(edit["find"]) if edit["find"] else Whole()
    return Replace(path, target, edit["replace"])
