"""From a question to a request that is known to fit: size, offer, plan, render, certify."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import floor

from ..core import changes, envelopes, ledger, offers
from ..core.budget import Budget, Profile, budget
from ..core.certificate import Certificate, Counts
from ..core.changes import outline_of
from ..core.documents import Document
from ..core.messages import FileStamp, Message, ProposalNews, Remembered, Sized, Turn
from ..core.plan import Ask, Item, OverBudget, Plan, plan_context
from ..core.references import Reference
from ..core.render import Layout, render
from ..core.request import ChatRequest, LimitName, ToolSchema, WireMessage
from ..core.summaries import summarize
from ..core.usage import refusal
from ..errors import FileRefused, UsageError
from ..ports import History, TokenCounter
from .events import Refused
from .recall import Recalling, planned
from .sizing import Sizer

# A plan adds counts of parts, which is an upper bound; should a whole ever be more, the plan is
# made again with that much less room. More than two corrections have never been needed.
CORRECTIONS = 4

READER = "read_document"
"""The tool by which a model reads what it was only given the outline of."""


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
    link_share: float = (
        0.2  # of the free room: up to this a linked note is sent, not left to be read
    )
    told: tuple[tuple[str, float], ...] = ()  # shares that were asked for, which a chat then keeps

    @property
    def budget(self) -> Budget:
        return budget(self.profile, self.window, self.shortfall)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, about which files. ``missing`` are named files that are no longer there.

    ``instead_of`` is a turn that it is asked beside, about what was said before that one. ``linked`` are paths of
    documents that nobody asked to send but a link led to. ``shares`` hold for the chat from now on.
    """

    text: str
    documents: tuple[Document, ...] = ()  # in order of priority
    missing: tuple[str, ...] = ()
    instead_of: str | None = None
    references: tuple[Reference, ...] = ()  # what its links lead to, or that they lead nowhere
    linked: tuple[str, ...] = ()
    shares: tuple[tuple[str, float], ...] = ()
    pinned: tuple[str, ...] = ()  # paths of documents that the user wants to stay
    trace: str = ""  # the caller's own name for it, kept with the turn


@dataclass(frozen=True, slots=True)
class Toolset:
    """The tools a request offers, what their schemas cost in it, and the names of those left out.

    ``missed`` are those of them that the user added and has not been told about yet.
    """

    schemas: tuple[ToolSchema, ...] = ()
    tokens: int = 0
    left_out: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(schema.name for schema in self.schemas)


@dataclass(frozen=True, slots=True)
class Beside:
    """What goes with a question beside its files; ``news`` tells what became of the model's proposals."""

    tools: Toolset = field(default_factory=Toolset)
    news: tuple[Message, ...] = ()


NOTHING_BESIDE = Beside()


@dataclass(frozen=True, slots=True)
class Prepared:
    plan: Plan
    request: ChatRequest
    certificate: Certificate
    messages: tuple[Message, ...]  # what is new: hidden context, then the question
    files: tuple[FileStamp, ...] = ()  # everything the request shows of files, new or not
    ask: Ask | None = None  # what it was planned from, for the tool rounds that may follow
    turns: tuple[Turn, ...] = ()
    call: Call | None = None
    missed: tuple[str, ...] = ()  # tools that the user added and that there was no room for


@dataclass(frozen=True, slots=True)
class Means:
    """What a request is made for, and who counts it: whole, and message by message."""

    call: Call
    counter: TokenCounter
    sizer: Sizer


