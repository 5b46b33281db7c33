"""Text at the cursor, and another text for a selection: one call each, beside every chat.

Nothing is stored but the cost. What surrounds the cursor is cut to the profile's budget in a fixed order
(see ``core.truncate``); the instruction and the selection are sent whole or not at all.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..core import truncate
from ..core.budget import Budget
from ..core.certificate import Certificate, Usage, weakest
from ..core.control import neutral_json, neutral_text
from ..core.documents import language_of
from ..core.prompts import FRAGMENTS, compose, optional
from ..core.request import ChatRequest, WireMessage
from ..core.truncate import Counted, Cut, Fitted, Surroundings, TooLarge
from ..errors import LimitReached, Overflow, ProviderError
from ..ports import Model, ModelEvent, TokenCounter
from .failover import is_theirs
from .prepare import CORRECTIONS, Call
from .streams import Whole, collect

TextOutcome = Literal[
    "complete",
    "nothing",  # the model had nothing to add
    "over_budget",
    "over_limit",
    "truncated",  # of a suggestion: half a replacement would be a loss
    "upstream_error",
    "disabled",
    "cancelled",
]

# Around a whole reply, because a model was told not to and did it all the same.
_FENCED = re.compile(r"\A\s*(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[ \t]*\1\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Prompt:
    """The system prompt in parts, so that what is optional can go where there is no room."""

    template: str
    instructions: str = ""

    def composed(self, kept: Sequence[str] | None = None) -> str:
        """With the optional fragments in ``kept``; None for all of them."""
        may_go = optional(self.template)
        without = () if kept is None else tuple(name for name in may_go if name not in kept)
        return compose(self.template, {"INSTRUCTIONS": self.instructions}, without=without)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a document: what stands before it, what is selected there, what stands behind it."""

    path: str
    prefix: str
    suffix: str = ""
    selection: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation that may help; the oldest go first where there is no room."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Hole:
    """What a model that fills holes is given."""

    prefix: str
    suffix: str
    max_tokens: int
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Suggested:
    """``text`` is empty unless the outcome is ``complete``; ``message`` is for people."""

    outcome: TextOutcome
    text: str = ""
    message: str = ""
    cut: tuple[Cut, ...] = ()  # what had to be cut, in the order it happened
    certificate: Certificate | None = None
    usage: Usage | None = None
    notices: tuple[str, ...] = ()  # what happened on the way, for people
    error: ProviderError | None = None  # why the model did not answer, where another one may


# A model for one call that is kept in the books; ``LimitReached`` where it could cost too much.
Booked = Callable[[ChatRequest], Awaitable[Model]]
Fill = Callable[[Hole], AsyncIterator[ModelEvent]]
# What is planned with after a refusal of so many predicted tokens, and what it taught; None if nothing.
Learn = Callable[[Overflow, int], tuple[Call, str] | None]


