"""An agent at work: every step is a turn of a chat of its own, under the same budgets and limits as any other.

agent = await begin(app, Errand("Tidy the recipes"))        # or: await take_up(app)
while isinstance(order := agent.following(), Go):
    async for event in agent.step(order, stop): ...
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace

from ..core.agent import (
    Go,
    Halt,
    Limits,
    Step,
    StepOutcome,
    following,
    limits_in,
    resumed,
    task_in,
)
from ..core.cost import DOLLAR
from ..core.messages import Status, ToolCalls
from ..core.titles import title_of
from ..core.tools import brief
from ..engine.events import Event, Finished, Refused
from ..engine.money import held
from ..errors import LimitReached, UsageError
from ..ports import StoredTurn
from ..records import StoredProposal
from .build import App
from .titles import question_in


@dataclass(frozen=True, slots=True)
class Errand:
    """A task, the files it is about, and how far it may go."""

    task: str
    limits: Limits = field(default_factory=Limits)
    files: tuple[str, ...] = ()


@dataclass(slots=True)
class Agent:
    """One run. ``chat`` None: no step was made yet."""

    app: App
    errand: Errand
    chat: str | None = None
    steps: list[Step] = field(default_factory=list)
    cost: int | None = 0  # in billionths of a dollar; None is unknown
    is_resumed: bool = False

    def following(self) -> Go | Halt:
        """What comes next. A run that was interrupted goes on once it is taken up again."""
        again = resumed(self.steps, self.errand.limits) if self.is_resumed else None
        return again or following(self.errand.task, self.steps, self.errand.limits)

    async def step(
        self, order: Go, stop: asyncio.Event | None = None
    ) -> AsyncGenerator[Event, None]:
        """One turn, as it happens; afterwards it is one of ``steps``."""
        self.is_resumed = False
        gathered = await self.app.gather(order.text, self.errand.files)
        with _capped(self.app, self.errand.limits):
            events = self.app.ask(self.chat, gathered.question, stop)
            async with aclosing(events) as stream:
                async for event in stream:
                    if isinstance(event, Finished | Refused):
                        self.steps.append(await self._taken(event))
                    yield event

    async def _taken(self, event: Finished | Refused) -> Step:
        known = self.cost is not None and event.cost is not None
        self.cost = (self.cost or 0) + (event.cost or 0) if known else None
        if isinstance(event, Refused):
            return Step("", outcome="limit" if event.money else "failed", reason=event.reason)
        if self.chat is None:
            await self.app.store.change_chat(event.chat, title=title_of(self.errand.task))
        self.chat = event.chat
        turn = await self.app.store.turn(event.turn)
        assert turn is not None
        outcome: StepOutcome = event.outcome
        if isinstance(event.error, LimitReached):
            outcome = "limit"
        return await _step(self.app, turn, outcome, event.reason)

    async def proposals(self) -> list[StoredProposal]:
        """What the run has proposed and nobody has decided on."""
        listed = await self.app.store.proposals(self.chat) if self.chat is not None else []
        return [one for one in listed if one.status == "open"]


async def begin(app: App, errand: Errand) -> Agent:
    """A new run; ``UsageError`` where the model is offered no tools, without which it can do nothing."""
    if not errand.task.strip():
        raise UsageError("there is no task", hint='sill agent "…"')
    _check(app)
    return Agent(app, errand)


async def take_up(app: App, limits: Limits | None = None) -> Agent:
    """The folder's last run as it was left; ``limits`` are new ones for it."""
    _check(app)
    store = app.store
    chats = sorted(await store.chats(str(app.folder)), key=lambda chat: -chat.used_ms)
    for chat in chats:
        turns = [turn for turn in await store.turns(chat.id) if limits_in(question_in(turn))]
        task = task_in(question_in(turns[0])) if turns else None
        if task is None:
            continue
        before = limits_in(question_in(turns[-1])) or Limits()
        steps = [await _step(app, turn, _outcome(turn.status), turn.outcome) for turn in turns]
        rows = await store.attempts(chat=chat.id)
        errand = Errand(task, limits or before)
        return Agent(app, errand, chat.id, steps, held(rows), is_resumed=True)
    raise UsageError("there is no run of an agent in this folder", hint='begin one: sill agent "…"')


def _check(app: App) -> None:
    if app.chat.toolkit is None:
        hint = 'set tools = "true", or choose a model that calls tools'
        raise UsageError(
            f"{app.model_name} is offered no tools, and an agent needs them", hint=hint
        )


async def _step(app: App, turn: StoredTurn, outcome: StepOutcome, reason: str) -> Step:
    calls = [
        f"{call.name} {brief(call)}"
        for message in turn.messages
        if isinstance(message.carries, ToolCalls)
        for call in message.carries.calls
    ]
    proposed = [one for one in await app.store.proposals(turn.chat) if one.turn == turn.id]
    return Step(_answer(turn), tuple(calls), len(proposed), outcome, reason)


def _answer(turn: StoredTurn) -> str:
    spoken: Sequence[str] = [
        message.text
        for message in turn.messages
        if message.role == "assistant" and not message.hidden and message.text
    ]
    return "\n\n".join(spoken)


def _outcome(status: Status) -> StepOutcome:
    match status:
        case "complete" | "partial" | "failed":
            return status
        case _:
            return "cancelled"


@contextmanager
def _capped(app: App, limits: Limits) -> Iterator[None]:
    """The run's limit of money as one of its chat: what could cross it is not sent."""
    till = app.chat.till
    if limits.dollars is None or till is None:
        yield
        return
    purse, before = till.purse, till.purse.limits
    most = round(limits.dollars * DOLLAR)
    purse.limits = replace(before, chat=most if before.chat is None else min(most, before.chat))
    try:
        yield
    finally:
        purse.limits = before
