"""A store in memory: what every store promises, in as few lines as can be read."""

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.certificate import Certificate
from ..core.messages import Epoch, Fingerprint, Message
from ..errors import Fenced, TurnInProgress, UsageError
from ..ports import ChatCopy, Closing, History, Opening, SoFar, StoredTurn
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
from ._ledger import MemoryLedger


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass
class _Chat:
    info: ChatInfo
    head: str | None = None  # the finished turn that the next one continues
    turns: list[str] = field(default_factory=list)
    used_before: int = 0  # the open turn
    pins: list[Pin] = field(default_factory=list)


class MemoryStore:
    """Ids count up (``chat-1``, ``turn-1``, …) so that tests can name them."""

    def __init__(self, clock: Callable[[], int] = now_ms) -> None:
        self._clock = clock
        self._chats: dict[str, _Chat] = {}
        self._turns: dict[str, StoredTurn] = {}
        self._requests: dict[str, list[Recorded]] = {}
        self._partials: dict[str, str] = {}
        self._begun: dict[str, int] = {}  # how many messages each turn began with
        self._counts: dict[tuple[str, Fingerprint], int] = {}
        self._ledger = MemoryLedger(clock, lambda: self._id("attempt"))
        self._proposals: dict[str, StoredProposal] = {}
        self._notes: dict[str, Note] = {}
        self._made: Counter[str] = Counter()

    # --- Chats -----------------------------------------------------------------------------------

    async def new_chat(self, workspace: str, title: str = "") -> str:
        id, now = self._id("chat"), self._clock()
        self._chats[id] = _Chat(ChatInfo(id, workspace, title, 0, now, now))
        return id

    async def latest_chat(self, workspace: str) -> str | None:
        infos = (chat.info for chat in reversed(self._chats.values()))
        shown = [info for info in infos if info.workspace == workspace and not info.archived]
        return max(shown, key=lambda info: info.used_ms).id if shown else None

    async def chats(self, workspace: str | None = None) -> list[ChatInfo]:
        infos = [c.info for c in self._chats.values() if workspace in (None, c.info.workspace)]
        infos.reverse()  # of two that were used in the same moment the newer one is first
        return sorted(infos, key=lambda info: (not info.pinned, -info.used_ms))

    async def chat(self, chat: str) -> ChatInfo | None:
        return self._chats[chat].info if chat in self._chats else None

    async def change_chat(
        self,
        chat: str,
        *,
        title: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
    ) -> None:
        info = self._find(chat).info
        self._find(chat).info = replace(
            info,
            title=info.title if title is None else title,
            pinned=info.pinned if pinned is None else pinned,
            archived=info.archived if archived is None else archived,
        )

    async def delete_chat(self, chat: str) -> None:
        self._refuse_if_busy(chat)
        for turn in self._chats.pop(chat).turns:
            del self._turns[turn], self._requests[turn]
        self._proposals = {k: p for k, p in self._proposals.items() if p.chat != chat}

    async def prune(self, unused_since_ms: int) -> list[str]:
        old = [
            id
            for id, chat in self._chats.items()
            if chat.info.used_ms < unused_since_ms
            and not chat.info.pinned
            and not any(self._turns[turn].status == "open" for turn in chat.turns)
        ]
        for id in old:
            await self.delete_chat(id)
        return old

    def _find(self, chat: str) -> _Chat:
        if chat not in self._chats:
            raise UsageError(f"there is no chat {chat}", hint="`sill chats list` shows them")
        return self._chats[chat]

    def _refuse_if_busy(self, chat: str) -> None:
        if any(self._turns[turn].status == "open" for turn in self._find(chat).turns):
            raise TurnInProgress(
                "another turn of this chat is in flight", hint="wait for its answer, or stop it"
            )

    # --- Turns -----------------------------------------------------------------------------------

    async def history(self, chat: str) -> History:
        return self._way_to(self._find(chat).head)

    async def history_at(self, turn: str) -> History:
        if turn not in self._turns:
            raise UsageError(f"there is no turn {turn}")
        return self._way_to(self._turns[turn].parent)

    def _way_to(self, at: str | None) -> History:
        way: list[StoredTurn] = []
        while at is not None:
            way.append(self._turns[at])
            at = way[-1].parent
        way.reverse()
        epoch = way[-1].epoch if way else Epoch()
        earlier = next((n for n, turn in enumerate(way) if turn.id == epoch.first), 0)
        shown = tuple(replace(turn, plan="", request=b"") for turn in way[earlier:])
        return History(shown, epoch, earlier)

    async def begin(self, chat: str, opening: Opening) -> str:
        self._refuse_if_busy(chat)
        found = self._chats[chat]
        parent = found.head
        if opening.instead_of is not None:
            if opening.instead_of not in found.turns:
                raise UsageError(f"the chat has no turn {opening.instead_of}")
            parent = self._turns[opening.instead_of].parent
        now, id = self._clock(), self._id("turn")
        opening = opening.begun_by(id)
        self._turns[id] = StoredTurn(
            id=id,
            chat=chat,
            status="open",
            messages=opening.messages,
            model=opening.model,
            endpoint=opening.endpoint,
            certificate=opening.certificate,
            epoch=opening.epoch,
            plan=opening.plan,
            request=opening.request,
            started_ms=now,
            sequence=len(found.turns) + 1,
            parent=parent,
        )
        self._begun[id] = len(opening.messages)
        self._requests[id] = [Recorded(opening.certificate, opening.request, opening.plan)]
        found.turns.append(id)
        found.used_before = found.info.used_ms
        found.info = replace(found.info, turns=len(found.turns), used_ms=now)
        return id

    async def checkpoint(self, turn: str, partial: str) -> None:
        self._open(turn)
        self._partials[turn] = partial

    async def partial(self, turn: str) -> str:
        is_open = turn in self._turns and self._turns[turn].status == "open"
        known = self._turns[turn].messages if is_open else ()
        before = (message.text for message in known if message.carries and message.is_talk)
        return "\n\n".join(filter(None, (*before, self._partials.get(turn, ""))))

    async def record_request(
        self, turn: str, certificate: Certificate, request: bytes, so_far: SoFar | None = None
    ) -> None:
        found = replace(self._open(turn), request=request)
        if so_far is not None:
            begun = found.messages[: self._begun[turn]]
            if begun + so_far.rounds != found.messages:
                self._partials.pop(turn, None)
            references = so_far.references or found.references
            found = replace(found, messages=begun + so_far.rounds, references=references)
            found = replace(found, plan=so_far.plan or found.plan)
        self._turns[turn] = found
        plan = so_far.plan if so_far is not None else ""
        self._requests[turn].append(Recorded(certificate, request, plan))

    async def finish(self, turn: str, closing: Closing) -> None:
        found = self._open(turn)
        self._turns[turn] = replace(
            found,
            status=closing.status,
            messages=found.messages[: self._begun[turn]] + closing.messages,
            outcome=closing.outcome,
            certificate=closing.certificate or found.certificate,
            usage=closing.usage,
            took_ms=closing.took_ms,
            references=closing.references,
            epoch=closing.epoch or found.epoch,
        )
        self._partials.pop(turn, None)
        if closing.status == "complete":
            self._chats[found.chat].head = turn

    async def discard(self, turn: str) -> None:
        chat = self._chats[self._open(turn).chat]
        del self._turns[turn], self._requests[turn]
        self._partials.pop(turn, None)
        chat.turns.remove(turn)
        chat.info = replace(chat.info, turns=len(chat.turns), used_ms=chat.used_before)

    def interrupt(self, turn: str) -> None:
        """What a store does with an open turn whose process died."""
        text, found = self._partials.pop(turn, ""), self._open(turn)
        said = (Message("assistant", text),) if text else ()
        why = "the program ended before the answer did"
        self._turns[turn] = replace(
            found, status="interrupted", messages=found.messages + said, outcome=why
        )

    def _open(self, turn: str) -> StoredTurn:
        if turn not in self._turns or self._turns[turn].status != "open":
            raise Fenced("this turn is not open here", hint="ask again")
        return self._turns[turn]

    async def keep(self, turn: str) -> bool:
        if turn not in self._turns:
            raise UsageError(f"there is no turn {turn}")
        found = self._turns[turn]
        self._refuse_if_busy(found.chat)
        chat = self._chats[found.chat]
        if found.status not in ("partial", "cancelled", "interrupted") or found.parent != chat.head:
            return False
        chat.head = turn
        return True

    async def branch(self, chat: str, turn: str | None) -> None:
        self._refuse_if_busy(chat)
        if turn is not None and turn not in self._find(chat).turns:
            raise UsageError(f"the chat has no turn {turn}")
        self._find(chat).head = turn

    async def pin(self, chat: str, pin: Pin) -> None:
        found = self._find(chat)
        if pin.turn and pin.turn not in found.turns:
            raise UsageError(f"the chat has no turn {pin.turn}")
        if pin not in found.pins:
            found.pins.append(pin)

    async def unpin(self, chat: str, pin: Pin) -> bool:
        found = self._find(chat)
        was_pinned = pin in found.pins
        found.pins = [one for one in found.pins if one != pin]
        return was_pinned

    async def pins(self, chat: str) -> list[Pin]:
        return list(self._find(chat).pins)

    async def turn(self, turn: str) -> StoredTurn | None:
        return self._turns.get(turn)

    async def turns(self, chat: str, limit: int | None = None) -> list[StoredTurn]:
        found = [replace(self._turns[turn], request=b"") for turn in self._find(chat).turns]
        return found if limit is None else found[len(found) - limit :]

    async def requests(self, turn: str) -> list[Recorded]:
        return list(self._requests.get(turn, ()))

    async def turn_ids(self, beginning: str) -> list[str]:
        return [id for id in reversed(self._turns) if beginning and id.startswith(beginning)][:10]

    async def copy_chat(self, chat: str) -> ChatCopy:
        found = self._find(chat)
        turns = [t for t in await self.turns(chat) if t.status != "open"]
        return ChatCopy(
            replace(found.info, turns=len(turns)),
            found.head,
            tuple(turns),
            {turn.id: tuple(self._requests[turn.id]) for turn in turns},
            tuple(await self.proposals(chat)),
            tuple(await self.attempts(chat=chat)),
            tuple(found.pins),
        )

    async def add_copy(self, copy: ChatCopy) -> None:
        if copy.info.id in self._chats or any(turn.id in self._turns for turn in copy.turns):
            raise UsageError("the chat is here already", hint="delete it first")
        ids = [turn.id for turn in copy.turns]
        self._chats[copy.info.id] = _Chat(copy.info, copy.head, ids, pins=list(copy.pins))
        for turn in copy.turns:
            self._requests[turn.id] = list(copy.requests[turn.id])
            last = self._requests[turn.id][-1:]
            self._turns[turn.id] = replace(turn, request=last[0].request if last else b"")
        self._proposals |= {proposal.id: proposal for proposal in copy.proposals}
        self._ledger.put(copy.attempts)

    async def search(
        self, words: str, workspace: str | None = None, limit: int = 20
    ) -> list[Found]:
        wanted = [(a or b).casefold() for a, b in re.findall(r'"([^"]*)"|(\S+)', words)]
        found = []
        for turn in reversed(self._turns.values()):
            info = self._chats[turn.chat].info
            text = " ".join(m.text for m in turn.messages if m.carries is None or m.is_talk)
            said = all(word in text.casefold() for word in wanted)
            if wanted and said and turn.status != "open" and workspace in (None, info.workspace):
                found.append(Found(turn.chat, info.title, turn.id, turn.started_ms, text[:160]))
        return found[:limit]

    # --- Counts, money, proposals, notes ---------------------------------------------------------

    async def known_counts(
        self, tokenizer: str, fingerprints: Sequence[Fingerprint]
    ) -> dict[Fingerprint, int]:
        wanted = ((f, self._counts.get((tokenizer, f))) for f in fingerprints)
        return {fingerprint: tokens for fingerprint, tokens in wanted if tokens is not None}

    async def remember_counts(self, tokenizer: str, counts: Mapping[Fingerprint, int]) -> None:
        self._counts |= {(tokenizer, fingerprint): n for fingerprint, n in counts.items()}

    async def open_attempt(self, attempt: Attempt, caps: Sequence[Cap] = ()) -> str | OverCap:
        return self._ledger.open(attempt, caps)

    async def spent(self, cap: Cap) -> int:
        return self._ledger.spent(cap)

    async def settle_attempt(self, attempt: str, settlement: Settlement) -> None:
        self._ledger.settle(attempt, settlement)

    async def attempts(
        self, since_ms: int = 0, *, chat: str | None = None, turn: str | None = None
    ) -> list[StoredAttempt]:
        return self._ledger.every(since_ms, chat, turn)

    async def add_proposal(self, proposal: StoredProposal) -> None:
        self._proposals[proposal.id] = replace(proposal, created_ms=self._clock())

    async def decide_proposal(self, proposal: str, status: ProposalStatus, by: str) -> None:
        self._proposals[proposal] = replace(
            self._proposals[proposal], status=status, decided_ms=self._clock(), decided_by=by
        )

    async def proposal(self, proposal: str) -> StoredProposal | None:
        return self._proposals.get(proposal)

    async def proposals(self, chat: str) -> list[StoredProposal]:
        return [proposal for proposal in self._proposals.values() if proposal.chat == chat]

    async def note(self, workspace: str, text: str, turn: str = "") -> str:
        id, now = self._id("note"), self._clock()
        self._notes[id] = Note(id, workspace, text, turn, now, now)
        return id

    async def note_document(self, workspace: str, path: str, text: str) -> bool:
        if any((n.workspace, n.document) == (workspace, path) for n in self._notes.values()):
            return False
        id, now = self._id("note"), self._clock()
        self._notes[id] = Note(id, workspace, text, "", now, now, path)
        return True

    async def change_note(self, note: str, text: str) -> None:
        self._notes[note] = replace(self._notes[note], text=text, updated_ms=self._clock())

    async def forget_note(self, note: str) -> None:
        if note in self._notes and self._notes[note].document:
            self._notes[note] = replace(self._notes[note], text="")
        else:
            self._notes.pop(note, None)

    async def notes(self, workspace: str) -> list[Note]:
        here = (note for note in self._notes.values() if note.workspace == workspace)
        return [note for note in here if note.text or not note.document]

    async def referred_to(self, workspace: str) -> list[tuple[str, str]]:
        here = [turn for turn in self._turns.values() if turn.status == "complete"]
        infos = {chat: one.info for chat, one in self._chats.items()}
        return [(t.chat, t.references) for t in here if infos[t.chat].workspace == workspace]

    def _id(self, kind: str) -> str:
        self._made[kind] += 1
        return f"{kind}-{self._made[kind]}"

    async def compact(self) -> None: ...

    async def close(self) -> None: ...