@dataclass(frozen=True, slots=True)
class Writer:
    """``fill`` is there where the model can fill a hole; without it, it is asked in words.

    What an endpoint that has no room for a request tells about itself goes to ``learn``, and it is asked once more.
    """

    call: Call
    counter: TokenCounter
    booked: Booked
    prompt: Prompt
    fill: Fill | None = None
    is_enabled: bool = True
    learn: Learn | None = None

    async def complete(self, spot: Spot, stop: asyncio.Event | None = None) -> Suggested:
        """What to put at the cursor. Using up the reply's tokens is usual here, and no failure."""
        if not self.is_enabled:
            return DISABLED
        if self.fill is not None:
            return await self._fill(self.fill, spot, stop)
        return await self._ask(_Task(spot), stop)

    async def suggest(
        self,
        instruction: str,
        spot: Spot,
        conversation: Sequence[Said] = (),
        stop: asyncio.Event | None = None,
    ) -> Suggested:
        """What to put in place of the selection, as the instruction says."""
        if not self.is_enabled:
            return DISABLED
        return await self._ask(_Task(spot, instruction, tuple(conversation)), stop)

    # --- By words --------------------------------------------------------------------------------

    async def _ask(self, task: "_Task", stop: asyncio.Event | None) -> Suggested:
        planned = await self._plan(task)
        if isinstance(planned, TooLarge):
            return Suggested("over_budget", message=_too_large(task, planned))
        fitted, request, certificate = planned
        try:
            model = await self.booked(request)
            whole = await collect(stop, model.stream(request))
        except (ProviderError, LimitReached) as error:
            if (wiser := self._wiser(error, certificate)) is not None:
                writer, notice = wiser
                return replace(await writer._ask(task, stop), notices=(notice,))
            return _failed(error, fitted.cut, certificate)
        return _result(whole, fitted.cut, certificate, may_be_cut=task.instruction is None)

    async def _plan(self, task: "_Task") -> tuple[Fitted, ChatRequest, Certificate] | TooLarge:
        """The largest surroundings that fit, counted whole."""
        limits = self.call.budget
        bare = self._request(task.around(Surroundings(0)), ())
        needed = (await self.counter.count_request(bare)).tokens[0]
        given = await self._surroundings(task, needed)
        room = limits.room
        for _ in range(CORRECTIONS):
            fitted = truncate.fit(given, room, *_caps(self.call, limits))
            if isinstance(fitted, TooLarge):
                return TooLarge(needed, limits.room)
            request = self._request(task.around(fitted.kept), _names(fitted.kept, self.prompt))
            counts = await self.counter.count_request(request)
            excess = counts.tokens[0] - limits.room
            if excess <= 0:
                tokenizer = self.counter.tokenizer
                return (
                    fitted,
                    request,
                    Certificate(counts.kind, tokenizer.id, counts.tokens[0], tokenizer.template),
                )
            # Side by side, texts may take more than apart.
            room -= excess
        return TooLarge(counts.tokens[0], limits.room)

    async def _surroundings(self, task: "_Task", fixed: int) -> Surroundings:
        """Every piece that may be cut, counted in one batch as it will be written."""
        prefix, suffix = truncate.split(task.spot.prefix), truncate.split(task.spot.suffix)
        said = tuple(one.text for one in task.conversation)
        texts = {fragment.name: fragment.text for fragment in FRAGMENTS}
        system = tuple(texts[name] for name in optional(self.prompt.template))
        parts = [prefix, suffix, said, system]
        written = [
            *map(_written, (*prefix, *suffix)),
            *map(neutral_text, said),
            *(f"{text}\n\n" for text in system),
        ]
        tokens = iter((await self.counter.count(written)).tokens)
        counted = [Counted(part, tuple(next(tokens) for _ in part)) for part in parts]
        roles = (await self.counter.overhead()).message if said else {}
        around = [
            cost + roles[one.role]
            for one, cost in zip(task.conversation, counted[2].tokens, strict=True)
        ]
        conversation = Counted(said, tuple(around))
        return Surroundings(fixed, counted[0], counted[1], conversation, counted[3])

    def _request(self, messages: Sequence[WireMessage], kept: Sequence[str]) -> ChatRequest:
        system = WireMessage("system", self.prompt.composed(kept))
        return ChatRequest(
            model=self.call.model,
            messages=(system, *messages),
            max_tokens=max(1, self.call.budget.reply),
            temperature=self.call.profile.temperature,
            limit_name=self.call.limit_name,
        )

    # --- By filling a hole -----------------------------------------------------------------------

    async def _fill(self, fill: Fill, spot: Spot, stop: asyncio.Event | None) -> Suggested:
        limits = self.call.budget
        prefix, suffix = truncate.split(spot.prefix), truncate.split(spot.suffix)
        tokens = iter((await self.counter.count((*prefix, *suffix))).tokens)
        given = Surroundings(
            FILL_OVERHEAD,
            Counted(prefix, tuple(next(tokens) for _ in prefix)),
            Counted(suffix, tuple(next(tokens) for _ in suffix)),
        )
        fitted = truncate.fit(given, limits.room, *_caps(self.call, limits))
        if isinstance(fitted, TooLarge):
            return Suggested("over_budget", message="The window is too small to complete in.")
        kept = fitted.kept
        hole = Hole(
            kept.prefix.text, kept.suffix.text, max(1, limits.reply), self.call.profile.temperature
        )
        tokenizer = self.counter.tokenizer
        certificate = Certificate(weakest(tokenizer.kind, "bound"), tokenizer.id, fitted.tokens)
        try:
            whole = await collect(stop, fill(hole))
        except (ProviderError, LimitReached) as error:
            if (wiser := self._wiser(error, certificate)) is not None:
                writer, notice = wiser
                return replace(await writer._fill(fill, spot, stop), notices=(notice,))
            return _failed(error, fitted.cut, certificate)
        return _result(whole, fitted.cut, certificate, may_be_cut=True)

    def _wiser(
        self, error: ProviderError | LimitReached, certificate: Certificate
    ) -> "tuple[Writer, str] | None":
        """Who plans for what the endpoint said when it refused, and what that was; None if nothing new."""
        if self.learn is None or not isinstance(error, Overflow):
            return None
        taught = self.learn(error, certificate.predicted)
        if taught is None:
            return None
        call, notice = taught
        return replace(self, call=call, learn=None), notice