async def prepare(
    means: Means,
    history: History,
    question: Question,
    recalling: Recalling | None = None,
    beside: Beside = NOTHING_BESIDE,
) -> Prepared | Refused:
    """The request for ``question``, counted whole; or why there cannot be one.

    With ``recalling``, what the question needs of turns that left the window comes back with it.
    """
    call, counter, sizer = means.call, means.counter, means.sizer
    _check_text(question)
    system, asked = await sizer.messages(
        [Message("system", call.system), Message("user", question.text)]
    )
    turns = await sizer.turns(history.turns)
    book = ledger.read(ledger.window(turns, history.epoch), history.epoch)
    told = await sizer.messages(changes.notices(book, question.documents, question.missing))
    news = await sizer.messages(beside.news)
    ask = Ask(
        system=system,
        question=asked,
        tools=beside.tools.tokens,
        overhead=(await sizer.overhead()).request,
        notices=tuple(told),
        sent=tuple(news),
        pinned=frozenset(question.pinned),
    )
    offered = await _offers(sizer, call.budget, book.after(told), question.documents)
    linked = _linked(call, ask, book, question) if READER in beside.tools.names else _Linked()
    offered = [await linked.decided(sizer, offer, question.documents) for offer in offered]
    limits = call.budget
    for _ in range(CORRECTIONS):
        if recalling is None:
            plan = plan_context(limits, ask, turns, history.epoch, offered)
        else:
            plan = await planned(limits, ask, turns, offered, recalling)
        if isinstance(plan, OverBudget):
            return Refused(plan.needed, plan.available, refusal(plan))
        new = (*_messages(news), *_messages(plan.hidden), asked.message)
        request = _request(
            call, render(system.message, turns, plan.epoch, new, call.layout), beside.tools.schemas
        )
        counts = await counter.count_request(request)
        excess = counts.tokens[0] - limits.room
        if excess <= 0:
            request = _with_reply(request, call.budget, counts)
            plan = _explained(plan, ask, beside.tools, linked, request.max_tokens)
            plan = replace(plan, shares=question.shares)
            certificate = _certificate(counter, counts)
            files = _shown(turns, plan)
            missed = beside.tools.missed
            sized = tuple(turns)
            return Prepared(plan, request, certificate, new, files, ask, sized, call, missed)
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


async def prepare_round(
    means: Means,
    before: Prepared,
    rounds: Sequence[Sized],
    *,
    spare: int = 0,
    is_last: bool = False,
) -> Prepared | OverBudget:
    """The next request of the same turn: the last one and what was said since, if it fits.

    ``rounds`` are all of the turn's so far. At least ``spare`` tokens are left free. In the last one no tool may be
    called, though the schemas stay where they are.
    """
    call, counter = means.call, means.counter
    assert before.ask is not None
    sent = (*before.ask.sent, *before.plan.hidden)
    ask = replace(before.ask, notices=(), recalls=(), sent=sent, rounds=tuple(rounds))
    ask = replace(ask, holds=_pinned_in_window(before.plan))
    tools = before.request.tools
    limits = call.budget.less(spare)
    new = (*_messages(sent), ask.question.message, *_messages(rounds))
    for _ in range(CORRECTIONS):
        plan = plan_context(limits, ask, before.turns, before.plan.epoch, ())
        if isinstance(plan, OverBudget):
            return plan
        wire = render(ask.system.message, before.turns, plan.epoch, new, call.layout)
        request = _request(call, wire, tools)
        if is_last:
            request = replace(request, tool_choice="none")
        counts = await counter.count_request(request)
        excess = counts.tokens[0] - limits.room
        if excess <= 0:
            request = _with_reply(request, call.budget, counts)
            plan = _explained(plan, ask, Toolset(tools, ask.tools), _Linked(), request.max_tokens)
            plan = replace(plan, shares=before.plan.shares)
            certificate = _certificate(counter, counts)
            files = _shown(before.turns, plan, sent)
            return Prepared(plan, request, certificate, new, files, ask, before.turns, call)
        limits = limits.less(excess)
    return OverBudget(counts.tokens[0], limits.room, "rounds", ())


def _pinned_in_window(plan: Plan) -> tuple[str, ...]:
    """The pinned turns that the request shows where they were said, or in an earlier turn's context."""
    pins = (item for item in plan.items if item.kind == "pin" and item.fate == "kept")
    return tuple(pin.name for pin in pins if not pin.tokens)


def _request(call: Call, wire: Sequence[WireMessage], tools: tuple[ToolSchema, ...]) -> ChatRequest:
    return ChatRequest(
        model=call.model,
        messages=tuple(wire),
        max_tokens=max(1, call.budget.reply),
        temperature=call.profile.temperature,
        tools=tools,
        limit_name=call.limit_name,
    )


