"""Calls made at once, as some services bill them: quoted together, with ASCII escapes."""

import json
from collections.abc import Iterable

from .control import neutral_text
from .messages import Message, ToolCalls, ToolResult


def alone(messages: Iterable[Message]) -> frozenset[str]:
    """Ids of the calls that no other call was made with."""
    return frozenset(
        m.carries.calls[0].id
        for m in messages
        if isinstance(m.carries, ToolCalls) and len(m.carries.calls) == 1
    )


def quoted(message: Message, single: frozenset[str]) -> str | None:
    """The text that may be billed instead of the message's own; None where it stands for itself.

    A result whose call is not known to be ``single`` may belong to one of several.
    """
    match message.carries:
        case ToolCalls(calls) if len(calls) > 1:
            return neutral_text(message.text) + together((c.name, c.arguments) for c in calls)
        case ToolResult(call_id=id) if id not in single and not message.text.isascii():
            return escaped(neutral_text(message.text))
        case _:
            return None


def together(calls: Iterable[tuple[str, str]]) -> str:
    """Calls, by name and arguments, as one call of a tool that runs them in parallel."""
    uses = [
        {"recipient_name": f"functions.{name}", "parameters": _parsed(arguments)}
        for name, arguments in calls
    ]
    return json.dumps({"tool_uses": uses})


def escaped(text: str) -> str:
    """A result of calls made at once: they are quoted together, and what is not ASCII is billed as escapes."""
    return text if text.isascii() else json.dumps(text)[1:-1]


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
