"""A question on its way: what it has in the store, over all the tries it takes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from ..core.messages import Epoch
from ..core.usage import traced
from ..ports import Closing, History, Opening, Store
from .prepare import Question
from .streams import is_interrupt

INTERRUPTED = "the server was stopped; what came is kept"


@dataclass(slots=True)
class Asking:
    """At most one turn is stored of it: the last one that was begun, if it was not taken back.

    A turn stays open when its try ends, with how it is to be closed, because another try may follow.
    """

    store: Store
    workspace: str
    question: Question
    chat: str | None  # None: a new one when the first turn is begun
    stop: asyncio.Event | None = None
    turn: str | None = None  # the open one
    closing: Closing | None = None
    vain: tuple[str, ...] = ()  # turns that were taken back; the ledger has what they cost
    is_new: bool = False  # the chat was made for this question

    @property
    def turns(self) -> tuple[str, ...]:
        """All of them, for what the question has cost so far."""
        return self.vain if self.turn is None else (*self.vain, self.turn)

    @property
    def place(self) -> tuple[str, str]:
        """The chat and the turn that is open."""
        assert self.chat is not None
        assert self.turn is not None
        return self.chat, self.turn

    @property
    def is_stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    @property
    def is_interrupted(self) -> bool:
        return is_interrupt(self.stop)

    async def begin(self, opening: Opening) -> tuple[str, str]:
        """The chat and the turn that is open in it now, in place of the one before."""
        await self.take_back()
        if self.chat is None:
            self.chat = await self.store.new_chat(self.workspace)
            self.is_new = True
        plan = traced(opening.plan, self.question.trace)
        opening = replace(opening, instead_of=self.question.instead_of, plan=plan)
        self.turn = await self.store.begin(self.chat, opening)
        return self.chat, self.turn

    async def take_back(self) -> None:
        """As if the open turn had never been begun."""
        if self.turn is not None:
            turn, self.turn, self.closing = self.turn, None, None
            self.vain = (*self.vain, turn)
            await self.store.discard(turn)

    async def close(self) -> None:
        """Nothing follows: the open turn is finished; a chat that was made for nothing is deleted."""
        chat, turn, closing = self.chat, self.turn, self.closing
        is_empty, self.is_new = self.is_new and turn is None, False
        if turn is not None and closing is not None:
            self.turn = None
            if self.is_interrupted and closing.status == "cancelled":
                closing = replace(closing, status="interrupted", outcome=INTERRUPTED)
            await asyncio.shield(self.store.finish(turn, closing))
        elif is_empty and chat is not None:
            self.chat = None
            await asyncio.shield(self.store.delete_chat(chat))


async def history_for(store: Store, chat: str | None, question: Question) -> History:
    """What the question is planned from: the chat so far, or what came before the turn it stands beside."""
    if chat is None:
        return History((), Epoch())
    if question.instead_of is not None:
        return await store.history_at(question.instead_of)
    return await store.history(chat)


@asynccontextmanager
async def closed(asking: Asking) -> AsyncGenerator[Asking, None]:
    """However it ends, what is left of it in the store is in order."""
    try:
        yield asking
    finally:
        await asking.close()
