"""Asking a model for edits: one turn of a chat that ends with a proposal, or with none and the reason."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from ..core.budget import Shares
from ..core.certificate import Certificate, Usage
from ..core.constrain import Limits, grammar, reply_schema
from ..core.documents import Document
from ..core.edits import Rejected, edit
from ..core.messages import Epoch, Message, Status
from ..core.ops import Problem
from ..core.proposal import Proposal, base_fingerprints
from ..core.reply import Format, explain, instructions, proposal_from, repair_message
from ..core.request import ChatRequest, JsonFormat, WireMessage
from ..core.usage import plan_json, traced
from ..errors import LimitReached, Overflow, ProviderError, TurnInProgress, Unsupported
from ..ports import Closing, History, Model, Opening
from ..records import Attempt, StoredProposal
from .chat import Chat
from .events import Refused
from .failover import is_theirs
from .money import Afforded, at_most, held, paid, refusal
from .prepare import Call, Means, Prepared, Question, prepare
from .proposals import Kept, news, written
from .streams import collect, is_interrupt
from .wishes import EditOutcome, asked, by_priority, too_large
from .wishes import EditReply as EditReply  # parts of what is offered here
from .wishes import Wish as Wish

Way = Literal["json schema", "grammar", "instructions"]

# Files are what an edit is about: they may take the whole room, and old turns go first.
FILES_FIRST = Shares(system=0, tools=0, files=1, history=0, recall=0)
REPAIRS = 1


@dataclass(frozen=True, slots=True)
class Shape:
    """How this endpoint can be held to a JSON shape; ``refuse`` tells if there is another way to try."""

    way: Callable[[], Way]
    shaped: Callable[[ChatRequest, JsonFormat, Way, str], ChatRequest]
    refuse: Callable[[Way], bool]


@dataclass(slots=True)
class Asking:
    """A wish on its way, over all the tries it takes. ``is_last``: nobody else can be asked."""

    chat: str | None  # None: a new one
    wish: Wish
    stop: asyncio.Event | None = None
    is_last: bool = True
    vain: tuple[str, ...] = ()  # turns that were taken back; the ledger has what they cost
    notices: tuple[str, ...] = ()
    has_learned: bool = False


@dataclass(frozen=True, slots=True)
class _Ready:
    """A request that fits, and how its reply is to be read."""

    prepared: Prepared
    format: Format
    way: Way


@dataclass(slots=True)
class _Turn:
    """One stored turn while the model is asked."""

    chat: str
    id: str
    is_new_chat: bool
    started: float
    all: tuple[str, ...]  # with those in vain, for what it has cost
    rounds: int = 0
    certificate: Certificate | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class _Verdict:
    outcome: EditOutcome
    message: str
    proposal: Proposal | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Editor:
    """Edits of one workspace, asked of the model of ``chat`` with its numbers and its books."""

    chat: Chat
    shape: Shape
    preferred: Format = "schema"
    limits: Limits | None = None
    repairs: int = REPAIRS  # how often a reply that cannot be used may be corrected
    is_enabled: bool = True
    new_id: Callable[[], str] = lambda: secrets.token_hex(8)

    async def ask(
        self, chat: str | None, wish: Wish, stop: asyncio.Event | None = None
    ) -> EditReply:
        """One turn of ``chat`` (None: a new one). Whatever goes wrong, there is an outcome and no operation.

        Over budget and over a limit, nothing is stored. Setting ``stop`` ends it.
        """
        return await self.answer(Asking(chat, wish, stop))

    async def answer(self, asking: Asking) -> EditReply:
        """What this model says to it. Where others can be asked and this one cannot, nothing is stored."""
        reply: EditReply | None = None
        while reply is None:
            ready = await self._prepare(asking)
            reply = ready if isinstance(ready, EditReply) else await self._ask(asking, ready)
        stamps = base_fingerprints(asking.wish.scope.documents)
        return replace(reply, base_fingerprints=stamps, notices=asking.notices)

    # --- Before the call -------------------------------------------------------------------------

    async def _prepare(self, asking: Asking) -> _Ready | EditReply:
        chat, wish = asking.chat, asking.wish
        if not self.is_enabled:
            return EditReply("disabled", "Edits are switched off in the settings.")
        way = self.shape.way() if self.preferred == "schema" else "instructions"
        format: Format = (
            "json" if (self.preferred, way) == ("schema", "instructions") else self.preferred
        )
        call = _for_edits(self.chat.call, instructions(format, wish.scope))
        store = self.chat.store
        history = await store.history(chat) if chat else History((), Epoch())
        told = await news(store, chat, history) if chat else ""
        documents = tuple(
            Document(path, text) for path, text in by_priority(wish.scope) if text is not None
        )
        question = Question(asked(wish, told), documents)
        prepared = await prepare(Means(call, self.chat.counter, self.chat.sizer), history, question)
        if isinstance(prepared, Refused):
            return EditReply("over_budget", prepared.reason)
        left_out = [i for i in prepared.plan.items if i.kind == "file" and i.fate == "omitted"]
        if left_out:
            return EditReply("over_budget", too_large([item.name for item in left_out], prepared))
        if (unpaid := await self._unpaid(asking, prepared)) is not None:
            return unpaid
        request = prepared.request
        if format == "schema":
            schema = reply_schema(wish.scope, self.limits)
            request = self.shape.shaped(request, JsonFormat("edit", schema), way, grammar(schema))
        return _Ready(replace(prepared, request=request), format, way)

    async def _unpaid(self, asking: Asking, prepared: Prepared) -> EditReply | None:
        till = self.chat.till
        if till is None:
            return None
        prompt = at_most(prepared.certificate, self.chat.call.shortfall)
        so_far = held(await till.purse.attempts(asking.vain))
        decided = await till.afford(prepared.request, prompt, asking.chat, so_far)
        return (
            None
            if isinstance(decided, Afforded)
            else EditReply("over_limit", str(refusal(decided)))
        )

    # --- The turn --------------------------------------------------------------------------------

    async def _ask(self, asking: Asking, ready: _Ready) -> EditReply | None:
        """None if it is to be asked once more, another way or planned for less room; nothing is stored then."""
        store = self.chat.store
        place = asking.chat or await store.new_chat(self.chat.workspace)
        try:
            id = await store.begin(place, self._opening(ready.prepared, asking.wish))
        except TurnInProgress as error:
            return EditReply("busy", str(error), chat=place)
        turn = _Turn(place, id, asking.chat is None, self.chat.clock(), (*asking.vain, id))
        try:
            verdict = await self._converse(turn, asking, ready)
        except Overflow as error:
            await self._withdraw(turn, asking)
            if self._has_learned(asking, error, ready):
                return None
            return EditReply("over_budget", str(error), rounds=turn.rounds)
        except Unsupported as error:
            if self.shape.refuse(ready.way):
                await self._withdraw(turn, asking)
                return None
            verdict = _Verdict("upstream_error", str(error))
        except LimitReached as error:
            if turn.rounds == 1:  # others were faster to spend: nothing was sent
                await self._withdraw(turn, asking)
                return EditReply("over_limit", str(error))
            verdict = _Verdict("over_limit", str(error))
        except ProviderError as error:
            if not asking.is_last and turn.rounds == 1 and is_theirs(error):
                await self._withdraw(turn, asking)
                return EditReply("upstream_error", str(error), rounds=turn.rounds, error=error)
            verdict = _Verdict("upstream_error", str(error))
        except BaseException:
            await asyncio.shield(self._close(turn, _stopped(asking.stop)))
            raise
        return await asyncio.shield(self._close(turn, verdict))

    def _has_learned(self, asking: Asking, error: Overflow, ready: _Ready) -> bool:
        """Whether the endpoint said something that makes one more try worth it."""
        known = self.chat.learned
        self.chat.learn(error, ready.prepared.certificate.predicted)
        if asking.has_learned or self.chat.learned == known:
            return False
        asking.has_learned = True
        asking.notices = (*asking.notices, self.chat.learned)
        return True

    async def _converse(self, turn: _Turn, asking: Asking, ready: _Ready) -> _Verdict:
        request, certificate = ready.prepared.request, ready.prepared.certificate
        problems: tuple[Problem, ...] = ()
        for repairs_left in range(self.repairs, -1, -1):
            text, failure = await self._call(turn, request, certificate, asking.stop)
            if failure is not None:
                return failure
            found = proposal_from(ready.format, text, asking.wish.scope)
            if isinstance(found, Proposal):
                return _judged(found)
            problems = found.problems
            again = await self._repair(request, text, problems) if repairs_left else None
            if again is None:
                break
            request, certificate = again
            await self.chat.store.record_request(turn.id, certificate, self.chat.wire(request))
        return _Verdict("invalid", explain(problems), problems=problems)

    async def _repair(
        self, request: ChatRequest, said: str, problems: tuple[Problem, ...]
    ) -> tuple[ChatRequest, Certificate] | None:
        """The same request with the problems listed; None if that does not fit."""
        told = (WireMessage("assistant", said), WireMessage("user", repair_message(problems)))
        again = replace(request, messages=(*request.messages, *told))
        counter = self.chat.counter
        counts = await counter.count_request(again)
        if counts.tokens[0] > self.chat.call.budget.room:
            return None
        tokenizer = counter.tokenizer
        return again, Certificate(counts.kind, tokenizer.id, counts.tokens[0], tokenizer.template)

    async def _call(
        self,
        turn: _Turn,
        request: ChatRequest,
        certificate: Certificate,
        stop: asyncio.Event | None,
    ) -> tuple[str, _Verdict | None]:
        """The whole reply; or why there is none that could be used."""
        turn.rounds += 1
        turn.certificate = certificate
        model = await self._booked(turn, request, certificate)
        whole = await collect(stop, model.stream(request))
        ended = whole.ended
        if ended is None:
            return "", _stopped(stop)
        turn.usage = ended.usage
        turn.certificate = replace(certificate, actual=ended.usage.prompt if ended.usage else None)
        if ended.outcome == "complete":
            return whole.text, None
        if ended.finish_reason == "length":
            limit = request.max_tokens
            words = f"The reply was cut off after {limit:,} tokens, so nothing was changed: ask for less at once."
            return "", _Verdict("truncated", words)
        return "", _Verdict("upstream_error", f"The reply broke off: {ended.reason}.")

    async def _booked(self, turn: _Turn, request: ChatRequest, certificate: Certificate) -> Model:
        model, till = self.chat.model, self.chat.till
        if till is None:
            return model
        attempt = Attempt(
            category="edit",
            model=model.name,
            endpoint=model.endpoint,
            chat=turn.chat,
            turn=turn.id,
            predicted=certificate.predicted,
            tokenizer=certificate.tokenizer,
            ratio=self.chat.call.ratio,
        )
        prompt = at_most(certificate, self.chat.call.shortfall)
        so_far = held(await till.purse.attempts(turn.all))
        decided = await till.afford(request, prompt, turn.chat, so_far)
        if isinstance(decided, Afforded):
            return till.model(attempt, decided)
        raise refusal(decided)

    # --- After it --------------------------------------------------------------------------------

    def _opening(self, ready: Prepared, wish: Wish) -> Opening:
        return Opening(
            messages=ready.messages,
            model=self.chat.model.name,
            endpoint=self.chat.model.endpoint,
            certificate=ready.certificate,
            epoch=ready.plan.epoch,
            plan=traced(plan_json(ready.plan), wish.trace),
            request=self.chat.wire(ready.request),
        )

    async def _close(self, turn: _Turn, verdict: _Verdict) -> EditReply:
        """Store the proposal, then the end of the turn: a turn that tells of edits always has them."""
        store, id = self.chat.store, ""
        is_answer = verdict.outcome in ("proposed", "nothing")
        if verdict.proposal is not None:
            id = self.new_id()
            body = written(Kept(verdict.proposal))
            await store.add_proposal(StoredProposal(id, turn.chat, turn.id, body))
        took_ms = round((self.chat.clock() - turn.started) * 1000)
        failed: Status = "failed"
        if verdict.outcome in ("cancelled", "interrupted"):
            failed = verdict.outcome
        await store.finish(
            turn.id,
            Closing(
                # What could not be used never happened, as far as the model is concerned.
                status="complete" if is_answer else failed,
                messages=(Message("assistant", verdict.message),) if is_answer else (),
                outcome="" if is_answer else f"{verdict.outcome}: {verdict.message}",
                certificate=turn.certificate,
                usage=turn.usage,
                took_ms=took_ms,
            ),
        )
        till = self.chat.till
        return EditReply(
            verdict.outcome,
            verdict.message,
            verdict.proposal,
            id,
            problems=verdict.problems,
            chat=turn.chat,
            turn=turn.id,
            certificate=turn.certificate,
            usage=turn.usage,
            rounds=turn.rounds,
            took_ms=took_ms,
            cost=None if till is None else paid(await till.purse.attempts(turn.all)),
        )

    async def _withdraw(self, turn: _Turn, asking: Asking) -> None:
        asking.vain = turn.all
        await self.chat.store.discard(turn.id)
        if turn.is_new_chat:
            await self.chat.store.delete_chat(turn.chat)


def _for_edits(call: Call, told: str) -> Call:
    profile = replace(call.profile, high=1.0, shares=FILES_FIRST)
    return replace(call, profile=profile, system=f"{call.system}\n\n{told}")


def _stopped(stop: asyncio.Event | None) -> _Verdict:
    if is_interrupt(stop):
        return _Verdict("interrupted", "The server was stopped; nothing was changed.")
    return _Verdict("cancelled", "Stopped; nothing was changed.")


def _judged(proposal: Proposal) -> _Verdict:
    edited = edit(proposal.scope, proposal.ops)
    if isinstance(edited, Rejected) or not edited.changes:
        return _Verdict("nothing", proposal.explanation or "Nothing has to be changed.")
    return _Verdict("proposed", proposal.explanation or "Edits are proposed.", proposal)
