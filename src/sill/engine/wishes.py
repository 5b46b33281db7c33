"""A wish for edits and what came of it; the words around it, for the model and for people."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..core.certificate import Certificate, Usage
from ..core.edits import Scope
from ..core.messages import Fingerprint
from ..core.ops import Op, Problem
from ..core.proposal import Proposal
from ..errors import ProviderError
from .prepare import Prepared

EditOutcome = Literal[
    "proposed",  # the only one with operations
    "nothing",  # the model sees nothing to change
    "over_budget",  # nothing was sent, or the endpoint had no room for it; nothing is stored
    "over_limit",  # it could cost more than may be spent
    "truncated",
    "invalid",
    "upstream_error",
    "disabled",
    "cancelled",
    "interrupted",  # the program ended before the reply did
    "busy",  # another turn of the chat is in flight
]


@dataclass(frozen=True, slots=True)
class Wish:
    instruction: str
    scope: Scope
    trace: str = ""  # the caller's own name for it, kept with the turn


@dataclass(frozen=True, slots=True)
class EditReply:
    """What came of a request. Without a proposal nothing may be changed; ``message`` says why, for people."""

    outcome: EditOutcome
    message: str
    proposal: Proposal | None = None
    id: str = ""  # of the stored proposal
    base_fingerprints: Mapping[str, Fingerprint | None] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    chat: str | None = None
    turn: str | None = None
    certificate: Certificate | None = None
    usage: Usage | None = None
    rounds: int = 0  # how often the model was asked
    took_ms: int = 0
    cost: int | None = 0
    notices: tuple[str, ...] = ()  # what happened on the way, for people
    error: ProviderError | None = None  # why the model could not be asked; nothing is stored then

    @property
    def ops(self) -> tuple[Op, ...]:
        return self.proposal.ops if self.proposal is not None else ()


def by_priority(scope: Scope) -> list[tuple[str, str | None]]:
    return sorted(scope.documents.items(), key=lambda item: item[0] != scope.active)


def asked(wish: Wish, told: str = "") -> str:
    """The user's words, with what they point at and what the model has to know before it reads them."""
    parts = [f"({told})"] if told else []
    parts.append(wish.instruction)
    scope = wish.scope
    text = scope.documents.get(scope.active) if scope.active else None
    if text is not None and scope.selection is not None:
        start, end = scope.selection.start, scope.selection.end
        first, last = _line(text, start), _line(text, max(start, end - 1))
        parts.append(f"Selected in {scope.active}, lines {first} to {last}:\n{text[start:end]}")
    if text is not None and scope.cursor is not None:
        before = text[: scope.cursor].rsplit("\n", 1)[-1]
        line = _line(text, scope.cursor)
        parts.append(f"The cursor is in {scope.active}, line {line}, after: {before!r}")
    return "\n\n".join(parts)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def too_large(names: list[str], prepared: Prepared) -> str:
    """What to drop, in a sentence; files are never cut, because an edit of a part would be a guess."""
    room = prepared.plan.budget.room
    files = {i.name: i.reason for i in prepared.plan.items if i.kind == "file"}
    reasons = "; ".join(f"{name}: {files[name].split(';')[0]}" for name in names)
    return (
        f"The files do not fit into the {room:,} tokens of the prompt. Leave out or shorten"
        f" {', '.join(names)} ({reasons}), or choose a model with a larger window."
    )
