"""Where chats are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..core.certificate import Certificate, Usage
from ..core.messages import Epoch, Fingerprint, Message, Status
from ..records import (
    Attempt,
    Cap,
    ChatInfo,
    Found,
    Note,
    OverCap,
    Pin,
    ProposalStatus,
    Recorded,
    Settlement,
    StoredAttempt,
    StoredProposal,
)


@dataclass(frozen=True, slots=True)
class StoredTurn:
    id: str
    chat: str
    status: Status
    messages: tuple[Message, ...]
    model: str = ""
    endpoint: str = ""
    outcome: str = ""
    certificate: Certificate | None = None
    usage: Usage | None = None
    epoch: Epoch = field(default_factory=Epoch)
    plan: str = ""  # the plan's items as JSON, for people who ask what was sent and why
    request: bytes = b""  # the exact body of the last request; only where it was asked for
    started_ms: int = 0
    took_ms: int | None = None
    references: str = ""  # what the reply refers to, as JSON
    sequence: int = 0  # from 1, in the order in which the chat's turns were begun
    parent: str | None = None  # the turn it continues


@dataclass(frozen=True, slots=True)
class History:
    """The finished turns a plan can use: those of the present epoch, oldest first."""

    turns: tuple[StoredTurn, ...]
    epoch: Epoch
    earlier: int = 0  # turns that left the window before this epoch


@dataclass(frozen=True, slots=True)
class Opening:
    """Everything that is written before the model is called, in one transaction."""

    messages: tuple[Message, ...]  # hidden context that is sent, then the question
    model: str
    endpoint: str
    certificate: Certificate
    epoch: Epoch
    plan: str
    request: bytes
    instead_of: str | None = (
        None  # the turn that it stands beside; else it continues the chat's last one
    )

    def begun_by(self, turn: str) -> "Opening":
        """With this turn's own id where a new epoch keeps no earlier one."""
        if self.epoch.number == 0 or self.epoch.first is not None:
            return self
        return replace(self, epoch=replace(self.epoch, first=turn))


@dataclass(frozen=True, slots=True)
class SoFar:
    """The tool rounds of an open turn, what they refer to as JSON, and the plan of the request they are sent with."""

    rounds: tuple[Message, ...] = ()
    references: str = ""
    plan: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    """Everything that is written after the model has spoken, in one transaction."""

    status: Status
    messages: tuple[Message, ...]  # tool rounds and the reply, as far as they came
    outcome: str = ""
    certificate: Certificate | None = None
    usage: Usage | None = None
    took_ms: int = 0
    references: str = ""  # what the reply refers to, as JSON
    epoch: Epoch | None = None  # that the last request left, where tool rounds changed it


@dataclass(frozen=True, slots=True)
class ChatCopy:
    """A chat with everything that belongs to it, to be taken elsewhere. Open turns are not in it."""

    info: ChatInfo
    head: str | None  # the turn that the next one continues
    turns: tuple[StoredTurn, ...]  # without their requests
    requests: Mapping[str, tuple[Recorded, ...]]  # by turn
    proposals: tuple[StoredProposal, ...] = ()
    attempts: tuple[StoredAttempt, ...] = ()
    pins: tuple[Pin, ...] = ()


