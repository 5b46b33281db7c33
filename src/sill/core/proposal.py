"""What a model proposed, what it would do, and what a person agreed to.

A proposal carries the texts it was made from, so it can be shown, checked and merged without asking anybody.
``base_hash`` and ``patch_id`` name the files' states and the exact change: an approval names both.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .diff import Cut, Hunk, hunks
from .edits import Change, Edited, Placement, Rejected, Scope, edit
from .merge import Clash, merge
from .messages import Fingerprint, fingerprint
from .ops import Delete, Op, Problem, Replace, Span, Whole, op_body, read_op

VERSION = 1


@dataclass(frozen=True, slots=True)
class Proposal:
    """``base`` holds each touched document as it was; None where it does not exist yet."""

    explanation: str
    ops: tuple[Op, ...]
    base: Mapping[str, str | None]
    active: str | None = None
    selection: Span | None = None
    cursor: int | None = None

    @property
    def base_fingerprints(self) -> dict[str, Fingerprint | None]:
        return base_fingerprints(self.base)

    @property
    def scope(self) -> Scope:
        return Scope(self.base, self.active, self.selection, self.cursor)


@dataclass(frozen=True, slots=True)
class FilePreview:
    """A file that is made or removed has one hunk, which stands for the file."""

    path: str
    change: Change
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What applying the proposal does, exactly; nothing has been written."""

    proposal: Proposal
    files: tuple[FilePreview, ...]
    placements: tuple[Placement, ...]
    base_hash: str
    patch_id: str

    @property
    def requires_confirmation(self) -> bool:
        return any(placement.requires_confirmation for placement in self.placements)

    @property
    def fuzz(self) -> int:
        return max((placement.fuzz for placement in self.placements), default=0)

    @property
    def offset(self) -> int:
        return max((placement.offset for placement in self.placements), default=0)

    @property
    def normalizations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(n for one in self.placements for n in one.normalizations))


def base_fingerprints(documents: Mapping[str, str | None]) -> dict[str, Fingerprint | None]:
    """``sha256:`` over each document's exact UTF-8 text; None for one that does not exist."""
    return {path: None if text is None else fingerprint(text) for path, text in documents.items()}


def propose(explanation: str, ops: Sequence[Op], scope: Scope) -> Proposal | Rejected:
    """The operations bound to the documents they were made from, if every one of them can be applied."""
    edited = edit(scope, ops)
    if isinstance(edited, Rejected):
        return edited
    touched = dict.fromkeys(op.path for op in ops)
    base = {path: scope.documents[path] for path in touched}
    if scope.active in touched:
        return Proposal(explanation, tuple(ops), base, scope.active, scope.selection, scope.cursor)
    return Proposal(explanation, tuple(ops), base)


def outcome(proposal: Proposal) -> Edited | Rejected:
    """What the proposal makes of its documents: the one function behind preview and apply."""
    return edit(proposal.scope, proposal.ops)


def preview(proposal: Proposal) -> Preview | Rejected:
    """The hunks of every file; never writes, never asks a model."""
    edited = outcome(proposal)
    if isinstance(edited, Rejected):
        return edited
    return Preview(
        proposal,
        tuple(
            FilePreview(path, change, _file_hunks(change))
            for path, change in edited.changes.items()
        ),
        edited.placements,
        base_hash(proposal.base_fingerprints),
        patch_id(proposal, edited),
    )


def _file_hunks(change: Change) -> tuple[Hunk, ...]:
    if change.before is not None and change.after is not None:
        return hunks(change.before, change.after)
    found = hunks(change.before or "", change.after or "")
    # An empty file that comes or goes is a change too, though no line is.
    return found[:1] or (Hunk(0, 0, 0, 0, 0, (), ()),)


def base_hash(fingerprints: Mapping[str, Fingerprint | None]) -> str:
    return _digest(dict(sorted(fingerprints.items())))


def patch_id(proposal: Proposal, edited: Edited) -> str:
    """Names operations, base states and results: if any of them is another one, so is the id."""
    after = {path: change.after for path, change in sorted(edited.changes.items())}
    return _digest(
        {
            "ops": [op_body(op) for op in proposal.ops],
            "base": dict(sorted(proposal.base_fingerprints.items())),
            "after": base_fingerprints(after),
        }
    )