def _with_reply(request: ChatRequest, limits: Budget, counts: Counts) -> ChatRequest:
    """The answer may take what the prompt leaves, up to what the profile wants."""
    return replace(request, max_tokens=max(1, limits.reply_beside(counts.tokens[0])))


def _certificate(counter: TokenCounter, counts: Counts) -> Certificate:
    return Certificate(
        kind=counts.kind,
        tokenizer=counter.tokenizer.id,
        predicted=counts.tokens[0],
        template=counter.tokenizer.template,
    )


def _shown(turns: Sequence[Turn], plan: Plan, sent: Sequence[Sized] = ()) -> tuple[FileStamp, ...]:
    book = ledger.read(ledger.window(turns, plan.epoch), plan.epoch).after((*sent, *plan.hidden))
    return tuple(holding.stamp for holding in book.held.values())


def _messages(sized: Sequence[Sized]) -> tuple[Message, ...]:
    return tuple(one.message for one in sized)


# --- Linked documents: sent, or left to be read ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Linked:
    """Up to ``most`` of the ``free`` tokens each linked document that the model does not hold is sent whole."""

    paths: frozenset[str] = frozenset()
    free: int = 0
    most: int = 0

    async def decided(
        self, sizer: Sizer, offer: offers.FileOffer, documents: Sequence[Document]
    ) -> offers.FileOffer:
        """The offer, withheld where it takes more than that; its outline and summary stand for it."""
        path, tokens = offer.stamp.path, offer.full.tokens
        if path not in self.paths or tokens <= self.most:
            return offer
        (document,) = (one for one in documents if one.path == path)
        about = "\n".join(filter(None, (summarize(document.text).text, outline_of(document))))
        (outline,) = await sizer.messages([envelopes.omitted(offer.stamp, about)])
        reason = (
            f"linked, and its {tokens:,} tokens are over the {self.most:,} of {self.free:,} free"
            f" that a linked note may take; left to {READER}"
        )
        return replace(offer, outline=outline, withheld=reason)

    def explained(self, item: Item) -> Item:
        if item.kind != "file" or item.name not in self.paths or item.fate != "sent":
            return item
        numbers = f"linked, within the {self.most:,} of {self.free:,} free that it may take"
        return replace(item, reason=f"{item.reason}; {numbers}")


def _linked(call: Call, ask: Ask, book: ledger.Ledger, question: Question) -> _Linked:
    standing = sum(book.talk) + sum(carrier.sized.tokens for carrier in book.carriers)
    free = max(0, call.budget.high - ask.fixed - standing)
    paths = frozenset(question.linked) - book.held.keys()
    return _Linked(paths, free, floor(free * call.link_share))


# --- What people are told -------------------------------------------------------------------------


def _explained(plan: Plan, ask: Ask, tools: Toolset, linked: _Linked, reply: int) -> Plan:
    """The plan with the names of its tools, the reasons for linked documents, the news, and how long the answer
    may be.
    """
    items: list[Item] = []
    for item in plan.items:
        if item.kind == "tools":
            items.append(replace(item, reason=f"{', '.join(tools.names)}; {item.reason}"))
            if tools.left_out:
                over = f"over the {plan.budget.tools:,} tokens meant for tools"
                why = f"{over}: {', '.join(tools.left_out)}"
                items.append(Item("tools", f"{len(tools.left_out)} tools", 0, "omitted", why))
            continue
        if item.kind == "question":
            items += _news_items(ask)
        if item.kind == "reply" and reply > item.tokens:
            item = replace(item, reason=f"at least this much for the answer; here up to {reply:,}")
        items.append(linked.explained(item))
    return replace(plan, items=tuple(items), tools=tools.names)


def _news_items(ask: Ask) -> list[Item]:
    told = [one.tokens for one in ask.sent if isinstance(one.message.carries, ProposalNews)]
    why = "what became of proposed edits"
    items = [Item("news", "proposals", tokens, "sent", why, tokens) for tokens in told]
    for one in ask.sent:
        if isinstance(one.message.carries, Remembered):
            count = len(one.message.carries.ids)
            name = f"{count:,} remembered fact{'s' * (count != 1)}"
            why = "of this folder's memory; they bear on the question"
            items.append(Item("recall", name, one.tokens, "sent", why, one.tokens))
    return items
