"""Tool rounds: calls are checked and carried out, and what they bring is cut to the room that is left.

A request that was sent always fits, and the next one is only made once it is known to fit too. When the room
runs short, the results of earlier rounds are put away and old turns are evicted, both at once. When nothing
helps any more, the model is asked for its answer.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.messages import Message, ToolCall
from ..core.plan import OverBudget
from ..core.references import Reference
from ..core.request import ToolSchema
from ..core.tools import (
    Round,
    arguments_of,
    asked,
    brief,
    cut,
    from_line,
    no_room,
    put_away,
    result,
    seen,
)
from ..errors import SillError
from ..ports import Caller, TokenCounter, ToolOutcome
from .events import ToolUsed, ToolVerdict
from .offering import Toolkit
from .prepare import Call, Means, Prepared, prepare_round
from .sizing import Sizer

MOST_ROUNDS = 10
SECONDS = 120.0  # that one call may take
START_LINE = "start_line"
_TRIES = 4  # to cut a result to size; then the smallest form of it is used
_LEAST = 24  # tokens below which a cut result says nothing


@dataclass(frozen=True, slots=True)
class Brought:
    """A call and what it brought, whole."""

    call: ToolCall
    outcome: ToolOutcome


@dataclass(slots=True)
class Rounds:
    """The tool rounds of one turn. ``sent`` is the last request, which holds all of ``done``."""

    sent: Prepared
    counter: TokenCounter
    sizer: Sizer
    toolkit: Toolkit | None
    caller: Caller
    done: tuple[Round, ...] = ()
    references: tuple[Reference, ...] = ()
    compactions: int = 0  # how often something had to be put away
    _cut: dict[str, ToolOutcome] = field(default_factory=dict)  # by call, to go on with

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(message for one in self.done for message in one.messages)

    @property
    def call(self) -> Call:
        assert self.sent.call is not None
        return self.sent.call

    @property
    def have_begun(self) -> bool:
        return bool(self.done) or self.are_over

    @property
    def are_over(self) -> bool:
        """Whether the last request asked for an answer and for nothing else."""
        return self.sent.request.tool_choice == "none"

    def named(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The calls with ids of their own: some servers give none, or the same one every time."""
        known = {call.id for one in self.done for call in one.calls}
        named: list[ToolCall] = []
        for call in calls:
            number = len(known)
            while not call.id or call.id in known:
                call = replace(call, id=f"call_{number}")
                number += 1
            known.add(call.id)
            named.append(call)
        return tuple(named)

    async def bring(
        self, calls: Sequence[ToolCall], stop: asyncio.Event | None
    ) -> tuple[Brought, ...] | None:
        """What every call brings; None if it was stopped, whatever had come by then."""
        work = asyncio.gather(*(self._carried_out(call) for call in calls))
        stopped = asyncio.ensure_future((stop or asyncio.Event()).wait())
        try:
            waiting: set[asyncio.Future[Any]] = {work, stopped}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                return None
            return tuple(Brought(*pair) for pair in zip(calls, work.result(), strict=True))
        finally:
            stopped.cancel()
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)

    async def take(self, text: str, brought: Sequence[Brought]) -> tuple[ToolUsed, ...]:
        """Make the next request of what was brought; afterwards ``sent`` is that request.

        If not even the names of the results fit, the calls are dropped, and so is what they brought.
        """
        said = asked(text, [one.call for one in brought])
        is_last = len(self.done) + 1 >= MOST_ROUNDS
        await self._make_room(said, brought)
        left = await self._left(said)
        shown = await self._fitted(brought, left)
        while True:
            new = (*self.done, Round(said, tuple(one.message for one in shown)))
            following = await self._request(new, is_last=is_last)
            if isinstance(following, Prepared):
                break
            excess = max(1, following.needed - following.available)
            left = min(left, sum(one.tokens for one in shown)) - excess
            smaller = await self._fitted(brought, left)
            if left <= 0 or smaller == shown:
                await self.give_up()
                return tuple(ToolUsed(one.call.name, brief(one.call), "lost", 0) for one in brought)
            shown = smaller
        self.done, self.sent = new, following
        for one, part in zip(brought, shown, strict=True):
            if part.verdict == "cut":
                self._cut[_key(one.call)] = one.outcome
            self.references += part.references
        return tuple(
            ToolUsed(one.call.name, brief(one.call), part.verdict, part.tokens, part.references)
            for one, part in zip(brought, shown, strict=True)
        )

    async def give_up(self) -> None:
        """Ask for an answer from what is there: that has fitted before."""
        following = await self._request(self.done, is_last=True)
        if isinstance(following, OverBudget):  # the choice itself costs a few tokens somewhere
            self.done = put_away(self.done)
            following = await self._request(self.done, is_last=True)
        if isinstance(following, Prepared):
            self.sent = following

    async def shrink(self, call: Call) -> bool:
        """Whether the last request can be made to fit what ``call`` says, by putting results away."""
        is_last, sent = self.are_over, self.sent
        self.sent = replace(sent, call=call)
        for shorter in ((*put_away(self.done[:-1]), *self.done[-1:]), put_away(self.done)):
            following = await self._request(shorter, is_last=is_last)
            if isinstance(following, Prepared):
                self.done, self.sent = shorter, following
                self.compactions += 1
                return True
        self.sent = sent
        return False

    # --- Calls -----------------------------------------------------------------------------------

    async def _carried_out(self, call: ToolCall) -> ToolOutcome:
        schema = next((s for s in self.sent.request.tools if s.name == call.name), None)
        if schema is None:
            known = ", ".join(s.name for s in self.sent.request.tools)
            return _error(f"there is no tool {call.name!r}; there are: {known}")
        given = arguments_of(call)
        if isinstance(given, str):
            return _error(given)
        properties = schema.parameters.get("properties", {})
        if START_LINE in given and START_LINE not in properties:
            return self._continued(call, given)
        if problem := wrong_with(given, schema):
            return _error(problem)
        try:
            async with asyncio.timeout(SECONDS):
                assert self.toolkit is not None
                return await self.toolkit.box.call(call.name, given, self.caller)
        except TimeoutError:
            return _error(f"{call.name} did not answer within {SECONDS:.0f} s")
        except SillError as error:
            return _error(str(error))
        except Exception as error:  # a foreign tool: the model may do without it
            return _error(f"{call.name} failed: {type(error).__name__}: {error}")

    def _continued(self, call: ToolCall, given: Mapping[str, Any]) -> ToolOutcome:
        """More of a result that was cut, without calling the tool again."""
        key, line = _key(call), given[START_LINE]
        kept = self._cut.get(key)
        if kept is None or not isinstance(line, int):
            return _error(f"nothing is kept to go on with; call {call.name} without {START_LINE}")
        rest = from_line(kept.text, line - kept.first_line + 1)
        if rest is None:
            return _error(f"the result has no line {line}")
        return ToolOutcome(rest, kept.references, kept.is_error, line)

    # --- Room ------------------------------------------------------------------------------------

    async def _left(self, said: Message) -> int:
        """Tokens that are free once the calls are in, of which a part stays free for what follows."""
        sized = await self.sizer.messages([said, *self.messages])
        base = self.sent.plan.tokens - sum(
            item.tokens for item in self.sent.plan.items if item.kind == "rounds"
        )
        used = base + sum(one.tokens for one in sized)
        # The whole was counted too, and counts: parts may add up to less.
        counted = self.sent.certificate.predicted + sized[0].tokens
        return self.call.budget.room - max(used, counted if self._is_whole else 0)

    @property
    def _is_whole(self) -> bool:
        """Whether the last request holds exactly the rounds as they are now."""
        ask = self.sent.ask
        held = () if ask is None else tuple(one.message for one in ask.rounds)
        return held == self.messages

    async def _make_room(self, said: Message, brought: Sequence[Brought]) -> None:
        """Where the results do not fit and more than half is full, put away what can be put away, all at once."""
        room, left = self.call.budget.room, await self._left(said)
        sizes = await self._sizes(brought)
        count = len(brought)
        wanted = sum(sizes) * (count + 1) // count
        if wanted <= left or 2 * left >= room:
            return
        before = self.done, self.sent.plan.epoch
        self.done = put_away(self.done)
        left = await self._left(said)
        if wanted > left and self.sent.turns:
            (calls,) = await self.sizer.messages([said])
            spare = min(wanted, room // 2) + calls.tokens
            evicted = await self._request(self.done, spare=spare)
            if isinstance(evicted, Prepared):
                self.sent = evicted
        self.compactions += (self.done, self.sent.plan.epoch) != before

    async def _request(
        self, rounds: Sequence[Round], *, spare: int = 0, is_last: bool = False
    ) -> Prepared | OverBudget:
        sized = await self.sizer.messages(message for one in rounds for message in one.messages)
        means = Means(self.call, self.counter, self.sizer)
        return await prepare_round(means, self.sent, sized, spare=spare, is_last=is_last)

    # --- Results ---------------------------------------------------------------------------------

    async def _sizes(self, brought: Sequence[Brought]) -> list[int]:
        whole = [result(one.call, one.outcome.text) for one in brought]
        return [sized.tokens for sized in await self.sizer.messages(whole)]

    async def _fitted(self, brought: Sequence[Brought], left: int) -> "list[_Shown]":
        """Each result in its part of what is left; the last part stays free for what follows."""
        sizes = await self._sizes(brought)
        # Small results first: what they leave of their part goes to the larger ones.
        order = sorted(range(len(brought)), key=sizes.__getitem__)
        found: dict[int, _Shown] = {}
        for place, number in enumerate(order):
            part = max(0, left) // (len(order) - place + 1)
            found[number] = await self._shown(brought[number], sizes[number], part)
            left -= found[number].tokens
        return [found[number] for number in range(len(brought))]

    async def _shown(self, brought: Brought, size: int, part: int) -> "_Shown":
        call, outcome = brought.call, brought.outcome
        verdict: ToolVerdict = "failed" if outcome.is_error else "done"
        if size <= part:
            return _Shown(result(call, outcome.text), size, verdict, outcome.references)
        characters = len(outcome.text) * part // max(1, size)
        for _ in range(_TRIES if part >= _LEAST else 0):
            shorter = cut(outcome.text, characters, outcome.first_line)
            (sized,) = await self.sizer.messages([result(call, shorter.text)])
            if sized.tokens <= part:
                references = seen(outcome.references, shorter)
                return _Shown(sized.message, sized.tokens, "cut", references)
            characters = characters * part // sized.tokens - 40
            if characters <= 0:
                break
        (sized,) = await self.sizer.messages([result(call, no_room(size))])
        return _Shown(sized.message, sized.tokens, "cut")


@dataclass(frozen=True, slots=True)
class _Shown:
    message: Message
    tokens: int
    verdict: ToolVerdict
    references: tuple[Reference, ...] = ()


def wrong_with(arguments: Mapping[str, Any], schema: ToolSchema) -> str:
    """What does not fit the tool's schema, for the model to mend; empty if nothing."""
    import jsonschema

    try:
        checker = jsonschema.validators.validator_for(dict(schema.parameters))
        problems = list(checker(dict(schema.parameters)).iter_errors(dict(arguments)))
    except Exception:  # a schema that is wrong itself cannot be held against the model
        return ""
    told = [
        f"{'.'.join(map(str, one.absolute_path)) or 'arguments'}: {one.message[:200]}"
        for one in problems[:3]
    ]
    return f"wrong arguments for {schema.name}: {'; '.join(told)}" if told else ""


def _error(text: str) -> ToolOutcome:
    return ToolOutcome(text, is_error=True)


def _key(call: ToolCall) -> str:
    """The same for calls that differ only in where they go on."""
    given = arguments_of(call)
    if isinstance(given, dict):
        given = {name: value for name, value in given.items() if name != START_LINE}
    return json.dumps([call.name, given], sort_keys=True)