class Store(Protocol):
    """Keeps chats. Every write is one transaction; what ``begin`` and ``finish`` returned from is never lost."""

    async def new_chat(self, workspace: str, title: str = "") -> str: ...

    async def latest_chat(self, workspace: str) -> str | None: ...

    async def history(self, chat: str) -> History:
        """Complete turns (and partial ones the user kept) from the present epoch's first turn on.

        Without their plans and requests, which no plan can use.
        """
        ...

    async def history_at(self, turn: str) -> History:
        """The history that this turn was planned from."""
        ...

    async def begin(self, chat: str, opening: Opening) -> str:
        """The new open turn's id. ``TurnInProgress`` if the chat has an open turn; nothing is written then.

        Instead of another turn it continues what that one continued; the chat goes on from it once it is complete.
        """
        ...

    async def checkpoint(self, turn: str, partial: str) -> None:
        """Keep what has arrived since the last tool round, should the process die.

        May be called with every piece.
        """
        ...

    async def record_request(
        self, turn: str, certificate: Certificate, request: bytes, so_far: SoFar | None = None
    ) -> None:
        """A further request of the same turn, and what came before it, which outlives the process.

        ``so_far`` stands for whatever was kept of the turn since it was begun.
        """
        ...

    async def finish(self, turn: str, closing: Closing) -> None:
        """``Fenced`` if the turn is no longer open."""
        ...

    async def discard(self, turn: str) -> None:
        """Take the open turn back with all it wrote, as if it had never been begun; the ledger stays.

        ``Fenced`` if it is no longer open.
        """
        ...

    async def turn(self, turn: str) -> StoredTurn | None:
        """Any turn, with the exact request that was sent."""
        ...

    async def turns(self, chat: str, limit: int | None = None) -> list[StoredTurn]:
        """The chat's turns of every status and branch, oldest first; with ``limit`` the last ones."""
        ...

    async def chats(self, workspace: str | None = None) -> list[ChatInfo]:
        """All chats, pinned ones first, then the last used; archived ones too."""
        ...

    async def chat(self, chat: str) -> ChatInfo | None: ...

    async def change_chat(
        self,
        chat: str,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
    ) -> None:
        """What is given is changed."""
        ...

    async def delete_chat(self, chat: str) -> None:
        """The chat and every text that no other chat uses. ``TurnInProgress`` while a turn is in flight."""
        ...

    async def prune(self, unused_since_ms: int) -> list[str]:
        """Delete the chats nobody used since then; the ids of those deleted. Pinned ones stay."""
        ...

    async def compact(self) -> None:
        """Give room that is no longer used back, and with it the last traces of what was deleted."""
        ...

    async def search(
        self, words: str, workspace: str | None = None, limit: int = 20
    ) -> list[Found]:
        """Finished turns in which all the words were said; words in double quotes stand together."""
        ...

    async def turn_ids(self, beginning: str) -> list[str]:
        """The ids of turns that begin so: the newest ten."""
        ...

    async def copy_chat(self, chat: str) -> ChatCopy: ...

    async def add_copy(self, copy: ChatCopy) -> None:
        """Store a copied chat as it was. ``UsageError`` if it, or a turn of it, is here already."""
        ...

    async def keep(self, turn: str) -> bool:
        """Count a partial, cancelled or interrupted turn as said, if it is still the chat's last.

        ``TurnInProgress`` while a turn is in flight.
        """
        ...

    async def branch(self, chat: str, turn: str | None) -> None:
        """Let the next turn continue this one (None: begin anew). Nothing is lost."""
        ...

    async def pin(self, chat: str, pin: Pin) -> None:
        """Keep it in the chat's window through evictions. ``UsageError`` for a turn that is not the chat's."""
        ...

    async def unpin(self, chat: str, pin: Pin) -> bool:
        """Whether it was pinned."""
        ...

    async def pins(self, chat: str) -> list[Pin]:
        """In the order in which they were pinned."""
        ...

    async def partial(self, turn: str) -> str:
        """What is kept of an open turn's answer: its words before tool rounds and since, a blank line apart."""
        ...

    async def requests(self, turn: str) -> list[Recorded]:
        """Every request of the turn, in order."""
        ...

    async def open_attempt(self, attempt: Attempt, caps: Sequence[Cap] = ()) -> str | OverCap:
        """The attempt's id, its cost reserved; or the first cap it could cross, and nothing written."""
        ...

    async def spent(self, cap: Cap) -> int:
        """What has gone against the cap: what was paid, or reserved where that is open or unknown."""
        ...

    async def settle_attempt(self, attempt: str, settlement: Settlement) -> None: ...

    async def attempts(
        self, since_ms: int = 0, *, chat: str | None = None, turn: str | None = None
    ) -> list[StoredAttempt]:
        """The ledger, oldest first."""
        ...

    async def add_proposal(self, proposal: StoredProposal) -> None:
        """On the disk when this returns. The store sets the time."""
        ...

    async def decide_proposal(self, proposal: str, status: ProposalStatus, by: str) -> None: ...

    async def proposal(self, proposal: str) -> StoredProposal | None: ...

    async def proposals(self, chat: str) -> list[StoredProposal]: ...

    async def note(self, workspace: str, text: str, turn: str = "") -> str:
        """Remember; the note's id."""
        ...

    async def note_document(self, workspace: str, path: str, text: str) -> bool:
        """Remember this of a document; False if something is, or was and has been forgotten."""
        ...

    async def change_note(self, note: str, text: str) -> None: ...

    async def forget_note(self, note: str) -> None:
        """What was noted of a document is not noted again by itself."""
        ...

    async def notes(self, workspace: str) -> list[Note]:
        """Oldest first."""
        ...

    async def referred_to(self, workspace: str) -> list[tuple[str, str]]:
        """Of every complete turn of the workspace its chat and its references as they were stored."""
        ...

    async def known_counts(
        self, tokenizer: str, fingerprints: Sequence[Fingerprint]
    ) -> dict[Fingerprint, int]: ...

    async def remember_counts(self, tokenizer: str, counts: Mapping[Fingerprint, int]) -> None: ...

    async def close(self) -> None: ...
