"""Going through the turns of a chat that its client sends whole every time."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..core.budget import Budget
from ..core.gateway import Moment, Said, put_away
from ..core.messages import Epoch, Message, Sized, Turn
from ..core.plan import Ask
from ..core.request import JsonFormat, ToolSchema
from ..ports import StoredTurn

ToolChoice = Literal["auto", "none", "required"]
REMEMBERED = 4_000  # moments


@dataclass(frozen=True, slots=True)
class Wish:
    """What the client wants beside an answer. ``extra`` goes to the model as it came."""

    max_tokens: int | None = None
    temperature: float | None = None
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: ToolChoice | None = None
    response_format: JsonFormat | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """What a moment was planned as: the epoch, what was put before the question, and how many messages of
    the tool rounds were put away.
    """

    epoch: Epoch
    hidden: tuple[Sized, ...] = ()
    away: int = 0


@dataclass(slots=True)
class Steps:
    """What was planned before; the least recently used goes first."""

    limit: int = REMEMBERED
    _known: OrderedDict[str, Step] = field(default_factory=OrderedDict)

    def get(self, key: str) -> Step | None:
        step = self._known.get(key)
        if step is not None:
            self._known.move_to_end(key)
        return step

    def put(self, key: str, step: Step) -> None:
        self._known[key] = step
        while len(self._known) > self.limit:
            self._known.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Frame:
    """What is the same for every turn of one request; ``key`` names all of it."""

    system: str | None
    sized_system: Sized
    tools: int
    overhead: int
    budget: Budget
    wish: Wish
    key: str


@dataclass(slots=True)
class Walk:
    """How far the turns have been gone through."""

    frame: Frame
    chat: str
    limits: Budget
    turns: list[Turn] = field(default_factory=list)
    stored: list[StoredTurn] = field(default_factory=list)
    epoch: Epoch = field(default_factory=Epoch)
    _places: dict[str, int] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """Where the present epoch begins."""
        return 0 if self.epoch.first is None else self._places[self.epoch.first]

    def ask(self, turn: Said, moment: Moment, before: Step, sizes: Mapping[Message, Sized]) -> Ask:
        return Ask(
            system=self.frame.sized_system,
            question=sizes[turn.question],
            tools=self.frame.tools,
            overhead=self.frame.overhead,
            sent=(*(sizes[one] for one in turn.before), *(before.hidden if moment.rounds else ())),
            rounds=tuple(sizes[one] for one in put_away(moment.rounds, before.away)),
        )

    def add(self, turn: Turn) -> None:
        parent = self.turns[-1].id if self.turns else None
        self._places[turn.id] = len(self.turns)
        self.turns.append(turn)
        self.stored.append(
            StoredTurn(
                id=turn.id,
                chat=self.chat,
                status="complete",
                messages=tuple(sized.message for sized in turn.messages),
                sequence=len(self.turns),
                parent=parent,
            )
        )


@dataclass(slots=True)
class Resent:
    """The turns of the chat whose request is being made: all that recall needs of a store."""

    known: Sequence[StoredTurn] = ()

    async def turns(self, chat: str, limit: int | None = None) -> list[StoredTurn]:
        return list(self.known if limit is None else self.known[-limit:])
