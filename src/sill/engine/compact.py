"""What goes on with a chat when turns leave its window: a gist of them, the file trail, decisions, pins.

The message that carries it is stored with the turn that it was sent with and stays as it is until the next
eviction. What it stands for stays in the store.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ..core import compact, envelopes, trail
from ..core.edits import Rejected
from ..core.messages import Epoch, Fingerprint, Message, Sized, Summary, Turn, fingerprint
from ..core.proposal import preview
from ..core.trail import Touch
from ..ports import History, Store
from ..records import StoredProposal
from .past import Shelf
from .proposals import readable
from .sizing import Sizer

SummaryBy = Literal["extract", "model", "off"]
Write = Callable[[str, Sequence[str], int], Awaitable[str]]
"""A model's summary of an older one and what was said since, in so many tokens; empty if there is none."""

ENVELOPE = 60  # tokens of the message around its sections, about
MOST_DECISIONS = 12
SENTENCE_TOKENS = 12  # of the shortest sentence that could be in a gist


@dataclass(slots=True)
class Carrying:
    """How what leaves is carried on. Without ``write`` no model is asked."""

    store: Store
    by: SummaryBy = "extract"
    write: Write | None = None
    _pins: dict[str, Message] = field(default_factory=dict)

    async def pins(self, chat: str, sizer: Sizer) -> tuple[Sized, ...]:
        """The chat's pinned turns as messages, in the order in which they were pinned."""
        messages: list[Message] = []
        for pin in await self.store.pins(chat):
            if pin.turn and pin.turn not in self._pins:
                turn = await self.store.turn(pin.turn)
                said = [] if turn is None else [m for m in turn.messages if m.is_talk]
                number = turn.sequence if turn else 0
                lines = (f"{number} {m.role}: {m.text}" for m in said)
                self._pins[pin.turn] = envelopes.pinned(pin.turn, "\n".join(lines))
            if pin.turn:
                messages.append(self._pins[pin.turn])
        return tuple(await sizer.messages(messages)) if messages else ()


@dataclass(frozen=True, slots=True)
class Gone:
    """What a window does not show of a chat: all of the shelf but the turns ``inside``.

    Of those, the ``pinned`` ones are shown word for word elsewhere.
    """

    chat: str
    shelf: Shelf
    inside: frozenset[str]
    pinned: frozenset[str] = frozenset()
    touches: tuple[Touch, ...] = ()  # what the window does not say any more of files it has left

    @property
    def shown(self) -> frozenset[str]:
        return self.inside | self.pinned

    @property
    def turns(self) -> list[str]:
        return [id for id in self.shelf.turns if id not in self.inside]


@dataclass(frozen=True, slots=True)
class Rooms:
    """Tokens for each part of a summary; ``last`` says that not even the last request is in the window."""

    most: int
    gist: int
    trail: int
    last: bool

    def times(self, part: float) -> "Rooms":
        return replace(self, gist=int(self.gist * part), trail=int(self.trail * part))


def is_due(gone: Gone, turns: Sequence[Turn], epoch: Epoch) -> bool:
    """Whether something has left the window that no message in it stands for."""
    outside = gone.turns
    if not outside:
        return False
    for turn in turns:
        for position, sized in enumerate(turn.messages):
            carries = sized.message.carries
            is_shown = (turn.id, position) not in epoch.dropped and turn.id in gone.inside
            if is_shown and isinstance(carries, Summary) and carries.until == outside[-1]:
                return False
    return True


async def summed_up(
    carrying: Carrying, gone: Gone, history: History, sizer: Sizer, rooms: Rooms
) -> Sized | None:
    """The message that stands for what is gone, of at most ``rooms.most`` tokens; None if it has nothing to say.

    Where room is short the gist gives way, then the older files of the trail are named without their states.
    """
    outside = gone.turns
    if carrying.by == "off" or not outside or rooms.most <= ENVELOPE:
        return None
    proposals = await carrying.store.proposals(gone.chat)
    files = _Files(gone, [one for one in proposals if one.turn in set(outside)])
    covered = Summary(outside[-1], len(outside))
    last = gone.shelf.requests[outside[-1]] if rooms.last else ""
    for part in (1.0, 0.75, 0.5, 0.25, 0.0):
        scaled = rooms.times(part)
        sections = {
            "last_request": last,
            "files": await files.fitted(sizer, scaled.trail),
            "decisions": files.decisions if part else "",
            "summary": await _gist(carrying, gone, history, sizer, scaled.gist),
        }
        if not any(sections.values()):
            return None
        (sized,) = await sizer.messages([envelopes.summary(covered, sections)])
        if sized.tokens <= rooms.most:
            return sized
    return None


