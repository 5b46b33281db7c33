"""One chat turn: read, size, plan, write, call the model, write."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import assert_never

from ..core.messages import Message, Status
from ..core.references import rows_of
from ..core.request import ChatRequest, encode
from ..core.shortfall import find_shortfall
from ..core.usage import plan_json
from ..errors import LimitReached, Overflow, ProviderError
from ..ports import (
    Closing,
    Ended,
    History,
    Model,
    Opening,
    ReasoningDelta,
    Store,
    TextDelta,
    TokenCounter,
    ToolCallDelta,
)
from ..records import Attempt
from .asking import Asking, closed, history_for
from .cited import cited, remarks
from .events import Delta, Event, Finished, Notice, Outcome, Refused, Started, Thought
from .money import Afforded, Till, at_most, held, paid, refusal
from .prepare import Call, Prepared, Question, prepare
from .recall import Recalling, Recollection
from .sizing import Sizer
from .streams import until


def as_sent(request: ChatRequest) -> bytes:
    return encode(request.body())


@dataclass(slots=True)
class Chat:
    """Turns of chats of one workspace, asked of one model.

    What the endpoint teaches about its window holds from then on. Without a ``till`` nothing is booked.
    """

    store: Store
    model: Model
    counter: TokenCounter
    sizer: Sizer
    call: Call
    workspace: str
    clock: Callable[[], float] = time.monotonic
    till: Till | None = None
    wire: Callable[[ChatRequest], bytes] = as_sent  # the exact bytes the model sends for a request
    learned: str = ""  # what a refusal of the endpoint has taught
    recollection: Recollection | None = None  # without it, what left the window stays out

    async def ask(
        self, chat: str | None, question: Question, stop: asyncio.Event | None = None
    ) -> AsyncGenerator[Event, None]:
        """One turn of ``chat`` (None: a new one). Setting ``stop`` ends it and keeps what came.

        A question that ends ``Refused`` leaves nothing in the store; otherwise its last turn is stored,
        however it ends.
        """
        asking = Asking(self.store, self.workspace, question, chat, stop)
        async with closed(asking), aclosing(self.answer(asking)) as events:
            async for event in events:
                if isinstance(event, Finished | Refused):
                    await asking.close()
                yield event

    async def answer(self, asking: Asking) -> AsyncGenerator[Event, None]:
        """What this model says to it. The turn of ``Finished`` is left open for whoever asks to close."""
        learned = self.learned
        async with aclosing(self._try(asking)) as events:
            async for event in events:
                if not isinstance(event, Refused) or self.learned == learned:
                    yield event
                    continue
                # The endpoint has less room than was planned for: one more try, with what it said.
                yield Notice(self.learned)
                async with aclosing(self._try(asking)) as again:
                    async for following in again:
                        yield following

    async def plan(self, chat: str | None, question: Question) -> Prepared | Refused:
        """What asking this would send. Nothing is sent and nothing is written."""
        history = await history_for(self.store, chat, question)
        recalling = self._recalling(chat, question, history)
        return await prepare(self.call, self.counter, self.sizer, history, question, recalling)

    async def _try(self, asking: Asking) -> AsyncGenerator[Event, None]:
        ready = await self.plan(asking.chat, asking.question)
        if isinstance(ready, Refused):
            yield ready
            return
        afforded = await self._afford(asking, ready)
        if isinstance(afforded, Refused):
            yield afforded
            return
        for notice in (*_omissions(ready), *(Notice(w, "warning") for w in afforded.warnings)):
            yield notice
        for remark in remarks(asking.question):
            yield Notice(remark)
        chat, turn = await asking.begin(self._opening(ready))
        reply = Reply(self.clock())
        try:
            yield Started(chat, turn, ready.plan, ready.certificate)
            stream = self._booked(chat, turn, ready, afforded).stream(ready.request)
            async with aclosing(until(asking.stop, stream)) as events:
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
        except (ProviderError, LimitReached) as error:
            reply.error = error
        finally:
            finished = replace(
                self._finished(chat, turn, ready, reply),
                references=cited(asking.question, ready, reply.text),
            )
            asking.closing = _closing(finished)
        self._learn(reply, ready)
        cost = await self._cost(asking.turns)
        if (refused := _refusal(reply, ready, cost)) is not None:
            await asking.take_back()
            yield refused
            return
        if (dropped := find_shortfall(finished.certificate, finished.usage)) is not None:
            yield Notice(f"{dropped.words}; {dropped.remedy}", "warning")
        yield replace(finished, cost=cost)

    def _recalling(
        self, chat: str | None, question: Question, history: History
    ) -> Recalling | None:
        if self.recollection is None or chat is None:
            return None
        return Recalling(self.recollection, chat, question.text, history, self.sizer)

    # --- Money -----------------------------------------------------------------------------------

    async def _afford(self, asking: Asking, ready: Prepared) -> Afforded | Refused:
        if self.till is None:
            return Afforded(None)
        prompt = at_most(ready.certificate, self.call.shortfall)
        so_far = held(await self.till.purse.attempts(asking.turns))
        decided = await self.till.afford(ready.request, prompt, asking.chat, so_far)
        if isinstance(decided, Afforded):
            return decided
        room = ready.plan.budget.room
        return Refused(ready.certificate.predicted, room, str(refusal(decided)), decided)

    def _booked(self, chat: str, turn: str, ready: Prepared, afforded: Afforded) -> Model:
        if self.till is None:
            return self.model
        attempt = Attempt(
            category="main",
            model=self.model.name,
            endpoint=self.model.endpoint,
            chat=chat,
            turn=turn,
            predicted=ready.certificate.predicted,
            tokenizer=ready.certificate.tokenizer,
            ratio=self.call.ratio,
        )
        return self.till.model(attempt, afforded)

    async def _cost(self, turns: tuple[str, ...]) -> int | None:
        return None if self.till is None else paid(await self.till.purse.attempts(turns))

    # --- What comes back -------------------------------------------------------------------------

    def _learn(self, reply: "Reply", ready: Prepared) -> None:
        """Plan for what the endpoint said when it refused a prompt that should have fitted."""
        if not isinstance(reply.error, Overflow) or reply.text:
            return
        window, prompt = reply.error.window, reply.error.prompt
        predicted = ready.certificate.predicted
        if window and window < self.call.window:
            self.call = replace(self.call, window=window)
            self.learned = (
                f"the endpoint's window is {window:,} tokens; planned for that from now on"
            )
        elif prompt and prompt > self.call.budget.room:
            self.call = replace(self.call, shortfall=prompt / predicted - 1)
            self.learned = (
                f"the endpoint counts {prompt:,} tokens where {predicted:,} were expected;"
                " that much room is kept free from now on"
            )

    def _opening(self, ready: Prepared) -> Opening:
        return Opening(
            messages=ready.messages,
            model=self.model.name,
            endpoint=self.model.endpoint,
            certificate=ready.certificate,
            epoch=ready.plan.epoch,
            plan=plan_json(ready.plan),
            request=self.wire(ready.request),
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
            model=self.model.name,
            endpoint=self.model.endpoint,
            error=reply.error,
        )


@dataclass(slots=True)
class Reply:
    """What has come back so far."""

    started: float
    text: str = ""
    ended: Ended | None = None
    error: ProviderError | LimitReached | None = field(default=None)

    @property
    def verdict(self) -> tuple[Outcome, str]:
        if self.error is not None:
            return ("partial" if self.text else "failed"), str(self.error)
        if self.ended is None:
            return "cancelled", "stopped; what came is kept"
        if self.ended.outcome == "complete":
            return "complete", ""
        return "partial", self.ended.reason or "the answer was cut"


def _refusal(reply: Reply, ready: Prepared, cost: int | None) -> Refused | None:
    """Why there is nothing to store: the endpoint has no room for it, or others were faster to spend."""
    needed, available = ready.certificate.predicted, ready.plan.budget.room
    match reply.error:
        case Overflow(prompt=prompt, window=window) if not reply.text:
            needed, available = prompt or needed, window or available
        case LimitReached() if not reply.text:
            pass
        case _:
            return None
    return Refused(needed, available, str(reply.error), cost=cost)


def _omissions(ready: Prepared) -> list[Notice]:
    return [
        Notice(f"{item.name} is not shown to the model: {item.reason}", "warning")
        for item in ready.plan.items
        if item.kind == "file" and item.fate == "omitted" and item.new
    ]


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
        references=json.dumps(rows_of(finished.references)) if finished.references else "",
    )