FILL_OVERHEAD = 8  # the marks around prefix, suffix and middle, and the beginning of the text
DISABLED = Suggested("disabled", message="It is switched off in the settings.")


@dataclass(frozen=True, slots=True)
class _Task:
    """``instruction`` None asks for a completion."""

    spot: Spot
    instruction: str | None = None
    conversation: tuple[Said, ...] = ()

    def around(self, kept: Surroundings) -> list[WireMessage]:
        """The messages with as much around the spot as was kept."""
        told = len(kept.conversation.pieces)
        said = self.conversation[len(self.conversation) - told :]
        wire = [WireMessage(one.role, neutral_text(one.text)) for one in said]
        return [*wire, WireMessage("user", self._question(kept.prefix.text, kept.suffix.text))]

    def _question(self, prefix: str, suffix: str) -> str:
        """The document as data, in one JSON object, so that nothing in it can pose as a request."""
        names = {"path": self.spot.path, "language": language_of(self.spot.path)}
        if self.instruction is None:
            text = {"before_cursor": prefix, "after_cursor": suffix}
        else:
            text = {"before": prefix, "selection": self.spot.selection, "after": suffix}
        encoded = json.dumps({**names, **text}, ensure_ascii=False, separators=(",", ":"))
        document = neutral_json(encoded)
        return (
            document
            if self.instruction is None
            else f"{document}\n\n{neutral_text(self.instruction)}"
        )


def _written(piece: str) -> str:
    return neutral_json(json.dumps(piece, ensure_ascii=False)[1:-1])


def _caps(call: Call, limits: Budget) -> tuple[int, int]:
    """How much prefix and suffix the profile allows; a profile without a number allows all there is."""
    return call.profile.prefix or limits.room, call.profile.suffix or limits.room


def _names(kept: Surroundings, prompt: Prompt) -> tuple[str, ...]:
    """The optional fragments that stayed: the last ones, as the first go first."""
    names = optional(prompt.template)
    return names[len(names) - len(kept.system.pieces) :]


def _result(
    whole: Whole, cut: tuple[Cut, ...], certificate: Certificate | None, *, may_be_cut: bool
) -> Suggested:
    ended = whole.ended
    if ended is None:
        return Suggested("cancelled", message="Stopped.", cut=cut, certificate=certificate)
    usage = ended.usage
    if certificate is not None:
        certificate = replace(certificate, actual=usage.prompt if usage else None)
    result = Suggested("complete", _unfenced(whole.text), "", cut, certificate, usage)
    if ended.outcome == "partial" and ended.finish_reason != "length":
        message = f"The reply broke off: {ended.reason}."
        return replace(result, outcome="upstream_error", text="", message=message)
    if ended.outcome == "partial" and not may_be_cut:
        message = "The reply was cut off, so it is not used: select less."
        return replace(result, outcome="truncated", text="", message=message)
    return result if result.text else replace(result, outcome="nothing", message="Nothing to add.")


def _failed(
    error: ProviderError | LimitReached, cut: tuple[Cut, ...], certificate: Certificate | None
) -> Suggested:
    outcome: TextOutcome = "upstream_error"
    if isinstance(error, LimitReached):
        outcome = "over_limit"
    elif isinstance(error, Overflow):
        outcome = "over_budget"
    theirs = error if isinstance(error, ProviderError) and is_theirs(error) else None
    return Suggested(outcome, message=str(error), cut=cut, certificate=certificate, error=theirs)


def _unfenced(text: str) -> str:
    found = _FENCED.match(text)
    return found[2] if found else text


def _too_large(task: _Task, over: TooLarge) -> str:
    what = (
        "the window is too small" if task.instruction is None else "select less, or say it shorter"
    )
    return f"{over.needed:,} tokens are needed and {over.available:,} available: {what}."
