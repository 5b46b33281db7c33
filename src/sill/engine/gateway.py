"""A request for a client that keeps its own chat and sends all of it every time.

Nothing is stored about such a chat, yet its requests grow at their end like those of a stored one: what was
sent before is found again by going through the turns in order and planning each as it was planned then. The
same history gives the same bytes; what was planned once is remembered by the name of all that led to it.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from ..core import masks
from ..core.certificate import Certificate
from ..core.gateway import Conversation, Moment, Said, finished, moments, most_away, put_away
from ..core.ledger import window
from ..core.messages import Epoch, Message, Recall, Sized, Turn, fingerprint
from ..core.plan import Ask, OverBudget, Plan, plan_context
from ..core.render import render, settled
from ..core.request import ChatRequest, WireMessage
from ..ports import History, TokenCounter
from .prepare import CORRECTIONS, Call
from .recall import Recalling, Recollection, planned
from .sizing import Sizer
from .walking import Frame, Resent, Step, Steps, Walk, Wish

# After so many turns a long chat is planned afresh, so that nobody waits for its whole past.
BLOCK = 64
GREETING = WireMessage("user", "hello")  # what tool schemas are measured beside


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request that is known to fit, and how it came to be. ``plan`` is None for one sent as it came."""

    request: ChatRequest
    certificate: Certificate
    plan: Plan | None = None
    evicted: int = 0  # turns of the client's chat that are not in the request
    recalled: int = 0  # turns of which something is quoted
    masked: int = 0  # results of tools that one line stands for


