"""Remembered facts on their way into a question: looked up, ranked, fitted into their share."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ..core.messages import Epoch, Message
from ..core.notes import Fact, News, bearing_on, held, news, room_for_facts, told
from ..ports import History, Store
from .events import Refused
from .prepare import Call, Prepared
from .sizing import Sizer

Preparing = Callable[[tuple[Message, ...]], Awaitable[Prepared | Refused]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, and who can count for the model that it goes to."""

    text: str
    history: History
    call: Call
    sizer: Sizer

    @property
    def before(self) -> str:
        """What was asked last."""
        for turn in reversed(self.history.turns[-1:]):
            for message in turn.messages:
                if message.role == "user" and message.carries is None:
                    return message.text
        return ""


@dataclass(frozen=True, slots=True)
class Notebook:
    """What is remembered of one workspace; ``is_there`` says whether a document still exists."""

    store: Store
    workspace: str
    is_there: Callable[[str], bool] = lambda path: True

    async def carried(self, asked: Asked, prepare: Preparing) -> Prepared | Refused:
        """The request with the facts that bear on the question, each once in a window.

        They are never the reason why a question does not fit. If the window is evicted for it, what left with it
        and is wanted goes out again.
        """
        facts = await self._facts()
        epoch = asked.history.epoch
        message = await self._message(asked, facts, epoch)
        if message is None:
            found = await prepare(())
        elif isinstance(found := await prepare((message,)), Refused):
            return await prepare(())
        if isinstance(found, Refused) or found.plan.epoch == epoch:
            return found
        again = await self._message(asked, facts, found.plan.epoch)
        if again is None or again == message:
            return found
        fuller = await prepare((again,))
        return found if isinstance(fuller, Refused) else fuller

    async def _facts(self) -> list[Fact]:
        return [
            Fact(note.id, note.text)
            for note in await self.store.notes(self.workspace)
            if not note.document or self.is_there(note.document)
        ]

    async def _message(self, asked: Asked, facts: Sequence[Fact], epoch: Epoch) -> Message | None:
        turns = ((turn.id, turn.messages) for turn in asked.history.turns)
        shown = held(turns, epoch)
        texts = [fact.text for fact in facts]
        wanted = [facts[at] for at in bearing_on(texts, asked.text, asked.before)] if texts else []
        found = news(facts, wanted, shown)
        if not found.facts and not found.withdrawn:
            return None
        return await _fitted(found, asked)


async def _fitted(found: News, asked: Asked) -> Message | None:
    """As many facts as fit their share, the best first; corrections in any case."""
    room = room_for_facts(asked.call.budget.room)
    counts = await asked.sizer.count([fact.text for fact in found.facts])
    chosen = list(found.facts[: found.corrections])
    spent = sum(counts.tokens[: found.corrections])
    for fact, tokens in zip(
        found.facts[found.corrections :], counts.tokens[found.corrections :], strict=True
    ):
        if spent + tokens <= room:
            chosen.append(fact)
            spent += tokens
    while True:
        if not chosen and not found.withdrawn:
            return None
        message = told(chosen, found.withdrawn)
        (sized,) = await asked.sizer.messages([message])
        if sized.tokens <= room or len(chosen) <= found.corrections:
            return message
        chosen.pop()
