"""Edits asked of several models: when one does not answer, the next one is asked, as in a chat."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..errors import LocalModelError, ProviderError
from .edit import Asking, Editor, EditReply, Wish
from .failover import Failover


@dataclass(slots=True)
class Editing:
    """Edits of one workspace. ``editor_at`` makes the editor of a place once that is open."""

    failover: Failover
    editor_at: Callable[[int], Editor]
    _editors: dict[int, Editor] = field(default_factory=dict)

    async def ask(
        self, chat: str | None, wish: Wish, stop: asyncio.Event | None = None
    ) -> EditReply:
        """As ``Editor.ask``; each model plans anew for itself, and what was tried in vain leaves no turn."""
        asking = Asking(chat, wish, stop)
        failed: EditReply | None = None  # how the first one failed
        numbers = self.failover.order(chat)
        for number in numbers:
            if failed is not None and stop is not None and stop.is_set():
                break
            place = self.failover.places[number]
            try:
                await place.ready()
            except (ProviderError, LocalModelError) as error:
                self.failover.missed(number)
                failed = failed or EditReply("upstream_error", str(error))
                asking.notices = (*asking.notices, str(error))
                continue
            if number != self.failover.current:
                told = f"{place.name} is asked {'instead' if number else 'again'}"
                asking.notices, self.failover.current = (*asking.notices, told), number
            asking.is_last, asking.has_learned = number == numbers[-1], False
            reply = await self._editor(number).answer(asking)
            if reply.error is not None:
                self.failover.missed(number)
                barred = () if failed else self.failover.barred
                asking.notices = (*asking.notices, reply.message, *barred)
                failed = failed or reply
                continue
            if failed is not None and reply.outcome in ("over_budget", "over_limit"):
                asking.notices = (*asking.notices, f"{place.name}: {reply.message}")
                continue
            if reply.outcome in ("proposed", "nothing", "invalid", "truncated"):
                self.failover.answered(number, reply.chat)
            return reply
        assert failed is not None
        return replace(failed, error=None, notices=asking.notices)

    def _editor(self, number: int) -> Editor:
        if number not in self._editors:
            self._editors[number] = self.editor_at(number)
        return self._editors[number]
