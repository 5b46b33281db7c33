"""What utterances mean, as vectors that are made beside the conversation."""

import asyncio
import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import Any

from ..core.memory import Memory
from ..core.recall import Closeness, Query
from ..errors import SillError
from ..ports import Embedder

BATCH = 32
LONGEST = 1_000  # characters of an utterance that are embedded


@dataclass(slots=True)
class Vectors:
    """One vector of length 1 for each utterance of a memory, as far as they are made."""

    embedder: Embedder
    made: list[list[float]] = field(default_factory=list)
    _lengths: list[float] = field(default_factory=list)  # of each with the next one added
    _matrix: Any = None  # the same for numpy
    _asked: tuple[str, list[float]] | None = None  # one question is looked for more than once
    _task: asyncio.Task[None] | None = None

    async def closeness(self, memory: Memory, asked: Query) -> Closeness | None:
        """How close the question is to each utterance; None while some have no vector yet."""
        if not memory.said:
            return None
        if len(self.made) < len(memory.said):
            self._start(memory)
            return None
        if self._asked is None or self._asked[0] != asked.text:
            try:
                (vector,) = await self.embedder.embed([asked.text])
            except SillError:
                return None  # by words, then
            self._asked = asked.text, _unit(vector)
        alone = self._products(self._asked[1])
        following = [*alone[1:], 0.0]
        for at in range(len(self._lengths), len(self.made)):
            self._lengths.append(self._length_with_next(at))
        # The vector of two utterances together is their sum, brought to length 1.
        return Closeness(
            alone,
            [
                (one + two) / length
                for one, two, length in zip(alone, following, self._lengths, strict=True)
            ],
        )

    async def settled(self) -> None:
        """Until all that can be made is made."""
        if self._task is not None:
            await self._task

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def _start(self, memory: Memory) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._make(memory))

    async def _make(self, memory: Memory) -> None:
        # The last vector has no next one yet; its sum is made anew when there is.
        del self._lengths[-1:]
        while len(self.made) < len(memory.said):
            part = memory.said[len(self.made) : len(self.made) + BATCH]
            texts = [f"{one.speaker}: {one.text}"[:LONGEST] for one in part]
            try:
                vectors = await self.embedder.embed(texts)
            except SillError:
                return  # tried again with the next question
            self.made += [_unit(vector) for vector in vectors]

    def _products(self, vector: Sequence[float]) -> list[float]:
        """Of each made vector with this one."""
        try:
            import numpy
        except ImportError:  # an embedder at an endpoint needs no numpy
            return [sum(map(mul, one, vector)) for one in self.made]
        if self._matrix is None or len(self._matrix) != len(self.made):
            self._matrix = numpy.array(self.made, dtype=numpy.float32)
        products: list[float] = (self._matrix @ numpy.array(vector, dtype=numpy.float32)).tolist()
        return products

    def _length_with_next(self, at: int) -> float:
        if at + 1 >= len(self.made):
            return 1.0
        both = zip(self.made[at], self.made[at + 1], strict=True)
        return math.sqrt(sum((one + two) ** 2 for one, two in both)) or 1.0


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