def _digest(value: object) -> str:
    canonical = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def accept(shown: Preview, chosen: Mapping[str, Collection[int]]) -> Proposal:
    """A new proposal of the chosen hunks alone, bound anew; files without a chosen hunk are left out."""
    ops: list[Op] = []
    base: dict[str, str | None] = {}
    for file in shown.files:
        taken = [hunk for hunk in file.hunks if hunk.number in chosen.get(file.path, ())]
        if taken:
            ops += _exact_ops(file.path, file.change, [cut for hunk in taken for cut in hunk.cuts])
            base[file.path] = file.change.before
    return Proposal(shown.proposal.explanation, tuple(ops), base)


def _exact_ops(path: str, change: Change, cuts: Sequence[Cut]) -> list[Op]:
    if change.after is None:
        return [Delete(path, Whole())]
    if change.before is None:
        return [Replace(path, Whole(), change.after)]
    return [Replace(path, Span(cut.start, cut.end), cut.new) for cut in cuts]


def tell_model(shown: Preview, chosen: Mapping[str, Collection[int]]) -> str:
    """What became of the proposal, for the model's next turn."""
    applied, refused = list[str](), list[str]()
    for file in shown.files:
        for hunk in file.hunks:
            taken = hunk.number in chosen.get(file.path, ())
            (applied if taken else refused).append(f"{file.path} {_described(file.change, hunk)}")
    parts = [
        f"{title}: " + "; ".join(entries) + "."
        for title, entries in (("Applied", applied), ("Refused by the user", refused))
        if entries
    ]
    return "Of your proposed edits. " + " ".join(parts) if parts else "The edits changed nothing."


def _described(change: Change, hunk: Hunk) -> str:
    if change.before is None:
        return "(new file)"
    if change.after is None:
        return "(file deleted)"
    return f"lines {hunk.old_start}-{hunk.old_start + max(hunk.old_count - 1, 0)}"


@dataclass(frozen=True, slots=True)
class Merge:
    """A proposal against the files as they are now; what clashes is not in it.

    ``changes`` are what was wanted, of files that are ``current`` now.
    """

    proposal: Proposal
    clashes: Mapping[str, tuple[Clash, ...]]
    changes: Mapping[str, Change]
    current: Mapping[str, str | None]

    @property
    def is_whole(self) -> bool:
        return not self.clashes


def rebase(
    explanation: str, changes: Mapping[str, Change], current: Mapping[str, str | None]
) -> Merge:
    """The same changes made to the documents as they are now, where that can be done without guessing."""
    ops: list[Op] = []
    base: dict[str, str | None] = {}
    clashes: dict[str, tuple[Clash, ...]] = {}
    for path, change in changes.items():
        now = current.get(path)
        if now == change.after:
            continue
        if now == change.before:
            ops += _exact_ops(path, change, [c for h in _file_hunks(change) for c in h.cuts])
        elif now is None or change.before is None or change.after is None:
            clashes[path] = (Clash(1, change.before or "", now or "", change.after or ""),)
            continue
        else:
            merged = merge(change.before, now, change.after)
            ops += [Replace(path, Span(cut.start, cut.end), cut.new) for cut in merged.cuts]
            if merged.clashes:
                clashes[path] = merged.clashes
            if not merged.cuts:
                continue
        base[path] = now
    return Merge(Proposal(explanation, tuple(ops), base), clashes, changes, current)


def to_json(proposal: Proposal) -> str:
    """For storage; ``from_json`` gives an equal proposal back."""
    selection = proposal.selection
    return json.dumps(
        {
            "version": VERSION,
            "explanation": proposal.explanation,
            "ops": [op_body(op) for op in proposal.ops],
            "base": dict(proposal.base),
            "base_fingerprints": proposal.base_fingerprints,
            "active": proposal.active,
            "selection": None if selection is None else [selection.start, selection.end],
            "cursor": proposal.cursor,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def from_json(text: str) -> Proposal:
    """``ValueError`` if the text was not written by ``to_json`` or its base texts were changed since."""
    body: dict[str, Any] = json.loads(text)
    if not isinstance(body, dict) or body.get("version") != VERSION:
        raise ValueError("not a stored proposal of this version")
    ops: list[Op] = []
    for number, one in enumerate(body["ops"]):
        op = read_op(one, number, trusted=True)
        if isinstance(op, Problem):
            raise ValueError(str(op))
        ops.append(op)
    span = body["selection"]
    selection = None if span is None else Span(span[0], span[1])
    proposal = Proposal(
        body["explanation"], tuple(ops), body["base"], body["active"], selection, body["cursor"]
    )
    if proposal.base_fingerprints != body["base_fingerprints"]:
        raise ValueError("the stored base texts do not have the stored fingerprints")
    return proposal
