"""From a client's body to what is wanted of a model."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from ...core.gateway import Conversation, Malformed, Unplannable, read_messages
from ...core.request import Json, JsonFormat, ToolSchema, WireMessage
from ...engine.relay import Order
from ...engine.walking import ToolChoice, Wish
from ..schemas.openai import ChatCompletionRequest
from .failures import Failure

# What is answered for here; every other field goes to the model as it came.
_OURS = frozenset(
    {
        *("model", "messages", "max_tokens", "max_completion_tokens", "temperature"),
        *("stream", "stream_options", "n", "sill", "logprobs"),
    }
)


class Given(WireMessage):
    """A message that is sent as the client wrote it."""

    __slots__ = ("raw",)
    raw: Json

    def __init__(self, raw: Json) -> None:
        content = raw.get("content")
        WireMessage.__init__(self, raw["role"], content if isinstance(content, str) else None)
        object.__setattr__(self, "raw", raw)

    def body(self) -> Json:
        return dict(self.raw)


def order_of(wanted: ChatCompletionRequest) -> tuple[Order, list[str]]:
    """The order, and what the client should know about how it was read. ``Failure`` says what is wrong."""
    _check(wanted)
    wish = wish_of(wanted)
    read = read_messages(wanted.messages)
    if isinstance(read, Malformed):
        raise Failure(400, f"{read.where}: {read.reason}", "invalid_request", param=read.where)
    if wanted.sill is not None and wanted.sill.mode == "passthrough":
        return Order(tuple(Given(one) for one in wanted.messages), wish), []
    match read:
        case Conversation():
            return Order(read, wish), list(read.notes)
        case Unplannable(reason=reason):
            return Order(tuple(Given(one) for one in wanted.messages), wish), [reason]


def wish_of(wanted: ChatCompletionRequest) -> Wish:
    given = wanted.model_dump(exclude_unset=True)
    extra = {name: value for name, value in given.items() if name not in _OURS}
    tools = _tools(wanted.tools or ())
    if tools is not None and [tool.body() for tool in tools] == extra.get("tools", []):
        extra.pop("tools", None)
    choice = wanted.tool_choice
    literal: ToolChoice | None = choice if choice in get_args(ToolChoice) else None  # type: ignore[assignment]
    if literal is not None or choice is None:
        extra.pop("tool_choice", None)
    return Wish(
        max_tokens=wanted.max_completion_tokens or wanted.max_tokens,
        temperature=wanted.temperature,
        tools=tools or (),
        tool_choice=literal,
        response_format=_format(wanted.response_format),
        extra={name: value for name, value in extra.items() if value is not None},
    )


def _check(wanted: ChatCompletionRequest) -> None:
    if wanted.n not in (None, 1):
        raise Failure(400, "only one answer is given: n must be 1", "unsupported", param="n")
    if wanted.logprobs:
        raise Failure(400, "logprobs are not given out here", "unsupported", param="logprobs")


def _tools(listed: Sequence[Mapping[str, Any]]) -> tuple[ToolSchema, ...] | None:
    """The tools as they are counted; None where one is of another kind than a function."""
    tools: list[ToolSchema] = []
    for at, one in enumerate(listed):
        match one:
            case {"type": "function", "function": {"name": str(name), **rest}}:
                about, parameters = rest.get("description"), rest.get("parameters")
                tools.append(
                    ToolSchema(
                        name,
                        about if isinstance(about, str) else "",
                        parameters if isinstance(parameters, Mapping) else {},
                    )
                )
            case {"type": str(kind)} if kind != "function":
                return None
            case _:
                where = f"tools[{at}]"
                reason = "a tool has a type and a function with a name"
                raise Failure(400, f"{where}: {reason}", "invalid_request", param=where)
    return tuple(tools)


def _format(given: Mapping[str, Any] | None) -> JsonFormat | None:
    match given:
        case {"type": "json_schema", "json_schema": {"name": str(name), "schema": dict(schema)}}:
            return JsonFormat(name, schema)
        case _:
            return None
