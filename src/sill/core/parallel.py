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
            uses = [
                {"recipient_name": f"functions.{call.name}", "parameters": _parsed(call.arguments)}
                for call in calls
            ]
            return neutral_text(message.text) + json.dumps({"tool_uses": uses})
        case ToolResult(call_id=id) if id not in single and not message.text.isascii():
            return json.dumps(neutral_text(message.text))[1:-1]
        case _:
            return None


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
