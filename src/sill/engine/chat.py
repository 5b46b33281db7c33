"""One chat turn: read, size, plan, write, call the model, write."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import assert_never

from ..core.plan import Plan
from ..core.request import ChatRequest, encode
from ..core.shortfall import find_shortfall
from ..core.usage import plan_json
from ..errors import LimitReached, Overflow, ProviderError, Unsupported
from ..ports import (
    Caller,
    Ended,
    Model,
    Opening,
    ReasoningDelta,
    SoFar,
    Store,
    TextDelta,
    TokenCounter,
    ToolCallDelta,
)
from ..records import Attempt
from .asking import Asking, closed, history_for
from .cited import cited, doubts, remarks
from .compact import Carrying, SummaryBy
from .events import Delta, Event, Finished, Notice, Refused, Started, Thought
from .money import Afforded, Till, at_most, held, paid, refusal
from .notes import Notebook
from .offering import Toolkit
from .planning import Desk, planned_question
from .prepare import Call, Prepared, Question
from .recall import Recollection
from .replies import GAP, Reply, closing, omissions, refused, stored_references
from .rounds import Rounds
from .sizes import Growing
from .sizing import Sizer
from .streams import until
from .summarize import Summarizer

REMEMBERED = 32  # plans of turns, so that the next question need not look them up


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
    toolkit: Toolkit | None = None  # without it, no tools are offered
    notebook: Notebook | None = None  # without it, nothing that is remembered comes along
    summaries: SummaryBy = "off"  # how what leaves the window is summed up
    grows: Callable[[], Growing] | None = None  # counts the answer as it comes
    _plans: dict[str, Plan] = field(default_factory=dict)  # of the last turns

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
        return await self._planned(chat, question, Carrying(self.store, self.summaries))

    async def _planned(
        self, chat: str | None, question: Question, carrying: Carrying
    ) -> Prepared | Refused:
        history = await history_for(self.store, chat, question)
        desk = Desk(
            self.store,
            self.call,
            self.counter,
            self.sizer,
            self.recollection,
            self.toolkit,
            carrying,
            self._plans,
            self.notebook,
        )
        return await planned_question(desk, chat, question, history)

    def _carrying(self, chat: str | None) -> Carrying:
        writer = Summarizer(self.call, self.model, self.counter, chat or "", self.till)
        write = writer.write if self.summaries == "model" else None
        return Carrying(self.store, self.summaries, write)

    async def _try(self, asking: Asking) -> AsyncGenerator[Event, None]:
        ready = await self._planned(asking.chat, asking.question, self._carrying(asking.chat))
        if isinstance(ready, Refused):
            yield ready
            return
        afforded = await self._afford(asking, ready)
        if isinstance(afforded, Refused):
            yield afforded
            return
        for notice in (*omissions(ready), *(Notice(w, "warning") for w in afforded.warnings)):
            yield notice
        for trouble in self.toolkit.untold() if self.toolkit is not None else ():
            yield Notice(trouble, "warning")
        for remark in remarks(asking.question):
            yield Notice(remark)
        chat, turn = await asking.begin(self._opening(ready))
        reply, learned = Reply(self.clock(), ready), self.learned
        rounds = Rounds(ready, self.counter, self.sizer, self.toolkit, Caller(chat, turn))
        try:
            yield Started(chat, turn, ready.plan, ready.certificate)
            async with aclosing(self._speak(asking, rounds, reply, afforded)) as events:
                async for event in events:
                    yield event
        except (ProviderError, LimitReached) as error:
            reply.error = error
        finally:
            finished = replace(
                self._finished(chat, turn, reply),
                references=cited(asking.question, reply.sent, reply.shown, rounds.references),
            )
            asking.closing = closing(finished, reply, rounds.messages, ready)
        self._plans = dict([*self._plans.items(), (turn, reply.sent.plan)][-REMEMBERED:])
        if self.learned == learned:  # once for each error
            self._learn(reply)
        cost = await self._cost(asking.turns)
        # Once a tool was used there is something to store: what it did stays done.
        if not rounds.have_begun and (nothing := refused(reply, cost)) is not None:
            await asking.take_back()
            yield nothing
            return
        for notice in _shortfall(finished):
            yield notice
        for doubt in doubts(finished.references):
            yield Notice(doubt, "warning")
        yield replace(finished, cost=cost, counted=await self._counted(reply))

    # --- Calls -----------------------------------------------------------------------------------

    async def _speak(
        self, asking: Asking, rounds: Rounds, reply: Reply, afforded: Afforded
    ) -> AsyncGenerator[Event, None]:
        """Call the model until it answers; between the calls, do what it asks for."""
        while True:
            try:
                async with aclosing(self._call(asking, rounds, reply, afforded)) as events:
                    async for event in events:
                        yield event
            except Overflow as error:
                if not await self._shrunk(rounds, reply, error):
                    raise
                yield Notice(self.learned)
                await self._record(rounds)
                reply.sent = rounds.sent
                continue
            calls = rounds.named(reply.ended.tool_calls if reply.ended else ())
            if not calls or rounds.toolkit is None:
                return
            if rounds.are_over:
                if not reply.text and reply.ended is not None:
                    reason = "it went on calling tools when it was asked for an answer"
                    reply.ended = replace(reply.ended, outcome="partial", reason=reason)
                return
            for notice in _shortfall(self._finished(*asking.place, reply)):
                yield notice
            reply.ended = (
                None  # the call has ended, the turn has not: whatever stops it now cuts it short
            )
            brought = await rounds.bring(calls, asking.stop)
            if brought is None:
                return
            known = len(rounds.done)
            taken = await rounds.take(reply.text, brought)
            # At once: whatever ends the turn now, the words stand before their round and nowhere else.
            reply.go_on(kept=len(rounds.done) > known)
            for used in taken:
                yield used
            if len(rounds.done) == known and not rounds.are_over:
                reason = "there was no room left to ask for the answer"
                reply.ended = Ended("partial", None, None, reason=reason)
                return
            decided = await self._afford(asking, rounds.sent)
            if isinstance(decided, Refused):
                assert decided.money is not None
                raise refusal(decided.money)
            afforded = decided
            for warning in afforded.warnings:
                yield Notice(warning, "warning")
            await self._record(rounds)
            reply.sent = rounds.sent

    async def _shrunk(self, rounds: Rounds, reply: Reply, error: Overflow) -> bool:
        """Whether the same request, made for the window that the endpoint told of, is ready to be sent."""
        if not rounds.have_begun:
            return False
        before, reply.error = self.learned, error
        self._learn(reply)
        if self.learned == before:
            return False
        call = replace(rounds.call, window=self.call.window, shortfall=self.call.shortfall)
        if not await rounds.shrink(call):
            return False
        reply.error = None
        return True

    async def _record(self, rounds: Rounds) -> None:
        """What is about to be sent, and the rounds before it: from here on they outlive the process."""
        sent = rounds.sent
        so_far = SoFar(rounds.messages, stored_references(rounds.references), plan_json(sent.plan))
        await self.store.record_request(
            rounds.caller.turn, sent.certificate, self.wire(sent.request), so_far
        )

    async def _call(
        self, asking: Asking, rounds: Rounds, reply: Reply, afforded: Afforded
    ) -> AsyncGenerator[Event, None]:
        stream = self._booked(rounds, afforded).stream(reply.sent.request)
        growing = self.grows() if self.grows is not None else None
        async with aclosing(until(asking.stop, stream)) as events:
            async for event in events:
                match event:
                    case TextDelta(text=text):
                        if reply.before and not reply.text:
                            yield Delta(GAP)
                        reply.text += text
                        await self.store.checkpoint(rounds.caller.turn, reply.last_words)
                        yield Delta(text, await growing.grown(text) if growing else None)
                    case ReasoningDelta(text=text):
                        yield Thought(text)
                    case ToolCallDelta():
                        pass  # the whole calls come with the end
                    case Ended():
                        reply.ended = event
                    case _:
                        assert_never(event)

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

    def _booked(self, rounds: Rounds, afforded: Afforded) -> Model:
        if self.till is None:
            return self.model
        certificate = rounds.sent.certificate
        attempt = Attempt(
            category="tool" if rounds.have_begun else "main",
            model=self.model.name,
            endpoint=self.model.endpoint,
            chat=rounds.caller.chat,
            turn=rounds.caller.turn,
            predicted=certificate.predicted,
            tokenizer=certificate.tokenizer,
            ratio=self.call.ratio,
        )
        return self.till.model(attempt, afforded)

    async def _cost(self, turns: tuple[str, ...]) -> int | None:
        return None if self.till is None else paid(await self.till.purse.attempts(turns))

    # --- What comes back -------------------------------------------------------------------------

    def _learn(self, reply: Reply) -> None:
        """Plan for what the endpoint said when it refused a request that should have been right."""
        if reply.text:
            return
        if isinstance(reply.error, Unsupported) and reply.sent.request.tools:
            self.toolkit = None
            self.learned = f"{self.model.name} takes no tools; none are offered from now on"
        if isinstance(reply.error, Overflow):
            self.learn(reply.error, reply.sent.certificate.predicted)

    def learn(self, refused: Overflow, predicted: int) -> None:
        """Plan from now on for what the endpoint said when it refused a prompt of ``predicted`` tokens."""
        window, prompt = refused.window, refused.prompt
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

    async def _counted(self, reply: Reply) -> int | None:
        """Tokens of the answer where the server did not say: of one that was stopped, for instance."""
        billed = reply.ended is not None and reply.ended.usage is not None
        return (
            None if billed or not reply.text else (await self.sizer.count([reply.text])).tokens[0]
        )

    def _finished(self, chat: str, turn: str, reply: Reply) -> Finished:
        usage = reply.ended.usage if reply.ended else None
        outcome, reason = reply.verdict
        return Finished(
            chat=chat,
            turn=turn,
            outcome=outcome,
            text=reply.shown,
            certificate=replace(reply.sent.certificate, actual=usage.prompt if usage else None),
            usage=usage,
            took_ms=round((self.clock() - reply.started) * 1000),
            reason=reason,
            model=self.model.name,
            endpoint=self.model.endpoint,
            error=reply.error,
            plan=reply.sent.plan if reply.sent.ask is not None and reply.sent.ask.rounds else None,
        )


def _shortfall(finished: Finished) -> list[Notice]:
    dropped = find_shortfall(finished.certificate, finished.usage)
    return [] if dropped is None else [Notice(f"{dropped.words}; {dropped.remedy}", "warning")]
