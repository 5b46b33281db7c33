"""Messages and their sizes: each text is counted once, with the overhead its role brings."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core import masks, parallel
from ..core.certificate import Counts
from ..core.messages import Message, Sized, ToolCalls, Turn
from ..core.render import Layout, countable, overhead, settled
from ..ports import Overhead, StoredTurn, TokenCounter

Count = Callable[[Sequence[str]], Awaitable[Counts]]


@dataclass(slots=True)
class Sizer:
    """Sizes for one counter and one layout; turns that were sized stay sized.

    ``count`` is the counter's own or one that remembers what it has counted.
    """

    counter: TokenCounter
    count: Count
    layout: Layout
    _turns: dict[str, Turn] = field(default_factory=dict)
    _overhead: Overhead | None = None

    async def messages(self, messages: Iterable[Message]) -> list[Sized]:
        """Each message with what it adds to a request, in one batch."""
        listed = list(messages)
        beside = await self.overhead()
        roles = beside.message
        texts = [countable(m, self.layout) for m in listed]
        others = self._quoted(listed, beside)
        counts = await self.count([*texts, *others.values()])
        sizes = list(counts.tokens[: len(texts)])
        for place, tokens in zip(others, counts.tokens[len(texts) :], strict=True):
            sizes[place] = max(sizes[place], tokens)
        return [
            Sized(
                message,
                tokens
                + overhead(message, roles, self.layout)
                + beside.tool_call * number_of_calls(message),
            )
            for message, tokens in zip(listed, sizes, strict=True)
        ]

    def _quoted(self, listed: Sequence[Message], beside: Overhead) -> dict[int, str]:
        """What some of the messages may be billed as instead, by their place."""
        if not beside.quotes_parallel:
            return {}
        single = parallel.alone(listed)
        others = {place: parallel.quoted(m, single) for place, m in enumerate(listed)}
        return {place: text for place, text in others.items() if text is not None}

    async def by_message(self, messages: Iterable[Message]) -> Mapping[Message, Sized]:
        return {sized.message: sized for sized in await self.messages(dict.fromkeys(messages))}

    async def turns(self, stored: Sequence[StoredTurn]) -> list[Turn]:
        """Finished turns as they are rendered, in one batch for those not sized yet."""
        new = [turn for turn in stored if turn.id not in self._turns]
        bodies = [settled(turn.messages) for turn in new]
        stubs = [masks.stubs(body) for body in bodies]
        flat = iter(await self.messages(message for body in bodies for message in body))
        short = iter(await self.messages(stub for some in stubs for _, stub in some))
        for turn, body, some in zip(new, bodies, stubs, strict=True):
            sized = tuple(next(flat) for _ in body)
            self._turns[turn.id] = Turn(turn.id, sized, tuple((at, next(short)) for at, _ in some))
        return [self._turns[turn.id] for turn in stored]

    async def overhead(self) -> Overhead:
        if self._overhead is None:
            self._overhead = await self.counter.overhead()
        return self._overhead


def number_of_calls(message: Message) -> int:
    return len(message.carries.calls) if isinstance(message.carries, ToolCalls) else 0
