"""A turn's events on their way out: from the task that runs it, or from the store when that is gone."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import assert_never

from ..app.running import Failed, Interrupted, Mark, Running, Told
from ..app.service import Desk
from ..core.plan import Plan
from ..engine.events import Delta, Finished, Notice, Refused, Started, Thought, ToolUsed
from ..engine.money import paid
from ..ports import StoredTurn
from . import convert
from .schemas.common import Counted
from .schemas.events import (
    DeltaEvent,
    FinishedEvent,
    NoticeEvent,
    RefusedEvent,
    StartedEvent,
    ThoughtEvent,
    ToolEvent,
)
from .stream import sse

LOOK_SECONDS = 0.3  # how often the store is asked about a turn that runs elsewhere

Wired = (
    StartedEvent
    | DeltaEvent
    | ThoughtEvent
    | NoticeEvent
    | ToolEvent
    | FinishedEvent
    | RefusedEvent
)


async def followed(desk: Desk, running: Running, mark: Mark) -> AsyncGenerator[bytes, None]:
    """What the running turn tells after ``mark``."""
    async with aclosing(running.follow(mark)) as marked:
        async for seen, event in marked:
            yield _encoded(await _wired(desk, running, event), seen)
            del seen, event  # who waits for long holds nothing


def _encoded(body: Wired, mark: Mark) -> bytes:
    return sse(body.kind, body, str(mark))


async def _wired(desk: Desk, running: Running, event: Told) -> Wired:
    match event:
        case Finished():
            return await _finished(desk, event, event.plan or running.plan)
        case Interrupted(finished=finished):
            cut = await _finished(desk, finished, finished.plan or running.plan)
            return cut.model_copy(update={"outcome": "interrupted"})
        case Failed(error=error):
            return FinishedEvent(
                chat=running.chat,
                turn=running.ids[-1] if running.ids else "",
                outcome="failed",
                reason=str(error),
                text=running.text,
            )
        case _:
            return wired(event)


def wired(event: Started | Delta | Thought | Notice | ToolUsed | Refused) -> Wired:
    match event:
        case Started(chat=chat, turn=turn, plan=plan, certificate=certificate):
            counted = convert.counted(certificate)
            assert counted is not None
            return StartedEvent(
                chat=chat, turn=turn, certificate=counted, plan=convert.plan_view(plan)
            )
        case Delta(text=text, tokens=tokens):
            return DeltaEvent(text=text, tokens=tokens)
        case Thought(text=text):
            return ThoughtEvent(text=text)
        case Notice(text=text, level=level):
            return NoticeEvent(text=text, level=level)
        case ToolUsed():
            return ToolEvent(
                name=event.name,
                arguments=event.arguments,
                outcome=event.outcome,
                tokens=event.tokens,
                references=[convert.reference(one) for one in event.references],
            )
        case Refused():
            return RefusedEvent(
                reason=event.reason,
                needed=event.needed,
                available=event.available,
                over_limit=event.money is not None,
                cost=convert.dollars(event.cost),
            )
        case never:
            assert_never(never)


async def _finished(desk: Desk, event: Finished, plan: Plan | None) -> FinishedEvent:
    return FinishedEvent(
        chat=event.chat,
        turn=event.turn,
        outcome=event.outcome,
        reason=event.reason,
        text=event.text,
        model=event.model,
        endpoint=event.endpoint,
        certificate=convert.counted(event.certificate),
        usage=convert.used(event.usage),
        cost=convert.dollars(event.cost),
        took_ms=event.took_ms,
        references=[convert.reference(one) for one in event.references],
        proposals=await proposals_of(desk, event.chat, event.turn),
        reply_tokens=event.reply_tokens,
        plan=None if plan is None else convert.plan_view(plan),
    )


async def proposals_of(desk: Desk, chat: str, turn: str) -> list[str]:
    return [one.id for one in await desk.store.proposals(chat) if one.turn == turn]


# --- From the store -------------------------------------------------------------------------------


async def stored(desk: Desk, turn: StoredTurn, mark: Mark) -> AsyncGenerator[bytes, None]:
    """The same of a turn that runs in another process, or ran in one that is gone."""
    plan, certificate = convert.stored_plan(turn.plan), convert.counted(turn.certificate)
    if mark.others == 0 and plan is not None and certificate is not None:
        mark = Mark(mark.text, 1)
        started = _unbilled(certificate)
        body = StartedEvent(chat=turn.chat, turn=turn.id, certificate=started, plan=plan)
        yield sse(body.kind, body, str(mark))
    found: StoredTurn | None = turn
    while found is not None and found.status == "open":
        text = await desk.store.partial(turn.id)
        if len(text) > mark.text:
            delta = DeltaEvent(text=text[mark.text :])
            mark = Mark(len(text), mark.others)
            yield sse(delta.kind, delta, str(mark))
        if desk.turns.is_closing:
            return  # the turn goes on elsewhere, and so can its reader
        await asyncio.sleep(LOOK_SECONDS)
        found = await desk.store.turn(turn.id)
    if found is None:
        taken_back = RefusedEvent(reason="the question was taken back", needed=0, available=0)
        yield sse(taken_back.kind, taken_back, str(Mark(mark.text, mark.others + 1)))
        return
    text = convert.answer_of(found)
    if len(text) > mark.text:
        delta = DeltaEvent(text=text[mark.text :])
        mark = Mark(len(text), mark.others)
        yield sse(delta.kind, delta, str(mark))
    attempts = await desk.store.attempts(turn=found.id)
    ended = FinishedEvent(
        chat=found.chat,
        turn=found.id,
        outcome=found.status,
        reason=found.outcome,
        text=text,
        model=found.model,
        endpoint=found.endpoint,
        certificate=convert.counted(found.certificate),
        usage=convert.used(found.usage),
        cost=convert.dollars(paid(attempts)),
        took_ms=found.took_ms,
        references=convert.stored_references(found.references),
        proposals=await proposals_of(desk, found.chat, found.id),
        reply_tokens=found.usage.completion if found.usage else None,
        plan=convert.stored_plan(found.plan),
    )
    yield sse(ended.kind, ended, str(Mark(mark.text, mark.others + 1)))


def _unbilled(certificate: Counted) -> Counted:
    """As it was when the request left."""
    return certificate.model_copy(update={"actual": None})