# --- The gist -------------------------------------------------------------------------------------


async def _gist(carrying: Carrying, gone: Gone, history: History, sizer: Sizer, room: int) -> str:
    if room < compact.LEAST // 2:
        return ""
    if carrying.by == "model":
        written = await _written(carrying, gone, history, room)
        if written:
            tokens = (await sizer.count([written])).tokens[0]
            return compact.shortened(written, tokens, room)
    sentences = gone.shelf.gist(gone.shown, room // SENTENCE_TOKENS)
    counts = await sizer.count([_encoded(one.line) for one in sentences])
    return compact.fit(sentences, counts.tokens, room)


async def _written(carrying: Carrying, gone: Gone, history: History, room: int) -> str:
    """The model's words, asked for once for the same turns."""
    outside = gone.turns
    known = gone.shelf.written.get(outside[-1])
    if known is None and carrying.write is not None:
        before, until = _last_summary(history)
        covered = outside.index(until) + 1 if until in outside else 0
        fresh = set(outside[covered:])
        said = [
            f"{one.number} {one.speaker}: {one.text}"
            for one in gone.shelf.memory.said
            if one.turn in fresh
        ]
        known = await carrying.write(before if covered else "", said, room)
        if known:
            gone.shelf.written[outside[-1]] = known
    return known or ""


def _last_summary(history: History) -> tuple[str, str]:
    """What the latest summary of the chat says, and the last turn it stands for."""
    for turn in reversed(history.turns):
        for message in turn.messages:
            if isinstance(message.carries, Summary):
                return str(envelopes.read(message).get("summary", "")), message.carries.until
    return "", ""


# --- The trail ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Files:
    """What happened to files and proposals in turns that are gone."""

    gone: Gone
    proposals: Sequence[StoredProposal]

    async def fitted(self, sizer: Sizer, room: int) -> str:
        steps = trail.trail([*self._touches(), *self._changes()])
        if not steps or not room:
            return ""
        counts = await sizer.count([_encoded(step.line) for step in steps])
        return trail.fitted(steps, counts.tokens, room)

    @property
    def decisions(self) -> str:
        """One line for each proposal that was decided, the latest ones; how many before."""
        # One that was taken in part is told of by its part.
        replaced = {kept.of for one in self.proposals if (kept := readable(one.body)) is not None}
        decided = [p for p in self.proposals if p.status != "open" and p.id not in replaced]
        shown = [
            f"{self.gone.shelf.turns[one.turn]} edits to {', '.join(self._changed(one)) or '?'} {one.status}"
            for one in decided[-MOST_DECISIONS:]
        ]
        over = len(decided) - len(shown)
        return "\n".join([*([f"{over:,} earlier ones"] if over else []), *shown])

    def _touches(self) -> list[Touch]:
        outside = (t for turn, t in self.gone.shelf.touches if turn not in self.gone.inside)
        return [*outside, *self.gone.touches]

    def _changes(self) -> list[Touch]:
        return [
            Touch(path, "changed" if state else "deleted", self.gone.shelf.turns[one.turn], state)
            for one in self.proposals
            if one.status == "applied"
            for path, state in self._changed(one).items()
        ]

    def _changed(self, stored: StoredProposal) -> dict[str, Fingerprint | None]:
        """The files of a proposal and the states it leaves them in; none if it cannot be read."""
        kept = readable(stored.body)
        shown = preview(kept.proposal) if kept is not None else None
        if shown is None or isinstance(shown, Rejected):
            return {}
        return {
            file.path: None if file.change.after is None else fingerprint(file.change.after)
            for file in shown.files
        }


def _encoded(line: str) -> str:
    """The line as it stands in the message's JSON."""
    return json.dumps(line + "\n", ensure_ascii=False)[1:-1]
