"""Exactly what goes to a model: the one place where a request becomes bytes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .messages import Role, ToolCall

Json = dict[str, Any]
LimitName = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class WireMessage:
    role: Role
    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None

    def body(self) -> Json:
        body: Json = {"role": self.role, "content": self.content}
        if self.name is not None:
            body["name"] = self.name
        if self.tool_calls:
            body["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.tool_calls
            ]
        if self.tool_call_id is not None:
            body["tool_call_id"] = self.tool_call_id
        return body


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A function the model may call; ``parameters`` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    def body(self) -> Json:
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": dict(self.parameters),
            },
        }


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """Constrain the reply to this JSON schema."""

    name: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    model: str
    messages: tuple[WireMessage, ...]
    max_tokens: int
    temperature: float | None = None
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: Literal["auto", "none", "required"] | None = None
    response_format: JsonFormat | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)  # what one vendor wants beside the rest
    # OpenAI's reasoning models refuse the name that everybody else knows.
    limit_name: LimitName = "max_tokens"
    stream: bool = True  # False: the reply is to come as a whole

    def body(self) -> Json:
        """The JSON object of a chat completion; key order is fixed, so equal requests give equal bytes."""
        body: Json = {
            "model": self.model,
            "messages": [message.body() for message in self.messages],
            self.limit_name: self.max_tokens,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.tools:
            body["tools"] = [tool.body() for tool in self.tools]
        if self.tool_choice is not None:
            body["tool_choice"] = self.tool_choice
        if self.response_format is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {
                    "name": self.response_format.name,
                    "schema": dict(self.response_format.schema),
                },
            }
        body.update(self.extra)
        body["stream"] = self.stream
        if self.stream:
            body["stream_options"] = {"include_usage": True}  # what comes as a whole has it anyway
        return body


def encode(body: Json) -> bytes:
    """The bytes that are sent and recorded."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
