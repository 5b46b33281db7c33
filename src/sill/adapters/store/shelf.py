"""Everything a store keeps beside the turn in flight."""

import contextlib
import secrets
from collections.abc import Mapping, Sequence

from ...core.messages import Fingerprint
from ...errors import StoreError, TurnInProgress, UsageError
from ...ports import ChatCopy
from ...records import (
    Attempt,
    Cap,
    ChatInfo,
    Found,
    Note,
    OverCap,
    Pin,
    ProposalStatus,
    Settlement,
    StoredAttempt,
    StoredProposal,
)
from . import chats, counts, desk, finding, leases, ledger, transfer
from . import words as index
from .database import Database
from .leases import LeaseTimes


def new_id() -> str:
    """128 random bits: never a permission, never guessed either."""
    return secrets.token_hex(16)


class Shelf:
    def __init__(self, database: Database, times: LeaseTimes | None = None) -> None:
        self._database = database
        self._times = times or LeaseTimes()
        self._holder = leases.holder_name(new_id())

    @property
    def database(self) -> Database:
        return self._database

    @property
    def owner(self) -> str:
        return self._database.owner

    async def compact(self) -> None:
        """Give room that is no longer used back to the disk."""
        await self._database.compact()

    # --- Chats -----------------------------------------------------------------------------------

    async def new_chat(self, workspace: str, title: str = "") -> str:
        id = new_id()
        await self._database.write(lambda t: chats.create(t, id, workspace, title))
        return id

    async def latest_chat(self, workspace: str) -> str | None:
        return await self._database.read(lambda t: chats.latest(t, workspace))

    async def chats(self, workspace: str | None = None) -> list[ChatInfo]:
        return await self._database.read(lambda t: chats.every(t, workspace))

    async def chat(self, chat: str) -> ChatInfo | None:
        return await self._database.read(lambda t: chats.one(t, chat))

    async def change_chat(
        self,
        chat: str,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
    ) -> None:
        await self._database.write(lambda t: chats.change(t, chat, title, pinned, archived))

    async def branch(self, chat: str, turn: str | None) -> None:
        await self._database.write(lambda t: chats.branch(t, chat, turn, self._holder, self._times))

    async def pin(self, chat: str, pin: Pin) -> None:
        await self._database.write(lambda t: chats.pin(t, chat, pin))

    async def unpin(self, chat: str, pin: Pin) -> bool:
        return await self._database.write(lambda t: chats.unpin(t, chat, pin))

    async def pins(self, chat: str) -> list[Pin]:
        return await self._database.read(lambda t: chats.pins(t, chat))

    async def delete_chat(self, chat: str) -> None:
        await self._database.write(lambda t: chats.delete(t, chat, self._holder, self._times))

    async def prune(self, unused_since_ms: int) -> list[str]:
        old = await self._database.read(lambda t: chats.unused(t, unused_since_ms))
        deleted = []
        for chat in old:
            # Somebody may have asked something in it, or deleted it, in between.
            with contextlib.suppress(TurnInProgress, UsageError):
                await self.delete_chat(chat)
                deleted.append(chat)
        return deleted

    async def search(
        self, words: str, workspace: str | None = None, limit: int = 20
    ) -> list[Found]:
        # A database that cannot be written is searched without the index where that is needed.
        with contextlib.suppress(StoreError):
            while await self._database.read(index.are_waiting):
                await self._database.write(index.catch_up, lasting=False)
        return await self._database.read(lambda t: finding.search(t, words, workspace, limit))

    async def copy_chat(self, chat: str) -> ChatCopy:
        return await self._database.read(lambda t: transfer.copy(t, chat))

    async def add_copy(self, copy: ChatCopy) -> None:
        await self._database.write(lambda t: transfer.add(t, copy))

    # --- Money -----------------------------------------------------------------------------------

    async def open_attempt(self, attempt: Attempt, caps: Sequence[Cap] = ()) -> str | OverCap:
        id = new_id()
        # What has gone against a cap is a sum over many rows.
        over = await self._database.write(
            lambda t: ledger.begin(t, id, attempt, caps), short=not caps, loosely=True
        )
        return over or id

    async def spent(self, cap: Cap) -> int:
        return await self._database.read(lambda t: ledger.spent(t, cap))

    async def settle_attempt(self, attempt: str, settlement: Settlement) -> None:
        await self._database.write(
            lambda t: ledger.settle(t, attempt, settlement),
            lasting=False,
            short=True,
            loosely=True,
        )

    async def attempts(
        self, since_ms: int = 0, *, chat: str | None = None, turn: str | None = None
    ) -> list[StoredAttempt]:
        return await self._database.read(lambda t: ledger.every(t, since_ms, chat, turn))

    # --- Proposals and notes ---------------------------------------------------------------------

    async def add_proposal(self, proposal: StoredProposal) -> None:
        await self._database.write(lambda t: desk.add_proposal(t, proposal))

    async def decide_proposal(self, proposal: str, status: ProposalStatus, by: str) -> None:
        await self._database.write(lambda t: desk.decide_proposal(t, proposal, status, by))

    async def proposal(self, proposal: str) -> StoredProposal | None:
        return await self._database.read(lambda t: desk.proposal(t, proposal))

    async def proposals(self, chat: str) -> list[StoredProposal]:
        return await self._database.read(lambda t: desk.proposals(t, chat))

    async def note(self, workspace: str, text: str, turn: str = "") -> str:
        id = new_id()
        await self._database.write(lambda t: desk.add_note(t, id, workspace, text, turn))
        return id

    async def note_document(self, workspace: str, path: str, text: str) -> bool:
        id = new_id()
        return await self._database.write(
            lambda t: desk.note_document(t, id, workspace, path, text)
        )

    async def change_note(self, note: str, text: str) -> None:
        await self._database.write(lambda t: desk.change_note(t, note, text))

    async def forget_note(self, note: str) -> None:
        await self._database.write(lambda t: desk.forget_note(t, note))

    async def notes(self, workspace: str) -> list[Note]:
        return await self._database.read(lambda t: desk.notes(t, workspace))

    async def referred_to(self, workspace: str) -> list[tuple[str, str]]:
        return await self._database.read(lambda t: desk.referred_to(t, workspace))

    # --- Counts ----------------------------------------------------------------------------------

    async def known_counts(
        self, tokenizer: str, fingerprints: Sequence[Fingerprint]
    ) -> dict[Fingerprint, int]:
        return await self._database.read(lambda t: counts.known(t, tokenizer, fingerprints))

    async def remember_counts(self, tokenizer: str, counted: Mapping[Fingerprint, int]) -> None:
        await self._database.write(
            lambda t: counts.remember(t, tokenizer, counted), lasting=False, loosely=True
        )
