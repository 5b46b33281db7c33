"""The editor API: chat about files an editor holds, structured edits, completion and suggestions."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictInt, model_validator

from .common import Message, Name, Text, Wire

MOST_FILES = 200
Notices = Annotated[
    list[str], Field(description="what happened on the way, such as another model being asked")
]
VirtualFiles = Annotated[dict[Name, Text], Field(max_length=MOST_FILES)]


class EditorChatRequest(Wire):
    """A question with the files the editor holds. They are sent to the model once, and again when they change."""

    message: Message
    active_file: Name | None = None
    virtual_files: VirtualFiles | None = None
    base_version_id: Annotated[str, Field(max_length=200)] | None = None

    @model_validator(mode="after")
    def _files_belong_together(self) -> Self:
        if self.active_file is not None and self.virtual_files is None:
            raise ValueError("active_file needs virtual_files")
        return self


class EditorMessage(Wire):
    message_id: str
    turn_id: str
    role: Literal["user", "assistant"]
    content: str
    created_at: str = Field(description="ISO 8601, UTC")
    status: Literal["pending", "complete", "failed", "cancelled"]
    correlation_id: str | None = None
    failure_outcome: str | None = None


class EditorHistory(Wire):
    """Oldest first. Hidden messages are never in it."""

    messages: list[EditorMessage]
    base_version_id: str | None = None


class TextSpan(Wire):
    """Characters of the active file, as Unicode code points."""

    start: Annotated[StrictInt, Field(ge=0, alias="from")]
    end: Annotated[StrictInt, Field(ge=0, alias="to")]

    @model_validator(mode="after")
    def _is_ordered(self) -> Self:
        if self.end < self.start:
            raise ValueError("`to` is before `from`")
        return self


class CursorAt(Wire):
    pos: Annotated[StrictInt, Field(ge=0)]


class EditScope(Wire):
    """The files of a request and where the user is in the active one."""

    tool_id: Annotated[str, Field(min_length=1, max_length=200)]
    active_file: Name
    selection: TextSpan | None = None
    cursor: CursorAt | None = None
    virtual_files: Annotated[dict[Name, Text], Field(min_length=1, max_length=MOST_FILES)]

    @model_validator(mode="after")
    def _active_file_is_there(self) -> Self:
        text = self.virtual_files.get(self.active_file)
        if text is None:
            raise ValueError("active_file is not among virtual_files")
        if self.selection is not None and self.selection.end > len(text):
            raise ValueError("the selection is outside the active file")
        if self.cursor is not None and self.cursor.pos > len(text):
            raise ValueError("the cursor is outside the active file")
        return self


Operation = Annotated[
    dict[str, Any],
    Field(
        description="{op, target_file, target, content?, …} or {op: patch, target_file, patch_lines}"
    ),
]


class EditOpsRequest(EditScope):
    message: Message


class EditOpsReply(Wire):
    """``ops`` is empty unless the outcome is ``proposed``: there is never a part of an edit."""

    enabled: bool
    assistant_message: str
    ops: list[Operation]
    base_fingerprints: dict[str, str]
    outcome: str = Field(description="proposed, nothing, over_budget, invalid, disabled, …")
    code: str | None = Field(default=None, description="why it is not enabled")
    correlation_id: str
    notices: Notices = Field(default_factory=list)


class PreviewRequest(EditScope):
    ops: Annotated[list[Operation], Field(max_length=1000)]


class OpProblem(Wire):
    op_index: int | None
    target_file: str
    reason: str
    hunk_index: int | None = None
    hunk_header: str | None = None
    expected_snippet: str | None = None
    base_snippet: str | None = None


class PreviewMeta(Wire):
    base_hash: str | None = None
    patch_id: str | None = None
    requires_confirmation: bool = False
    fuzz_level_used: int = 0
    max_offset: int = 0
    normalizations_applied: list[str] = Field(default_factory=list)
    applied_cleanly: bool = False


class PreviewReply(Wire):
    """What the files become; asks no model and writes nothing. A deleted file is not in it."""

    ok: bool
    after_virtual_files: dict[str, str]
    errors: list[str]
    error_details: list[OpProblem]
    meta: PreviewMeta
    correlation_id: str


class ApplyRequest(PreviewRequest):
    """The preview again, with the two hashes the user agreed to; 409 if either is another one now."""

    base_hash: str
    patch_id: str


class ApplyReply(PreviewReply):
    """``undo_id`` takes it back with ``/edit-ops/undo``."""

    undo_id: str


class UndoRequest(Wire):
    """The files as they are now: an edit is only taken back from the state it made."""

    tool_id: Annotated[str, Field(min_length=1, max_length=200)]
    undo_id: Annotated[str, Field(min_length=1, max_length=200)]
    virtual_files: Annotated[dict[Name, Text], Field(max_length=MOST_FILES)]


class UndoReply(Wire):
    ok: Literal[True] = True
    after_virtual_files: dict[str, str]
    correlation_id: str


class CompletionRequest(Wire):
    prefix: Text
    suffix: Text = ""
    active_file: Name = "text.md"


class CompletionReply(Wire):
    completion: str
    enabled: bool
    outcome: str
    code: str | None = None
    message: str = ""
    notices: Notices = Field(default_factory=list)


class SuggestRequest(Wire):
    """Another text for a selection."""

    instruction: Message
    selection: Message
    prefix: Text = ""
    suffix: Text = ""
    active_file: Name = "text.md"


class SuggestReply(Wire):
    suggestion: str
    enabled: bool
    outcome: str
    code: str | None = None
    message: str = ""
    notices: Notices = Field(default_factory=list)
