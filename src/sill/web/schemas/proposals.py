"""Proposals, what became of them, and going back."""

from typing import Literal

from pydantic import Field, StrictInt

from .common import Counted, Dollars, Message, Moment, Name, Text, Used, Wire

Status = Literal["open", "applied", "refused", "undone", "conflict"]


class Hunk(Wire):
    number: int
    header: str
    added: int
    removed: int
    lines: list[str] = Field(description="as in a unified diff: each begins with space, - or +")


class FileHunks(Wire):
    path: str
    change: Literal["created", "changed", "deleted"]
    hunks: list[Hunk]
    before: str | None = None
    after: str | None = None


class Shown(Wire):
    """What applying would do, exactly. An approval names ``base_hash`` and ``patch_id``."""

    base_hash: str | None
    patch_id: str | None
    files: list[FileHunks] = Field(default_factory=list)
    fuzz: int = 0
    offset: int = 0
    normalizations: list[str] = Field(default_factory=list)
    requires_confirmation: bool = False


class ProposalInfo(Wire):
    id: str
    chat: str
    turn: str
    status: Status
    explanation: str
    files: list[str]
    created_ms: Moment
    decided_ms: int | None = None
    decided_by: str = ""
    of: str = Field(default="", description="the proposal it is a part or a merge of")


class Proposals(Wire):
    proposals: list[ProposalInfo]


class ProposalDetail(ProposalInfo):
    base_fingerprints: dict[str, str | None]
    shown: Shown | None = Field(
        default=None, description="null if it cannot be carried out any more"
    )
    is_current: bool = Field(description="the files are still what it was made from")


class Approval(Wire):
    """``chosen`` null takes every hunk; the two hashes are those that were shown."""

    base_hash: str
    patch_id: str
    chosen: dict[str, list[StrictInt]] | None = None


class Clash(Wire):
    """Both sides changed the same lines. ``mine`` is the file now, ``theirs`` what is to be done to it."""

    line: int
    base: str
    mine: str
    theirs: str


class MergedFile(Wire):
    """A file of a merge. ``fits``: how many changes can be made to it as it is now."""

    path: str
    now: str | None = Field(description="fingerprint; null if there is no such file")
    fits: int
    clashes: list[Clash]
    is_whole: bool = Field(description="the clash is about the file as a whole: made or removed")
    is_there: bool
    is_kept: bool = Field(description="the change does not remove it")


class MergeState(Wire):
    """A proposal, undo or redo beside its files as they are now; ``state`` names what was looked at."""

    state: str
    files: list[MergedFile]


class ClashChoice(Wire):
    """Whose text a clash becomes: the file's, the change's, both in this order, or ``text``."""

    take: Literal["mine", "theirs", "both", "text"]
    text: Text = ""


class Resolution(Wire):
    """One choice for each clash, by file and in their order; without one the file's text stays."""

    state: str
    choices: dict[str, list[ClashChoice]] = Field(default_factory=dict)


class AgreedResolution(Resolution):
    """With the two hashes of the result that was shown."""

    base_hash: str
    patch_id: str


class Kept(Wire):
    path: str
    copy_path: str


class EditOutcome(Wire):
    """``merge`` is a new proposal: the same change to the files as they are now, where nothing clashes."""

    outcome: Literal["applied", "nothing", "conflict", "refused", "not_approved", "rejected"]
    id: str | None = Field(default=None, description="of the transaction, for undo")
    files: list[str] = Field(default_factory=list)
    reasons: dict[str, str] = Field(default_factory=dict, description="by file, where it failed")
    merge: str | None = None
    proposal: str | None = Field(
        default=None, description="where clashes can be decided: the one that met the conflict"
    )
    clashes: dict[str, list[Clash]] = Field(default_factory=dict)
    kept: list[Kept] = Field(default_factory=list)
    warning: str = ""


class Propose(Wire):
    """Ask the model to change files of the folder; a file that does not exist may be made."""

    instruction: Message
    files: list[Name] = Field(min_length=1, max_length=200)
    chat: str | None = None
    lines: tuple[StrictInt, StrictInt] | None = Field(
        default=None, description="selected in the first file, from 1"
    )


class Proposed(Wire):
    """``proposal`` is null unless the outcome is ``proposed``."""

    enabled: bool
    outcome: str
    message: str
    proposal: str | None = None
    shown: Shown | None = None
    problems: list[str] = Field(default_factory=list)
    chat: str | None = None
    turn: str | None = None
    certificate: Counted | None = None
    usage: Used | None = None
    cost: Dollars = None
    notices: list[str] = Field(default_factory=list, description="what happened on the way")


class FileChange(Wire):
    path: str
    change: Literal["created", "changed", "deleted"]


class AppliedEdit(Wire):
    """One applied proposal. ``is_applied`` is false while it is undone."""

    id: str
    when_ms: Moment
    by: str
    explanation: str
    files: list[FileChange]
    is_applied: bool
    is_kept: bool = Field(description="its bytes are still there, so it can be undone and redone")


class AppliedEdits(Wire):
    edits: list[AppliedEdit]


class Which(Wire):
    """Null: the last one."""

    id: str | None = None
