"""From a question to a request that is known to fit: size, offer, plan, render, certify."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..core import ledger, offers
from ..core.budget import Budget
from ..core.certificate import Certificate
from ..core.documents import Document
from ..core.messages import Message, Sized
from ..core.plan import Ask, OverBudget, Plan, plan_context
from ..core.render import Layout, render
from ..core.request import ChatRequest
from ..core.usage import refusal
from ..ports import History, TokenCounter
from .events import Refused
from .sizing import Sizer

# A plan adds counts of parts, which is an upper bound; should a whole ever be more, the plan is
# made again with that much less room. More than two corrections have never been needed.
CORRECTIONS = 4


@dataclass(frozen=True, slots=True)
class Call:
    """What the model is and how it wants to be asked."""

    model: str
    budget: Budget
    system: str
    layout: Layout
    temperature: float | None


@dataclass(frozen=True, slots=True)
class Prepared:
    plan: Plan
    request: ChatRequest
    certificate: Certificate
    messages: tuple[Message, ...]  # what is new: hidden context, then the question


async def prepare(
    call: Call,
    counter: TokenCounter,
    sizer: Sizer,
    history: History,
    question: str,
    documents: Sequence[Document],
) -> Prepared | Refused:
    """The request for ``question``, counted whole; or why there cannot be one."""
    system, asked = await sizer.messages(
        [Message("system", call.system), Message("user", question)]
    )
    turns = await sizer.turns(history.turns)
    book = ledger.read(ledger.window(turns, history.epoch), history.epoch)
    drafts = [offers.draft(book, document.path, document.text) for document in documents]
    sizes = await sizer.by_message(message for draft in drafts for message in draft.messages)
    offered = [draft.sized(sizes.__getitem__) for draft in drafts]
    ask = Ask(system=system, question=asked, overhead=(await sizer.overhead()).request)
    budget = call.budget
    for _ in range(CORRECTIONS):
        plan = plan_context(budget, ask, turns, history.epoch, offered)
        if isinstance(plan, OverBudget):
            return Refused(plan.needed, plan.available, refusal(plan))
        request = ChatRequest(
            model=call.model,
            messages=render(system.message, turns, plan.epoch, _new(plan, asked), call.layout),
            max_tokens=max(1, call.budget.reply),
            temperature=call.temperature,
        )
        counts = await counter.count_request(request)
        excess = counts.tokens[0] - budget.room
        if excess <= 0:
            certificate = Certificate(
                kind=counts.kind,
                tokenizer=counter.tokenizer.id,
                predicted=counts.tokens[0],
                template=counter.tokenizer.template,
            )
            return Prepared(plan, request, certificate, _new(plan, asked))
        budget = replace(budget, margin=budget.margin + excess)
    return Refused(
        counts.tokens[0],
        call.budget.room,
        "the endpoint counts more than the parts of the request add up to",
    )


def _new(plan: Plan, asked: Sized) -> tuple[Message, ...]:
    return (*(sized.message for sized in plan.hidden), asked.message)
