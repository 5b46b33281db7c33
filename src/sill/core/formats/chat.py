"""A chat request's body, read once and leniently: whatever is not understood counts as its JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Measure = Callable[[str], int]
"""The tokens of a text on its own, as plain text."""

IMAGE_TOKENS = 1_600
"""More than any service bills for one picture at its default detail."""


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: str
    text: str
    name: str | None = None
    calls: tuple[Call, ...] = ()
    legacy_call: Call | None = None  # ``function_call``, which tools replaced
    answers: str | None = None  # the name of the function whose result this is
    beside: bool = False  # the result of one of several calls made at once
    images: int = 0
    parts: int = 1  # texts the content came in


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReplySchema:
    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Chat:
    messages: tuple[ChatMessage, ...]
    functions: tuple[Function, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()  # as they were sent, for formats that quote them
    forced: str | None = None  # the function that must be called
    legacy: bool = False  # ``functions`` instead of ``tools``
    none_allowed: bool = False  # tools are there and may not be used
    reply: ReplySchema | None = None

    @property
    def led(self) -> bool:
        """Whether any message speaks for the operator."""
        return any(message.role in {"system", "developer"} for message in self.messages)


def chat_of(body: Mapping[str, Any]) -> Chat:
    """The chat of an OpenAI-like request body. Never raises."""
    asked: dict[str, tuple[str, bool]] = {}
    messages = tuple(_message(raw, asked) for raw in _dicts(body.get("messages")))
    legacy = not body.get("tools") and bool(body.get("functions"))
    tools = tuple(_dicts(body.get("functions") if legacy else body.get("tools")))
    choice = body.get("function_call") if legacy else body.get("tool_choice")
    return Chat(
        messages=messages,
        functions=tuple(_function(tool if legacy else tool.get("function")) for tool in tools),
        tools=tools,
        forced=_forced(choice),
        legacy=legacy,
        none_allowed=choice == "none",
        reply=_reply(body.get("response_format")),
    )


def _message(raw: Mapping[str, Any], asked: dict[str, tuple[str, bool]]) -> ChatMessage:
    """One message; ``asked`` remembers calls by id: the function's name, and whether others stood beside it."""
    calls = tuple(_call(call, call.get("function")) for call in _dicts(raw.get("tool_calls")))
    asked.update({call.id: (call.name, len(calls) > 1) for call in calls})
    text, parts, images = _content(raw.get("content"))
    role, name, legacy_call = _text(raw.get("role")), raw.get("name"), raw.get("function_call")
    is_result = role in {"tool", "function"}
    answers, beside = asked.get(_text(raw.get("tool_call_id")), (_text(name), False))
    return ChatMessage(
        role=role,
        text=text,
        name=None if name is None or is_result else _text(name),
        calls=calls,
        legacy_call=_call({}, legacy_call) if isinstance(legacy_call, Mapping) else None,
        answers=answers if is_result else None,
        beside=beside and is_result,
        images=images,
        parts=parts,
    )


def _content(content: object) -> tuple[str, int, int]:
    if content is None or isinstance(content, str):
        return content or "", 1, 0
    texts, images = [], 0
    for part in _dicts(content):
        match part:
            case {"type": "text", "text": str(text)} | {"type": "refusal", "refusal": str(text)}:
                texts.append(text)
            case {"type": "image_url" | "image" | "input_image" | "file" | "input_audio"}:
                images += 1
            case _:
                texts.append(quoted(part))
    return "".join(texts), len(texts), images


def _call(raw: Mapping[str, Any], function: object) -> Call:
    inner = function if isinstance(function, Mapping) else {}
    arguments = inner.get("arguments")
    return Call(
        id=_text(raw.get("id")),
        name=_text(inner.get("name")),
        arguments=arguments if isinstance(arguments, str) else quoted(arguments or {}),
    )


def _function(raw: object) -> Function:
    inner = raw if isinstance(raw, Mapping) else {}
    parameters = inner.get("parameters")
    return Function(
        name=_text(inner.get("name")),
        description=_text(inner.get("description")),
        parameters=parameters if isinstance(parameters, Mapping) else {},
    )


def _forced(choice: object) -> str | None:
    match choice:
        case {"function": {"name": str(name)}} | {"name": str(name)}:
            return name
        case _:
            return None


def _reply(raw: object) -> ReplySchema | None:
    match raw:
        case {"type": "json_schema", "json_schema": Mapping() as inner}:
            schema = inner.get("schema")
            return ReplySchema(
                name=_text(inner.get("name")),
                description=_text(inner.get("description")),
                schema=schema if isinstance(schema, Mapping) else {},
            )
        case _:
            return None


def quoted(value: object, *, spaced: bool = False) -> str:
    """A value as JSON text; never raises."""
    separators = (", ", ": ") if spaced else (",", ":")
    try:
        return json.dumps(value, ensure_ascii=False, separators=separators, default=str)
    except (
        ValueError,
        TypeError,
        RecursionError,
    ):  # it contains itself, or has keys JSON cannot have
        return repr(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _dicts(value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [item for item in value if isinstance(item, Mapping)]
