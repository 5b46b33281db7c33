"""Completions and suggestions of several models: when one does not answer, the next one is asked, as in a chat."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from ..errors import LocalModelError, ProviderError
from .complete import Prompt, Said, Spot, Suggested, Writer
from .failover import Failover


@dataclass(frozen=True, slots=True)
class Writing:
    """``writer_at`` makes the writer of a place once that is open, for what is known of it by now."""

    failover: Failover
    writer_at: Callable[[int], Awaitable[Writer]]
    prompt: Prompt

    async def complete(self, spot: Spot, stop: asyncio.Event | None = None) -> Suggested:
        """As ``Writer.complete``; each model plans anew for itself."""
        return await self._asked(lambda writer: writer.complete(spot, stop), stop)

    async def suggest(
        self,
        instruction: str,
        spot: Spot,
        conversation: Sequence[Said] = (),
        stop: asyncio.Event | None = None,
    ) -> Suggested:
        """As ``Writer.suggest``; each model plans anew for itself."""
        return await self._asked(
            lambda writer: writer.suggest(instruction, spot, conversation, stop), stop
        )

    async def _asked(
        self, ask: Callable[[Writer], Awaitable[Suggested]], stop: asyncio.Event | None
    ) -> Suggested:
        failed: Suggested | None = None  # how the first one failed
        notices: tuple[str, ...] = ()
        for number in self.failover.order(None):
            if failed is not None and stop is not None and stop.is_set():
                break
            place = self.failover.places[number]
            try:
                await place.ready()
            except (ProviderError, LocalModelError) as error:
                self.failover.missed(number)
                failed = failed or Suggested("upstream_error", message=str(error))
                notices = (*notices, str(error))
                continue
            if number != self.failover.current:
                notices = (*notices, f"{place.name} is asked {'instead' if number else 'again'}")
                self.failover.current = number
            reply = await ask(await self.writer_at(number))
            notices = (*notices, *reply.notices)
            if reply.error is not None:
                self.failover.missed(number)
                barred = () if failed else self.failover.barred
                notices = (*notices, reply.message, *barred)
                failed = failed or reply
                continue
            if failed is not None and reply.outcome in ("over_budget", "over_limit"):
                notices = (*notices, f"{place.name}: {reply.message}")
                continue
            if reply.outcome in ("complete", "nothing", "truncated"):
                self.failover.answered(number, None)
            return replace(reply, notices=notices)
        assert failed is not None
        return replace(failed, notices=notices, error=None)
