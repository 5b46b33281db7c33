"""One chat turn: read, size, plan, write, call the model, write."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import assert_never

from ..core.messages import Epoch, Message, Status
from ..core.request import encode
from ..core.shortfall import find_shortfall
from ..core.usage import plan_json
from ..errors import Overflow, ProviderError
from ..ports import (
    Closing,
    Ended,
    History,
    Model,
    ModelEvent,
    Opening,
    ReasoningDelta,
    Store,
    TextDelta,
    TokenCounter,
    ToolCallDelta,
)
from .events import Delta, Event, Finished, Notice, Outcome, Refused, Started, Thought
from .prepare import Call, Prepared, Question, prepare
from .sizing import Sizer


@dataclass(frozen=True, slots=True)
class Chat:
    """Turns of chats of one workspace, asked of one model."""

    store: Store
    model: Model
    counter: TokenCounter
    sizer: Sizer
    call: Call
    workspace: str
    clock: Callable[[], float] = time.monotonic

    async def ask(
        self, chat: str | None, question: Question, stop: asyncio.Event | None = None
    ) -> AsyncGenerator[Event, None]:
        """One turn of ``chat`` (None: a new one). Setting ``stop`` ends it and keeps what came.

        A refused turn writes nothing. Once ``Started`` was given, the turn is stored, however it ends.
        """
        history = await self.store.history(chat) if chat else History((), Epoch())
        ready = await prepare(self.call, self.counter, self.sizer, history, question)
        if isinstance(ready, Refused):
            yield ready
            return
        for item in ready.plan.items:
            if item.kind == "file" and item.fate == "omitted" and item.new:
                yield Notice(f"{item.name} is not shown to the model: {item.reason}", "warning")
        if chat is None:
            chat = await self.store.new_chat(self.workspace)
        turn = await self.store.begin(chat, self._opening(ready))
        reply = Reply(self.clock())
        try:
            yield Started(chat, turn, ready.plan, ready.certificate)
            async with aclosing(until(stop, self.model.stream(ready.request))) as events:
                async for event in events:
                    match event:
                        case TextDelta(text=text):
                            reply.text += text
                            await self.store.checkpoint(turn, reply.text)
                            yield Delta(text)
                        case ReasoningDelta(text=text):
                            yield Thought(text)
                        case ToolCallDelta():
                            pass  # no tools were offered
                        case Ended():
                            reply.ended = event
                        case _:
                            assert_never(event)
        except ProviderError as error:
            reply.error = error
        finally:
            finished = self._finished(chat, turn, ready, reply)
            await asyncio.shield(self.store.finish(turn, _closing(finished)))
        if (smaller := self._true_window(reply)) is not None:
            yield Notice(f"the endpoint's window is {smaller:,} tokens; planned again for that")
            corrected = replace(self, call=replace(self.call, window=smaller))
            async with aclosing(corrected.ask(chat, question, stop)) as planned_again:
                async for again in planned_again:
                    yield again
            return
        if (dropped := find_shortfall(finished.certificate, finished.usage)) is not None:
            yield Notice(f"{dropped.words}; {dropped.remedy}", "warning")
        yield finished

    def _true_window(self, reply: "Reply") -> int | None:
        """The endpoint's own window, if it just refused a prompt that was planned for a larger one."""
        if isinstance(reply.error, Overflow) and not reply.text and reply.error.window:
            return reply.error.window if reply.error.window < self.call.window else None
        return None

    def _opening(self, ready: Prepared) -> Opening:
        return Opening(
            messages=ready.messages,
            model=self.model.name,
            endpoint=self.model.endpoint,
            certificate=ready.certificate,
            epoch=ready.plan.epoch,
            plan=plan_json(ready.plan),
            request=encode(ready.request.body()),
        )

    def _finished(self, chat: str, turn: str, ready: Prepared, reply: "Reply") -> Finished:
        usage = reply.ended.usage if reply.ended else None
        outcome, reason = reply.verdict
        return Finished(
            chat=chat,
            turn=turn,
            outcome=outcome,
            text=reply.text,
            certificate=replace(ready.certificate, actual=usage.prompt if usage else None),
            usage=usage,
            took_ms=round((self.clock() - reply.started) * 1000),
            reason=reason,
        )


@dataclass(slots=True)
class Reply:
    """What has come back so far."""

    started: float
    text: str = ""
    ended: Ended | None = None
    error: ProviderError | None = field(default=None)

    @property
    def verdict(self) -> tuple[Outcome, str]:
        if self.error is not None:
            return ("partial" if self.text else "failed"), str(self.error)
        if self.ended is None:
            return "cancelled", "stopped; what came is kept"
        if self.ended.outcome == "complete":
            return "complete", ""
        return "partial", self.ended.reason or "the answer was cut"


_STATUS: dict[Outcome, Status] = {
    "complete": "complete",
    "partial": "partial",
    "failed": "failed",
    "cancelled": "cancelled",
}


def _closing(finished: Finished) -> Closing:
    spoke = finished.text or finished.outcome == "complete"
    return Closing(
        status=_STATUS[finished.outcome],
        messages=(Message("assistant", finished.text),) if spoke else (),
        outcome=finished.reason,
        certificate=finished.certificate,
        usage=finished.usage,
        took_ms=finished.took_ms,
    )


async def until(
    stop: asyncio.Event | None, events: AsyncIterator[ModelEvent]
) -> AsyncGenerator[ModelEvent, None]:
    """``events`` until they end or ``stop`` is set; then they are closed at once."""
    stop = stop or asyncio.Event()
    stopped = asyncio.ensure_future(stop.wait())
    try:
        while True:
            following = asyncio.ensure_future(anext(events, None))
            await asyncio.wait({following, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if stopped.done() and not following.done():
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
                return
            upcoming = await following
            if upcoming is None:
                return
            yield upcoming
    finally:
        stopped.cancel()
        if (close := getattr(events, "aclose", None)) is not None:
            await close()