@dataclass(slots=True)
class Fitter:
    """Plans for one model. Without ``recalls``, what left the window stays out."""

    call: Call
    counter: TokenCounter
    sizer: Sizer
    steps: Steps = field(default_factory=Steps)
    recalls: tuple[float, float] | None = None  # the chances ``Recollection`` goes by
    _tools: dict[str, int] = field(default_factory=dict)
    _shelves: Recollection | None = None
    _resent: Resent = field(default_factory=Resent)
    _remembering: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def fit(self, conversation: Conversation, wish: Wish) -> Fitted | OverBudget:
        """The request for the conversation's last turn, with as much of the others as belongs into it."""
        frame = await self._frame(conversation, wish)
        walk = Walk(frame, conversation.id, frame.budget)
        sizes = await self.sizer.by_message(_spoken(conversation))
        start = len(conversation.turns) // BLOCK * BLOCK
        before = await self._skip(walk, conversation, start, sizes)
        for turn in conversation.turns[start:]:
            await asyncio.sleep(0)  # others have a turn, too
            step = Step(walk.epoch)
            for moment in moments(before, turn, is_finished=True):
                step = await self._step(walk, turn, moment, step, sizes)
                walk.epoch = step.epoch
            await self._add(walk, turn, step, sizes)
            before = turn.id
        *earlier, last = moments(before, conversation.present, is_finished=False)
        step = Step(walk.epoch)
        for moment in earlier:
            step = await self._step(walk, conversation.present, moment, step, sizes)
            walk.epoch = step.epoch
        return await self._last(walk, conversation.present, last, step, sizes)

    async def _skip(
        self,
        walk: Walk,
        conversation: Conversation,
        start: int,
        sizes: Mapping[Message, Sized],
    ) -> str:
        """Take the turns before ``start`` as they came; the id of the last one. If they are too many to be sent
        with the next question, an epoch begins there, which no epoch before it shares its number with.
        """
        for turn in conversation.turns[:start]:
            await self._add(walk, turn, Step(walk.epoch), sizes)
        following = (*conversation.turns, conversation.present)[start]
        before = walk.turns[-1].id if walk.turns else ""
        moment = next(moments(before, following, is_finished=False))
        ask = walk.ask(following, moment, Step(walk.epoch), sizes)
        if ask.fixed + sum(turn.tokens for turn in walk.turns) > walk.limits.high:
            walk.epoch = Epoch(start)
        return before

    async def as_it_is(self, messages: tuple[WireMessage, ...], wish: Wish) -> Fitted:
        """The client's own messages, counted and nothing else."""
        request = self._request(messages, wish, self.call.budget.reply_most)
        counts = await self.counter.count_request(request)
        return Fitted(request, self._certificate(counts.kind, counts.tokens[0]))

    # --- The walk through the turns ---------------------------------------------------------------

    async def _step(
        self,
        walk: Walk,
        turn: Said,
        moment: Moment,
        before: Step,
        sizes: Mapping[Message, Sized],
    ) -> Step:
        """How this moment was planned, or would have been; a request that was refused changed nothing."""
        key = walk.frame.key + moment.id
        known = self.steps.get(key)
        if known is None:
            _, known = await self._fitting(walk, turn, moment, before, sizes)
            self.steps.put(key, known)
        return known

    async def _fitting(
        self,
        walk: Walk,
        turn: Said,
        moment: Moment,
        before: Step,
        sizes: Mapping[Message, Sized],
    ) -> tuple[Plan | OverBudget, Step]:
        """The plan, and the step it makes. A long loop of tools gives up its older results before it fails."""
        plan: Plan | OverBudget | None = None
        for away in dict.fromkeys((before.away, max(before.away, most_away(moment.rounds)))):
            ask = walk.ask(turn, moment, replace(before, away=away), sizes)
            plan = await self._plan(walk, ask)
            if isinstance(plan, Plan):
                hidden = before.hidden if moment.rounds else plan.hidden
                return plan, Step(plan.epoch, hidden, away)
        assert plan is not None
        return plan, before

    async def _last(
        self,
        walk: Walk,
        turn: Said,
        moment: Moment,
        before: Step,
        sizes: Mapping[Message, Sized],
    ) -> Fitted | OverBudget:
        """As ``_step``, and the whole is counted: what turns out larger than its parts gets less room."""
        frame = walk.frame
        for _ in range(CORRECTIONS):
            plan, step = await self._fitting(walk, turn, moment, before, sizes)
            if isinstance(plan, OverBudget):
                return plan
            rounds = put_away(moment.rounds, step.away)
            new = (*turn.before, *_messages(step.hidden), turn.question, *rounds)
            lead = None if frame.system is None else Message("system", frame.system)
            messages = render(lead, walk.turns, plan.epoch, new, self.call.layout)
            request = self._request(messages, frame.wish, walk.limits.reply_most)
            counts = await self.counter.count_request(request)
            excess = counts.tokens[0] - walk.limits.room
            if excess <= 0:
                self.steps.put(frame.key + moment.id, step)
                certificate = self._certificate(counts.kind, counts.tokens[0])
                return Fitted(
                    self._with_room(request, certificate),
                    certificate,
                    plan,
                    evicted=len(walk.turns) - len(window(walk.turns, plan.epoch)),
                    recalled=_recalled(step.hidden),
                    masked=len(plan.epoch.masked) + sum(one not in moment.rounds for one in rounds),
                )
            walk.limits = walk.limits.less(excess)
        needed = counts.tokens[0]
        return OverBudget(needed, frame.budget.room, "question", (("question", needed),))

    async def _plan(self, walk: Walk, ask: Ask) -> Plan | OverBudget:
        first, limits = walk.first, walk.limits
        turns = walk.turns[first:]
        if self.recalls is None or ask.rounds:
            return plan_context(limits, ask, turns, walk.epoch, ())
        history = History(tuple(walk.stored[first:]), walk.epoch, first)
        question = ask.question.message.text
        # One at a time: the memory of a chat is made from the history at hand.
        async with self._remembering:
            self._resent.known = walk.stored
            recalling = Recalling(self._recollection, walk.chat, question, history, self.sizer)
            return await planned(limits, ask, turns, (), recalling)

    @property
    def _recollection(self) -> Recollection:
        if self._shelves is None:
            least, insists = self.recalls or (0.0, 0.0)
            self._shelves = Recollection(
                self._resent, least=least, insists=insists, is_repeatable=True
            )
        return self._shelves

    async def _add(
        self, walk: Walk, turn: Said, step: Step, sizes: Mapping[Message, Sized]
    ) -> None:
        hidden = {sized.message: sized for sized in step.hidden}
        messages = finished(turn, tuple(hidden), step.away)
        stubs = masks.stubs(messages)
        known = {**sizes, **hidden}
        unknown = [one for one in (*messages, *dict(stubs).values()) if one not in known]
        if unknown:
            known |= await self.sizer.by_message(unknown)
        lines = tuple((at, known[stub]) for at, stub in stubs)
        walk.add(Turn(turn.id, tuple(known[message] for message in messages), lines))

    # --- Numbers ----------------------------------------------------------------------------------

    async def _frame(self, conversation: Conversation, wish: Wish) -> Frame:
        overhead = await self.sizer.overhead()
        if conversation.system is None:
            system = Sized(Message("system", ""), overhead.default_system)
        else:
            (system,) = await self.sizer.messages([Message("system", conversation.system)])
        profile = self.call.profile
        if wish.max_tokens is not None:
            profile = replace(profile, reply=wish.max_tokens, reply_least=None)
        limits = replace(self.call, profile=profile).budget
        # Whose prompt it is may make it as long as it likes; only the window is a limit.
        limits = replace(limits, system_cap=limits.room)
        tools = await self._tool_tokens(wish)
        tokenizer = self.counter.tokenizer
        layout = self.call.layout
        facts = (conversation.system, system.tokens, tools, overhead.request, limits, layout)
        key = fingerprint(repr((*facts, tokenizer.id, tokenizer.template, self.recalls)))
        return Frame(conversation.system, system, tools, overhead.request, limits, wish, key)

    async def _tool_tokens(self, wish: Wish) -> int:
        """What the tools add to a request: one with them less one without."""
        if not wish.tools:
            return 0
        key = fingerprint(repr([tool.body() for tool in wish.tools]))
        if key not in self._tools:
            bare = self._request((GREETING,), Wish(), 1)
            laden = self._request((GREETING,), Wish(tools=wish.tools), 1)
            less, more = [
                (await self.counter.count_request(one)).tokens[0] for one in (bare, laden)
            ]
            if len(self._tools) > 100:
                self._tools.clear()
            self._tools[key] = max(0, more - less)
        return self._tools[key]

    def _request(self, messages: tuple[WireMessage, ...], wish: Wish, reply: int) -> ChatRequest:
        return ChatRequest(
            model=self.call.model,
            messages=messages,
            max_tokens=max(1, wish.max_tokens or reply),
            temperature=self.call.profile.temperature
            if wish.temperature is None
            else wish.temperature,
            tools=wish.tools,
            tool_choice=wish.tool_choice,
            response_format=wish.response_format,
            extra=wish.extra,
            limit_name=self.call.limit_name,
        )

    def _with_room(self, request: ChatRequest, known: Certificate) -> ChatRequest:
        """No more tokens are asked for than the window has left beside the prompt."""
        most = self.call.window - round(known.predicted * (1 + self.call.shortfall))
        return replace(request, max_tokens=max(1, min(request.max_tokens, most)))

    def _certificate(self, kind: Any, tokens: int) -> Certificate:
        tokenizer = self.counter.tokenizer
        return Certificate(kind, tokenizer.id, tokens, tokenizer.template)


def _spoken(conversation: Conversation) -> Iterator[Message]:
    """Everything that is counted, as it is in the present turn and as it is once the turn is over."""
    for turn in conversation.turns:
        yield from chain(turn.messages, settled(turn.messages))
    yield from conversation.present.messages
    for turn in (*conversation.turns, conversation.present):
        yield from dict(masks.stubs(turn.after)).values()


def _messages(sized: Sequence[Sized]) -> tuple[Message, ...]:
    return tuple(one.message for one in sized)


def _recalled(hidden: Sequence[Sized]) -> int:
    carried = (sized.message.carries for sized in hidden)
    return len({turn for one in carried if isinstance(one, Recall) for turn in one.turns})
