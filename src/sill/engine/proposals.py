"""Proposals as they are stored beside a chat, and what the model is told of their fate."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from ..core.edits import Rejected
from ..core.messages import ProposalNews
from ..core.proposal import Preview, Proposal, from_json, preview, tell_model, to_json
from ..ports import History, Store
from ..records import StoredProposal

VERSION = 1
Chosen = Mapping[str, Collection[int]]  # numbers of hunks by file


@dataclass(frozen=True, slots=True)
class Kept:
    """``of`` is the proposal that this one is a part or a merge of; ``told`` says what was taken of it."""

    proposal: Proposal
    of: str = ""
    told: str = ""


def written(kept: Kept) -> str:
    """For ``StoredProposal.body``; ``read`` gives it back."""
    shown = preview(kept.proposal)
    hashes = (shown.base_hash, shown.patch_id) if isinstance(shown, Preview) else ("", "")
    return json.dumps(
        {
            "version": VERSION,
            "proposal": json.loads(to_json(kept.proposal)),
            "base_hash": hashes[0],
            "patch_id": hashes[1],
            "of": kept.of,
            "told": kept.told,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def read(body: str) -> Kept:
    """``ValueError`` if the text was not written by ``written``."""
    fields = json.loads(body)
    if not isinstance(fields, dict) or fields.get("version") != VERSION:
        raise ValueError("not a stored proposal of this version")
    proposal = from_json(json.dumps(fields["proposal"]))
    return Kept(proposal, fields["of"], fields["told"])


def touched_files(body: str) -> tuple[str, ...]:
    """The files a stored proposal is about; none if it is of a version that cannot be read."""
    kept = readable(body)
    return tuple(kept.proposal.base) if kept is not None else ()


def every_hunk(shown: Preview) -> dict[str, tuple[int, ...]]:
    return {file.path: tuple(hunk.number for hunk in file.hunks) for file in shown.files}


async def news(store: Store, chat: str, history: History) -> str:
    """What became of the chat's proposals since the last turn the model remembers; empty if nothing did."""
    return "\n".join(fates(await untold(store, chat, history)))


async def untold(store: Store, chat: str, history: History) -> list[StoredProposal]:
    """The proposals that were decided since then, and that no turn of the window has told of."""
    since = history.turns[-1].started_ms if history.turns else 0
    told = {
        one
        for turn in history.turns
        for message in turn.messages
        if isinstance(message.carries, ProposalNews)
        for one in message.carries.told
    }
    return [
        one
        for one in await store.proposals(chat)
        if one.decided_ms is not None and one.decided_ms >= since and as_told(one) not in told
    ]


def as_told(proposal: StoredProposal) -> str:
    return f"{proposal.id} {proposal.status}"


def fates(decided: Sequence[StoredProposal]) -> list[str]:
    """One sentence for each proposal; one that was taken in part is told of by its part."""
    bodies = {one.id: readable(one.body) for one in decided}
    replaced = {kept.of for kept in bodies.values() if kept is not None}
    told = []
    for one in decided:
        kept = bodies[one.id]
        if kept is not None and one.id not in replaced and (text := _fate(one, kept)):
            told.append(text)
    return told


def readable(body: str) -> Kept | None:
    """None for one of another version: it can still be listed, but not explained."""
    try:
        return read(body)
    except (ValueError, KeyError, TypeError):
        return None


def _fate(stored: StoredProposal, kept: Kept) -> str:
    shown = preview(kept.proposal)
    if isinstance(shown, Rejected):
        return ""
    files = ", ".join(file.path for file in shown.files)
    match stored.status:
        case "open":
            return ""
        case "applied":
            return kept.told or tell_model(shown, every_hunk(shown))
        case "refused":
            return tell_model(shown, {})
        case "undone":
            return f"Your edits to {files} were applied and then undone by the user."
        case "conflict":
            return f"Your edits to {files} were not applied: the files had changed meanwhile."
        case never:
            assert_never(never)
