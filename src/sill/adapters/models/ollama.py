"""Ollama by its own API, which can be told not to drop the front of a long prompt.

Its OpenAI route truncates silently and ignores ``num_ctx``; this one refuses instead.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import httpx

from ...core.request import ChatRequest, Json, WireMessage, encode
from ...core.usage_shapes import read_usage
from ...ports import ModelEvent
from .assemble import Assembly
from .decode import JsonLines
from .endpoints import parse_endpoint
from .exchange import Exchange, stream_reply
from .retry import Clocks, RetryPolicy
from .transport import AttemptHook, Transport

# What stands beside the messages at OpenAI's and among the options here.
_OPTIONS = (
    *("seed", "stop", "top_p", "top_k", "min_p"),
    *("presence_penalty", "frequency_penalty", "repeat_penalty"),
)


class OllamaModel:
    """One model of one Ollama server. ``window`` is asked for with every request, so it is the true one."""

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        window: int | None = None,
        clocks: Clocks | None = None,
        retries: RetryPolicy | None = None,
        client: httpx.AsyncClient | None = None,
        on_attempt: AttemptHook | None = None,
        streams: bool = True,
    ) -> None:
        self._model = model
        self._window = window
        self._streams = streams
        self._transport = Transport(
            parse_endpoint(base_url), api_key, clocks=clocks, retries=retries, client=client
        )
        self._on_attempt = on_attempt

    def __repr__(self) -> str:
        return f"OllamaModel({self.endpoint!r}, {self._model!r})"

    @property
    def name(self) -> str:
        return self._model

    @property
    def endpoint(self) -> str:
        return self._transport.endpoint.root

    def stream(self, request: ChatRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it arrives; see ``ports.Model``. Sends exactly ``wire(request)``."""
        return stream_reply(
            Exchange(
                f"{self.endpoint}/api/chat",
                self.wire(request),
                request.model,
                JsonLines(),
                OllamaAssembly(),
                is_whole=not (request.stream and self._streams),
            ),
            self._transport,
            self._on_attempt,
        )

    def wire(self, request: ChatRequest) -> bytes:
        """Exactly what ``stream`` sends: ``request`` in Ollama's words."""
        whole = replace(request, stream=request.stream and self._streams)
        return encode(ollama_body(whole, self._window))

    def reporting_to(self, on_attempt: AttemptHook) -> "OllamaModel":
        """The same model over the same connections, its attempts reported to ``on_attempt``."""
        other = copy(self)
        other._on_attempt = on_attempt
        return other

    async def close(self) -> None:
        await self._transport.close()


def ollama_body(request: ChatRequest, window: int | None = None) -> Json:
    """The body of ``POST /api/chat``; key order is fixed, so equal requests give equal bytes."""
    options: Json = {"num_predict": request.max_tokens}
    if window is not None:
        options["num_ctx"] = window
    if request.temperature is not None:
        options["temperature"] = request.temperature
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    body: Json = {
        "model": request.model,
        "messages": [_message(message, names) for message in request.messages],
        "options": options,
    }
    if request.tools and request.tool_choice != "none":
        body["tools"] = [tool.body() for tool in request.tools]
    if request.response_format is not None:
        body["format"] = dict(request.response_format.schema)
    extra = dict(request.extra)
    options.update({name: extra.pop(name) for name in _OPTIONS if name in extra})
    if extra.pop("response_format", None) == {"type": "json_object"}:
        body["format"] = "json"
    if isinstance(more := extra.pop("options", None), Mapping):
        options.update(more)
    body.update(extra)
    return {**body, "stream": request.stream, "truncate": False, "shift": False}


def _message(message: WireMessage, names: Mapping[str, str]) -> Json:
    """``names`` are the tools by the calls' ids, which Ollama does not know."""
    body: Json = {"role": message.role, "content": message.content or ""}
    if message.tool_calls:
        body["tool_calls"] = [
            {"function": {"name": call.name, "arguments": _object(call.arguments)}}
            for call in message.tool_calls
        ]
    name = message.name or names.get(message.tool_call_id or "")
    if message.role == "tool" and name:
        body["tool_name"] = name
    return body


def _object(arguments: str) -> Json:
    """Ollama wants the object itself. What does not parse was never accepted as a call."""
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class OllamaAssembly(Assembly):
    """The lines of ``/api/chat``, read as the chunks they would be elsewhere."""

    def add(self, chunk: object) -> list[ModelEvent]:
        if not isinstance(chunk, Mapping) or chunk.get("error"):
            return super().add(chunk)
        if chunk.get("done") is True and (usage := read_usage(chunk)) is not None:
            self.usage = usage
        message = chunk.get("message")
        delta: dict[str, Any] = {}
        if isinstance(message, Mapping):
            delta = {
                "content": message.get("content"),
                "reasoning_content": message.get("thinking"),
                "tool_calls": _unnumbered(message.get("tool_calls")),
            }
        finish = chunk.get("done_reason") or "unknown" if chunk.get("done") is True else None
        return super().add({"choices": [{"delta": delta, "finish_reason": finish}]})


def _unnumbered(calls: object) -> list[object]:
    """Every entry is one whole call; the numbers that newer servers add begin again in every line."""
    found: list[object] = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            found.append({"id": call.get("id"), "function": function})
    return found
