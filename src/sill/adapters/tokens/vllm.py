"""vLLM's server tokenizes texts and whole chats."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...core.certificate import Counts, Tokenizer
from ...core.request import ChatRequest
from ...ports import Overhead
from ._http import PROBE_SECONDS, Endpoint, Silence, ask
from ._wire import seconds_for, sound, sound_body, whole_number
from .estimate import Estimate
from .overhead import measure_overhead

AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Found:
    """What a vLLM server said about itself."""

    tokenizer: Tokenizer
    window: int | None
    model: str


def recognise(model: str, answer: dict[str, Any]) -> Found:
    vocabulary = hashlib.sha256(str(answer["tokens"]).encode()).hexdigest()[:16]
    return Found(
        tokenizer=Tokenizer(id="vllm:" + vocabulary, kind="exact"),
        window=whole_number(answer.get("max_model_len"), least=1),
        model=model,
    )


class Vllm:
    """Counts at the server. Texts are counted without a beginning-of-text token, chats with what the template adds."""

    def __init__(self, endpoint: Endpoint, found: Found, guess: Estimate | None = None) -> None:
        self.tokenizer = found.tokenizer
        self.window = found.window
        self._endpoint = endpoint
        self._model = found.model
        self._guess = guess or Estimate()
        self._overhead: Overhead | None = None

    async def count(self, texts: Sequence[str]) -> Counts:
        limit = asyncio.Semaphore(AT_ONCE)
        seconds = seconds_for(texts)

        async def one(text: str) -> int | None:
            if not text:
                return 0
            body = {"model": self._model, "prompt": sound(text), "add_special_tokens": False}
            async with limit:
                return await self._tokenize(body, seconds)

        try:
            async with asyncio.timeout(seconds):
                numbers = await asyncio.gather(*(one(text) for text in texts))
        except TimeoutError:
            return await self._guess.count(texts)
        counted = [number for number in numbers if number is not None]
        if len(counted) < len(texts):
            return await self._guess.count(texts)
        return Counts(tuple(counted), "exact")

    async def count_request(self, request: ChatRequest) -> Counts:
        body = request.body()
        seconds = seconds_for(message.content or "" for message in request.messages)
        tokens = await self._count_chat(body, seconds)
        if tokens is None:
            return await self._guess.count_request(request)
        return Counts((tokens,), "exact")

    async def overhead(self) -> Overhead:
        """Measured once on the server's own template."""
        if self._overhead is None:
            word = (await self.count(["word"])).tokens[0]

            async def total(messages: list[dict[str, Any]]) -> int | None:
                return await self._count_chat({"messages": messages}, PROBE_SECONDS)

            self._overhead = await measure_overhead(total, word)
        return self._overhead or await self._guess.overhead()

    async def _count_chat(self, body: dict[str, Any], seconds: float) -> int | None:
        chat = {"model": self._model, "messages": sound_body(body["messages"])}
        if body.get("tools"):
            chat["tools"] = sound_body(body["tools"])
        return await self._tokenize(chat | {"add_generation_prompt": True}, seconds)

    async def _tokenize(self, body: dict[str, Any], seconds: float) -> int | None:
        answer = await ask(self._endpoint, "POST", "/tokenize", body, seconds)
        return None if isinstance(answer, Silence) else whole_number(answer.get("count"))
