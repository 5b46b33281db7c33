"""What a store keeps beside turns: chats, attempts, proposals, notes to remember."""

from dataclasses import dataclass
from typing import Literal

from .core.certificate import Certificate, Usage
from .core.cost import Price


@dataclass(frozen=True, slots=True)
class ChatInfo:
    id: str
    workspace: str
    title: str
    turns: int
    created_ms: int
    used_ms: int
    pinned: bool = False
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Pin:
    """Something that is to stay in a chat's window: a turn, or a file by its path."""

    turn: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request of a turn: the exact bytes, how they were counted, and the plan's items as JSON where it is known."""

    certificate: Certificate | None
    request: bytes
    plan: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A turn in which the words were said, best first; ``excerpt`` is one line around them."""

    chat: str
    title: str
    turn: str
    started_ms: int
    excerpt: str


# --- Money: one row per call to a provider, written before the call -------------------------------
# Amounts are whole billionths of a dollar, so that sums are exact. None is unknown, not nothing.


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call about to be made and the most it can cost."""

    category: str  # main, tool, summarize, recall, title, probe, edit, completion
    model: str
    endpoint: str
    chat: str = ""
    turn: str = ""
    predicted: int | None = None  # prompt tokens
    reserved: int | None = None
    tokenizer: str = ""  # that predicted
    ratio: float = 1.0  # what an estimate was scaled by
    price: Price | None = None  # that applies to it; None is unknown


@dataclass(frozen=True, slots=True)
class Settlement:
    """How the call ended and what it cost."""

    outcome: str
    status: int | None = None  # of HTTP
    usage: Usage | None = None
    cost: int | None = None


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    id: str
    attempt: Attempt
    started_ms: int
    settled_ms: int | None = None
    settlement: Settlement | None = None
    price_since_ms: int | None = None  # when its price was first applied to this model there


@dataclass(frozen=True, slots=True)
class Cap:
    """No more than ``limit`` since ``since_ms``, in one chat or in all."""

    limit: int
    since_ms: int = 0
    chat: str | None = None


@dataclass(frozen=True, slots=True)
class OverCap:
    """The attempt was refused and nothing was written: ``spent`` counts what is still reserved."""

    cap: Cap
    spent: int
    wanted: int


# --- Proposals and notes --------------------------------------------------------------------------

ProposalStatus = Literal["open", "applied", "refused", "undone", "conflict"]


@dataclass(frozen=True, slots=True)
class StoredProposal:
    """``body`` is the proposal as JSON: ops, base states, hunks."""

    id: str
    chat: str
    turn: str
    body: str
    status: ProposalStatus = "open"
    created_ms: int = 0
    decided_ms: int | None = None
    decided_by: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A fact the user or the model asked to remember; ``turn`` is where it came from, if anywhere.

    ``document`` is the path it is about, where Sill noted by itself that a document is used often.
    """

    id: str
    workspace: str
    text: str
    turn: str = ""
    created_ms: int = 0
    updated_ms: int = 0
    document: str = ""
