"""Text between a prefix and a suffix: llama.cpp's ``/infill`` where the model can, plain completion elsewhere."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from ...core.request import Json, encode
from ...errors import ProviderError
from ...ports import ModelEvent
from .assemble import Assembly
from .decode import Answer
from .exchange import Exchange, stream_reply
from .transport import AttemptHook, Transport

Route = Literal["infill", "completions"]
_NOT_THERE = (404, 405, 501)


@dataclass(frozen=True, slots=True)
class Gap:
    """What stands before and after the text that is wanted."""

    prefix: str
    suffix: str = ""
    max_tokens: int = 64
    temperature: float | None = None
    stop: tuple[str, ...] = ()


class Completer:
    """Remembers which route the endpoint has, so a missing one is asked for once."""

    def __init__(
        self, transport: Transport, model: str, on_attempt: AttemptHook | None = None
    ) -> None:
        self._transport = transport
        self._model = model
        self._on_attempt = on_attempt
        self._routes: list[Route] = ["infill", "completions"]

    @property
    def routes(self) -> tuple[Route, ...]:
        """Those not yet known to be missing, best first."""
        return tuple(self._routes)

    async def stream(self, gap: Gap) -> AsyncGenerator[ModelEvent, None]:
        """The text for the gap as it arrives, closed by one ``Ended``; see ``ports.Model``.

        A completion that used up ``max_tokens`` ends ``partial`` for ``length``, which is usual here.
        """
        while True:
            route = self._routes[0]
            try:
                async with aclosing(self._stream_by(route, gap)) as events:
                    async for event in events:
                        yield event
                return
            except ProviderError as error:
                if error.status not in _NOT_THERE or len(self._routes) == 1:
                    raise
                self._routes.remove(route)

    def _stream_by(self, route: Route, gap: Gap) -> AsyncGenerator[ModelEvent, None]:
        endpoint = self._transport.endpoint
        is_infill = route == "infill"
        return stream_reply(
            Exchange(
                f"{endpoint.root}/infill" if is_infill else f"{endpoint.api}/completions",
                encode(infill_body(gap) if is_infill else completion_body(gap, self._model)),
                self._model,
                Answer(),
                InfillAssembly() if is_infill else Assembly(),
            ),
            self._transport,
            self._on_attempt,
        )


def infill_body(gap: Gap) -> Json:
    body: Json = {
        "input_prefix": gap.prefix,
        "input_suffix": gap.suffix,
        "n_predict": gap.max_tokens,
        "cache_prompt": True,
    }
    return {**body, **_common(gap)}


def completion_body(gap: Gap, model: str) -> Json:
    """The suffix is left out: most servers refuse or ignore it, and the model would not see it."""
    body: Json = {"model": model, "prompt": gap.prefix, "max_tokens": gap.max_tokens}
    return {**body, **_common(gap), "stream_options": {"include_usage": True}}


def _common(gap: Gap) -> Json:
    body: Json = {}
    if gap.temperature is not None:
        body["temperature"] = gap.temperature
    if gap.stop:
        body["stop"] = list(gap.stop)
    return {**body, "stream": True}


class InfillAssembly(Assembly):
    """llama.cpp's own stream: ``content`` in every chunk, ``stop`` and its kind in the last."""

    def add(self, chunk: object) -> list[ModelEvent]:
        if not isinstance(chunk, Mapping) or "content" not in chunk:
            return super().add(chunk)
        finish = None
        if chunk.get("stop") is True:
            kinds = {"eos": "stop", "word": "stop", "limit": "length"}
            finish = kinds.get(str(chunk.get("stop_type")), "unknown")
        choice = {"text": chunk["content"], "finish_reason": finish}
        return super().add({"choices": [choice], "timings": chunk.get("timings")})
