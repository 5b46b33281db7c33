"""Counting on this machine, with a packaged vocabulary and a known way of billing."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ...core.certificate import Counts, Kind, Tokenizer, weakest
from ...core.cuts import blocks
from ...core.families import PROVED, Family
from ...core.formats import billed, chat_of, message_overhead
from ...core.likeness import Likeness
from ...core.request import ChatRequest
from ...ports import Overhead
from ._vocabularies import Count, vocabulary
from ._wire import sound
from .estimate import Estimate

SECONDS = 2.0
AT_ONCE = 1_000_000  # characters in one call of the library: under a second even for one long run
INLINE = 20_000  # characters that are counted right here; more go to a thread
WATCHED = (
    500_000  # characters that a busy machine may not be done with in time; fewer are always counted
)


def local_counter(family: Family, ratio: float = 1.0) -> "Local | None":
    """A counter for the family, or None if its vocabulary cannot be had; ``ratio`` scales an estimate."""
    plain = vocabulary(family.vocabulary)
    if plain is None:
        return None
    count = plain.count
    if (likeness := family.likeness) is not None:
        count = partial(_likened, plain.count, likeness)
    # Only plain counts add up: what is scaled is rounded up, piece by piece.
    cuts = family.vocabulary in PROVED and likeness is None
    if family.kind == "estimate" and ratio != 1.0:
        count, cuts = partial(_scaled, count, ratio), False
    return Local(family, count, cuts=cuts)


def _likened(known: Count, likeness: Likeness, text: str) -> int:
    return likeness.tokens(text, known(text))


def _scaled(count: Count, ratio: float, text: str) -> int:
    return math.ceil(count(text) * ratio)


class Local:
    """Counts texts exactly with the family's vocabulary, requests with the family's format."""

    def __init__(
        self, family: Family, tokens_of: Count, seconds: float = SECONDS, *, cuts: bool = False
    ) -> None:
        stands_in = "" if family.likeness is None else f"~{family.name}"
        self.tokenizer = Tokenizer(
            id=family.vocabulary + stands_in,
            kind=family.kind,
            template=family.style,
            margin=family.margin if family.kind == "estimate" else 0.0,
        )
        self.cuts = cuts
        self._family = family
        self._tokens_of = tokens_of
        self._seconds = seconds

    async def count(self, texts: Sequence[str]) -> Counts:
        size = sum(map(len, texts))
        if size > WATCHED:
            return await self._in_time(
                partial(self._count, texts), partial(self._count, texts, in_bytes)
            )
        if size > INLINE:
            return await asyncio.to_thread(self._count, texts)
        # Nearly every call is this one. What is no Unicode text raises, and is counted with more care.
        try:
            return Counts(tuple(map(self._tokens_of, texts)), self.tokenizer.kind)
        except Exception:
            return self._count(texts)

    async def count_request(self, request: ChatRequest) -> Counts:
        return await self.count_body(request.body())

    async def count_body(self, body: Mapping[str, Any]) -> Counts:
        """The whole request, given as the JSON object of a chat completion."""
        if _size(body) > WATCHED:
            return await self._in_time(
                partial(self._count_body, body), partial(self._count_body, body, in_bytes)
            )
        return await asyncio.to_thread(self._count_body, body)

    async def overhead(self) -> Overhead:
        roles, request, call = message_overhead(self._family.style, self._tokens_of)
        return Overhead(
            message=dict(roles),
            request=request,
            tool_call=call,
            quotes_parallel=self._family.style in ("gpt-3.5", "gpt-4", "gpt-4o"),
        )

    async def _in_time(self, exact: Callable[[], Counts], bound: Callable[[], Counts]) -> Counts:
        """What ``exact`` comes to, or ``bound`` if the machine is too busy to tell in time."""
        counting = asyncio.ensure_future(asyncio.to_thread(exact))
        done, _ = await asyncio.wait((counting,), timeout=self._seconds)
        return counting.result() if done else bound()

    def _count(self, texts: Sequence[str], measured: "Bounded | None" = None) -> Counts:
        measured = measured or self._measured()
        counted = [measured(text) for text in texts]
        kind = weakest(self._family.kind, *(kind for _, kind in counted))
        return Counts(tuple(tokens for tokens, _ in counted), kind)

    def _count_body(self, body: Mapping[str, Any], measured: "Bounded | None" = None) -> Counts:
        measured = measured or self._measured()
        kinds: list[Kind] = [self._family.kind]

        def measure(text: str) -> int:
            tokens, kind = measured(text)
            kinds.append(kind)
            return tokens

        try:
            bill = billed(chat_of(body), self._family.style, measure)
        except RecursionError:  # a schema that contains itself
            return Counts((Estimate().body_tokens(body),), "estimate")
        return Counts((bill.tokens,), weakest(bill.kind, *kinds))

    def _measured(self) -> "Bounded":
        until = time.monotonic() + self._seconds
        return lambda text: bounded_count(text, self._tokens_of, until)


def _size(body: Mapping[str, Any]) -> int:
    """Characters of its messages, about."""
    messages = body.get("messages")
    listed = messages if isinstance(messages, list | tuple) else ()
    said = [message.get("content") for message in listed if isinstance(message, Mapping)]
    return sum(len(text if isinstance(text, str) else str(text)) for text in said)


Bounded = Callable[[str], tuple[int, Kind]]


def bounded_count(text: str, tokens_of: Count, until: float) -> tuple[int, Kind]:
    """Tokens of ``text``; what time does not allow to count is bounded by its bytes."""
    text = sound(text)
    if len(text) <= AT_ONCE:
        return _in_time(text, tokens_of, until if len(text) > WATCHED else math.inf)
    total, kinds = 0, set[Kind]()
    for block in blocks(text, AT_ONCE // 2):
        tokens, kind = (
            _in_time(block, tokens_of, until) if len(block) <= AT_ONCE else in_bytes(block)
        )
        total += tokens
        kinds.add(kind)
    return total, weakest(*kinds)


def in_bytes(text: str) -> tuple[int, Kind]:
    """Every token of these vocabularies stands for at least one byte, so bytes are a true bound."""
    return len(sound(text).encode()), "bound"


def _in_time(text: str, tokens_of: Count, until: float) -> tuple[int, Kind]:
    if time.monotonic() >= until:
        return in_bytes(text)
    try:
        return tokens_of(text), "exact"
    except Exception:  # a foreign library; bytes are always right enough
        return in_bytes(text)
