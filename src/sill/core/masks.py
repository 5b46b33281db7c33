"""One line in the place of a tool's old result: what it was, how long, and how to get it again.

The result itself stays stored. A stub follows from the call and the result alone, so the same turn always
has the same one.
"""

import json
from collections.abc import Sequence

from .messages import Message, ToolCall, ToolCalls, ToolResult, fingerprint

LEAST = 400  # characters of a result that is worth a stub
_MOST_ARGUMENTS = 160
_HASH = 12  # hexadecimal digits


def stubs(messages: Sequence[Message]) -> list[tuple[int, Message]]:
    """What can stand for some messages of a turn, with their positions; short results stay as they are."""
    calls: dict[str, ToolCall] = {}
    found: list[tuple[int, Message]] = []
    for position, message in enumerate(messages):
        match message.carries:
            case ToolCalls(called):
                calls |= {call.id: call for call in called}
            case ToolResult(call_id=id) if len(message.text) >= LEAST:
                found.append((position, stub(message, calls.get(id))))
            case _:
                continue
    return found


def stub(result: Message, call: ToolCall | None) -> Message:
    carries = result.carries
    assert isinstance(carries, ToolResult)
    arguments = _brief(call.arguments) if call else ""
    asked = f"{carries.name} {arguments}".rstrip()
    state = fingerprint(result.text)[: len("sha256:") + _HASH]
    size = f"{len(result.text):,} characters, {state}"
    return Message(result.role, f"[{asked}: {size}; call it again to see it]", carries)


def _brief(arguments: str) -> str:
    """The values of a call's arguments, as people would name them."""
    try:
        fields = json.loads(arguments)
    except ValueError:
        return ""
    if not isinstance(fields, dict):
        return ""
    shown = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in fields.values()
    )
    line = " ".join(", ".join(shown).split())
    return line if len(line) <= _MOST_ARGUMENTS else line[: _MOST_ARGUMENTS - 1] + "…"
