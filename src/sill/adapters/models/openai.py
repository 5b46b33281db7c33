"""Any server that speaks OpenAI's chat completions: llama.cpp, vLLM, OpenRouter, OpenAI itself."""

from collections.abc import AsyncGenerator
from copy import copy
from dataclasses import replace

import httpx

from ...core.request import ChatRequest, encode
from ...ports import ModelEvent
from .assemble import Assembly
from .decode import Answer
from .endpoints import parse_endpoint
from .exchange import Exchange, stream_reply
from .retry import Clocks, RetryPolicy
from .transport import AttemptHook, Transport


class OpenAIModel:
    """One model at one endpoint. With ``streams=False`` every reply is asked for as a whole, for proxies that
    cannot pass on a stream; it is judged by the same rules.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        clocks: Clocks | None = None,
        retries: RetryPolicy | None = None,
        client: httpx.AsyncClient | None = None,
        on_attempt: AttemptHook | None = None,
        finish_reason_optional: bool = False,
        streams: bool = True,
    ) -> None:
        self._model = model
        self._transport = Transport(
            parse_endpoint(base_url), api_key, clocks=clocks, retries=retries, client=client
        )
        self._on_attempt = on_attempt
        self._finish_reason_optional = finish_reason_optional
        self._streams = streams

    def __repr__(self) -> str:
        return f"OpenAIModel({self.endpoint!r}, {self._model!r})"

    @property
    def name(self) -> str:
        return self._model

    @property
    def endpoint(self) -> str:
        return self._transport.endpoint.api

    def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it arrives; see ``ports.Model``. Sends exactly ``wire(request)``."""
        return stream_reply(
            Exchange(
                f"{self.endpoint}/chat/completions",
                self.wire(request),
                request.model,
                Answer(),
                Assembly(finish_reason_optional=self._finish_reason_optional),
                is_whole=not (request.stream and self._streams),
            ),
            self._transport,
            self._on_attempt,
        )

    def wire(self, request: ChatRequest) -> bytes:
        """Exactly what ``stream`` sends."""
        return encode(replace(request, stream=request.stream and self._streams).body())

    def reporting_to(self, on_attempt: AttemptHook) -> "OpenAIModel":
        """The same model over the same connections, its attempts reported to ``on_attempt``."""
        other = copy(self)
        other._on_attempt = on_attempt
        return other

    async def close(self) -> None:
        await self._transport.close()
