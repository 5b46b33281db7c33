"""Asking an endpoint, once, whether it counts tokens itself."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import llamacpp, vllm
from ._http import PROBE_SECONDS, Endpoint, Silence, ask
from ._wire import whole_number

YES_SECONDS = 3600.0
NO_SECONDS = 3600.0
LATER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class CannotCount:
    """The endpoint has no tokenizer to ask (``later``: it did not say; ask again after a while)."""

    later: bool


Answer = llamacpp.Found | vllm.Found | CannotCount


class Probes:
    """What endpoints answered, each until its time is up. A probe takes at most ``seconds``."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, seconds: float = PROBE_SECONDS
    ) -> None:
        self._clock = clock
        self._seconds = seconds
        self._answers: dict[tuple[str, str], tuple[Answer, float]] = {}

    async def ask(self, endpoint: Endpoint, model: str) -> Answer:
        """One probe per endpoint and model; a plain no and a yes are remembered long, silence briefly."""
        key = (endpoint.root, model)
        if key in self._answers:
            answer, until = self._answers[key]
            if self._clock() < until:
                return answer
        try:
            async with asyncio.timeout(self._seconds):
                answer = await probe(endpoint, model)
        except TimeoutError:
            answer = CannotCount(later=True)
        self._answers[key] = (answer, self._clock() + _lifetime(answer))
        return answer

    def forget(self) -> None:
        self._answers.clear()


async def probe(endpoint: Endpoint, model: str) -> Answer:
    """One call that llama.cpp and vLLM both understand, each its own part of it."""
    several = [llamacpp.SAMPLE, llamacpp.BETWEEN, "."]
    answer = await _tokenize(endpoint, model, several)
    if isinstance(answer, Silence) and answer.status in {400, 422}:
        answer = await _tokenize(endpoint, model, llamacpp.SAMPLE)  # takes no lists
    match answer:
        case Silence(later=later):
            return CannotCount(later)
        case {"count": count, "tokens": [*tokens]}:
            # What does not count its own tokens does not count ours.
            is_sound = bool(tokens) and whole_number(count) == len(tokens)
            return vllm.recognise(model, answer) if is_sound else CannotCount(later=False)
        case {"tokens": [*tokens]} if tokens and all(type(token) is int for token in tokens):
            batches = tokens.count(llamacpp.BETWEEN) == 1
            if batches:
                tokens = tokens[: tokens.index(llamacpp.BETWEEN)]
            return await llamacpp.recognise(endpoint, tokens, batches)
        case _:
            return CannotCount(later=False)


async def _tokenize(endpoint: Endpoint, model: str, content: Any) -> dict[str, Any] | Silence:
    body = {"model": model, "content": content, "prompt": llamacpp.SAMPLE}
    return await ask(endpoint, "POST", "/tokenize", body)


def _lifetime(answer: Answer) -> float:
    if isinstance(answer, CannotCount):
        return LATER_SECONDS if answer.later else NO_SECONDS
    return YES_SECONDS
