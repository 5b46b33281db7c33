"""From a question to a request that is known to fit: size, offer, plan, render, certify."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..core import changes, ledger, offers
from ..core.budget import Budget, Profile, budget
from ..core.certificate import Certificate
from ..core.changes import outline_of
from ..core.documents import Document
from ..core.messages import FileStamp, Message, Sized
from ..core.plan import Ask, OverBudget, Plan, plan_context
from ..core.references import Reference
from ..core.render import Layout, render
from ..core.request import ChatRequest, LimitName
from ..core.usage import refusal
from ..errors import FileRefused, UsageError
from ..ports import History, TokenCounter
from .events import Refused
from .recall import Recalling, planned
from .sizing import Sizer

# A plan adds counts of parts, which is an upper bound; should a whole ever be more, the plan is
# made again with that much less room. More than two corrections have never been needed.
CORRECTIONS = 4


@dataclass(frozen=True, slots=True)
class Call:
    """What the model is and how it wants to be asked.

    ``shortfall`` is the fraction by which counts may be too low; 0 for exact ones and bounds. ``ratio`` is
    what estimates are scaled by.
    """

    model: str
    profile: Profile
    window: int
    system: str
    layout: Layout = "folded"
    shortfall: float = 0.0
    ratio: float = 1.0
    limit_name: LimitName = "max_tokens"

    @property
    def budget(self) -> Budget:
        return budget(self.profile, self.window, self.shortfall)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, about which files. ``missing`` are named files that are no longer there.

    ``instead_of`` is a turn that it is asked beside, about what was said before that one.
    """

    text: str
    documents: tuple[Document, ...] = ()  # in order of priority
    missing: tuple[str, ...] = ()
    instead_of: str | None = None
    references: tuple[Reference, ...] = ()  # what its links lead to, or that they lead nowhere


@dataclass(frozen=True, slots=True)
class Prepared:
    plan: Plan
    request: ChatRequest
    certificate: Certificate
    messages: tuple[Message, ...]  # what is new: hidden context, then the question
    files: tuple[FileStamp, ...] = ()  # everything the request shows of files, new or not


async def prepare(
    call: Call,
    counter: TokenCounter,
    sizer: Sizer,
    history: History,
    question: Question,
    recalling: Recalling | None = None,
) -> Prepared | Refused:
    """The request for ``question``, counted whole; or why there cannot be one.

    With ``recalling``, what the question needs of turns that left the window comes back with it.
    """
    _check_text(question)
    system, asked = await sizer.messages(
        [Message("system", call.system), Message("user", question.text)]
    )
    turns = await sizer.turns(history.turns)
    book = ledger.read(ledger.window(turns, history.epoch), history.epoch)
    told = await sizer.messages(changes.notices(book, question.documents, question.missing))
    ask = Ask(
        system=system,
        question=asked,
        overhead=(await sizer.overhead()).request,
        notices=tuple(told),
    )
    offered = await _offers(sizer, call.budget, book.after(told), question.documents)
    limits = call.budget
    for _ in range(CORRECTIONS):
        if recalling is None:
            plan = plan_context(limits, ask, turns, history.epoch, offered)
        else:
            plan = await planned(limits, ask, turns, offered, recalling)
        if isinstance(plan, OverBudget):
            return Refused(plan.needed, plan.available, refusal(plan))
        request = ChatRequest(
            model=call.model,
            messages=render(system.message, turns, plan.epoch, _new(plan, asked), call.layout),
            max_tokens=max(1, call.budget.reply),
            temperature=call.profile.temperature,
            limit_name=call.limit_name,
        )
        counts = await counter.count_request(request)
        excess = counts.tokens[0] - limits.room
        if excess <= 0:
            certificate = Certificate(
                kind=counts.kind,
                tokenizer=counter.tokenizer.id,
                predicted=counts.tokens[0],
                template=counter.tokenizer.template,
            )
            shown = ledger.read(ledger.window(turns, plan.epoch), plan.epoch).after(plan.hidden)
            files = tuple(holding.stamp for holding in shown.held.values())
            return Prepared(plan, request, certificate, _new(plan, asked), files)
        limits = limits.less(excess)
    reason = "the endpoint counts more tokens than the parts of the request add up to"
    return Refused(counts.tokens[0], call.budget.room, reason)


async def _offers(
    sizer: Sizer, limits: Budget, book: ledger.Ledger, documents: Sequence[Document]
) -> list[offers.FileOffer]:
    drafts = [
        # Only a file that may not fit needs an outline, and a token is at least one byte.
        offers.draft(
            book, d.path, d.text, outline_of(d) if len(d.text.encode()) > limits.files else None
        )
        for d in documents
    ]
    sizes = await sizer.by_message(message for draft in drafts for message in draft.messages)
    return [draft.sized(sizes.__getitem__) for draft in drafts]


def _check_text(question: Question) -> None:
    """Half of a surrogate pair cannot be sent, counted or stored: say where it is."""
    for document in question.documents:
        if (position := _lone_surrogate(document.text)) is not None:
            raise FileRefused(document.path, f"not valid Unicode text (character {position})")
    if (position := _lone_surrogate(question.text)) is not None:
        hint = "it may hold bytes that are not UTF-8"
        raise UsageError(f"the message is not valid Unicode text (character {position})", hint=hint)


def _lone_surrogate(text: str) -> int | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def _new(plan: Plan, asked: Sized) -> tuple[Message, ...]:
    return (*(sized.message for sized in plan.hidden), asked.message)
