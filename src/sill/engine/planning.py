"""A question with all that goes with it: what the chat was told to keep to, tools, news of proposals."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..core import envelopes
from ..core.messages import Message
from ..core.plan import Plan
from ..core.usage import plan_from_json
from ..ports import History, Store, TokenCounter
from .compact import Carrying
from .events import Refused
from .notes import Asked, Notebook
from .offering import Toolkit
from .prepare import Beside, Call, Means, Prepared, Question, Toolset, prepare
from .proposals import as_told, fates, untold
from .recall import Recalling, Recollection
from .sizing import Sizer


@dataclass(frozen=True, slots=True)
class Desk:
    """What planning a question takes."""

    store: Store
    call: Call
    counter: TokenCounter
    sizer: Sizer
    recollection: Recollection | None = None
    toolkit: Toolkit | None = None
    carrying: Carrying | None = None  # without it, what leaves the window is not summed up
    plans: Mapping[str, Plan] = field(default_factory=dict)  # of turns that need not be looked up
    notebook: Notebook | None = None  # without it, nothing that is remembered comes along


async def planned_question(
    desk: Desk, chat: str | None, question: Question, history: History
) -> Prepared | Refused:
    """What asking this would send.

    Shares that were set for the chat hold, and its tools stay the same until the window starts a new epoch. Where
    there is no room for tools, none are offered.
    """
    last = await last_plan(desk, history)
    question = remembering(question, last, desk.call)
    call = with_shares(desk.call, question.shares)
    means = Means(call, desk.counter, desk.sizer)
    told = await _news(desk.store, chat, history) if chat is not None else ()
    recalling = None
    if desk.recollection is not None and chat is not None:
        recalling = Recalling(
            desk.recollection, chat, question.text, history, desk.sizer, desk.carrying
        )

    async def ready(tools: Toolset) -> Prepared | Refused:
        async def prepared(facts: tuple[Message, ...]) -> Prepared | Refused:
            with_it = Beside(tools, (*told, *facts))
            return await prepare(means, history, question, recalling, with_it)

        if desk.notebook is None:
            return await prepared(())
        asked = Asked(question.text, history, call, desk.sizer)
        return await desk.notebook.carried(asked, prepared)

    if desk.toolkit is None:
        return await ready(Toolset())
    sticky = last.tools if last is not None else ()
    same = await desk.toolkit.choice(call, question.text, sticky)
    found = await ready(same)
    if isinstance(found, Refused):
        return await ready(Toolset())
    if sticky and found.plan.epoch.number != history.epoch.number:
        fresh = await desk.toolkit.choice(call, question.text)
        if fresh.names != same.names:
            again = await ready(fresh)
            # With fewer tools the window may not have to change at all: then neither do the tools.
            if isinstance(again, Prepared) and again.plan.epoch.number != history.epoch.number:
                return again
    return found


async def _news(store: Store, chat: str, history: History) -> tuple[Message, ...]:
    decided = await untold(store, chat, history)
    if not (told := fates(decided)):
        return ()
    return (envelopes.news("\n".join(told), tuple(as_told(one) for one in decided)),)


async def last_plan(desk: Desk, history: History) -> Plan | None:
    """Of the last turn that the model remembers."""
    if not history.turns:
        return None
    id = history.turns[-1].id
    if id in desk.plans:
        return desk.plans[id]
    turn = await desk.store.turn(id)
    if turn is None or not turn.plan:
        return None
    try:
        return plan_from_json(turn.plan)
    except (ValueError, KeyError, TypeError):
        return None  # of another version of the program


def remembering(question: Question, last: Plan | None, call: Call) -> Question:
    """The question with the shares its chat was given before, where nobody asks for others now."""
    before = dict(last.shares) if last is not None else {}
    shares = before | dict(call.told) | dict(question.shares)
    return replace(question, shares=tuple(shares.items()))


def with_shares(call: Call, shares: tuple[tuple[str, float], ...]) -> Call:
    if not shares:
        return call
    known = {name: part for name, part in shares if hasattr(call.profile.shares, name)}
    profile = replace(call.profile, shares=replace(call.profile.shares, **known))
    return replace(call, profile=profile)
