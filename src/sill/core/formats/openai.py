"""What OpenAI bills for a chat.

Three generations: GPT-3.5 and GPT-4 (``cl100k_base``), GPT-4o and GPT-4.1 (``o200k_base``), and the
harmony format of GPT-5 and the reasoning models. The rules below reproduce published and recorded bills.
"""

from collections.abc import Mapping
from typing import Any

from ..parallel import escaped, together
from .chat import IMAGE_TOKENS, Call, Chat, ChatMessage, Measure, ReplySchema, quoted
from .typescript import Dialect, namespace

FRAME = 3  # what opens and closes a message, beside its role
REPLY = 3  # opens the answer
TOOLS = 9  # the heading of the declarations
PARALLEL = "multi_tool_use.parallel"
SHARED = 4  # declarations join a system message that is there anyway

HARMONY_FRAME = 4
HARMONY_REPLY = 2
HARMONY_TOOLS = 91
HARMONY_PAIR = 8  # channel, recipient and content type of a call; the same again for its result


def classic(chat: Chat, measure: Measure, dialect: Dialect, *, result: int) -> int:
    """GPT-3.5 to GPT-4.1; ``result`` is what a tool's result costs beside its name and text.

    Exact for every recorded bill with at most one call a message, and never below one with several.
    """
    total = REPLY
    padded = not (chat.functions or chat.reply)
    beside = False
    for message in chat.messages:
        text = message.text
        if message.role in {"system", "developer"} and not padded:
            text, padded = text + "\n", True  # the declarations follow on a new line
        total += IMAGE_TOKENS * message.images
        if message.beside:
            total += max(measure(text), measure(escaped(text)))
            total += 0 if beside else FRAME + measure(PARALLEL)
        else:
            total += FRAME + measure(text) + _author(message, measure, result)
        beside = message.beside
        total += _calls(message, measure)
    if chat.functions:
        total += TOOLS + measure(namespace(chat.functions, dialect))
    if chat.functions and chat.led:
        total -= SHARED
    if chat.reply:
        total += _reply_schema(chat.reply, measure)
        total += 0 if chat.functions or chat.led else FRAME + 1
    return total + _choice(chat, measure)


def harmony(chat: Chat, measure: Measure) -> int:
    """GPT-5 and the reasoning models: exact for every recorded bill but a tool without arguments, 1 above it."""
    total = HARMONY_REPLY
    for message in chat.messages:
        total += HARMONY_FRAME + measure(message.text) + IMAGE_TOKENS * message.images
        if message.name:
            total += 1 + measure(message.name)
        if message.answers is not None:
            total += HARMONY_PAIR - HARMONY_FRAME + measure(message.answers)
        # Every call is a message of its own; the first stands in for the message that carries it.
        calls = _all_calls(message)
        for call in calls:
            total += HARMONY_PAIR + measure(f" to=functions.{call.name}") + measure(call.arguments)
        if calls and not message.text:
            total -= HARMONY_FRAME
    if chat.functions:
        total += HARMONY_TOOLS + measure(namespace(chat.functions, "late"))
    if chat.reply:
        total += _reply_schema(chat.reply, measure) + HARMONY_FRAME
        total += 0 if chat.functions else HARMONY_TOOLS
    return total


def _author(message: ChatMessage, measure: Measure, result: int) -> int:
    if message.answers is not None:  # a result is signed with the function's name
        return measure(message.answers) + (result if message.role == "tool" else 0)
    return 1 + (1 + measure(message.name) if message.name else 0)


def _calls(message: ChatMessage, measure: Measure) -> int:
    calls = _all_calls(message)
    if not calls:
        return 0
    if len(calls) == 1:
        return measure(f" to=functions.{calls[0].name}") + measure(calls[0].arguments)
    # Several calls are one call of a tool that runs them in parallel, quoted with ASCII escapes.
    return measure(f" to={PARALLEL}") + measure(together((c.name, c.arguments) for c in calls))


def _all_calls(message: ChatMessage) -> tuple[Call, ...]:
    return message.calls or ((message.legacy_call,) if message.legacy_call else ())


def _choice(chat: Chat, measure: Measure) -> int:
    if not chat.functions:
        return 0
    if chat.forced is not None:
        return (4 if chat.legacy else 7) + measure(chat.forced)
    return 1 if chat.none_allowed else 0


def _reply_schema(reply: ReplySchema, measure: Measure) -> int:
    heading = f"\n\n# Response Formats\n\n## {reply.name}\n\n"
    remark = f"// {reply.description}\n\n" if reply.description else ""
    return measure(heading + remark + quoted(_shown(reply.schema)))


def _shown(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A reply's schema as the model sees it: what strict schemas always say is left out."""
    shown: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "additionalProperties" and value is False:
            continue
        if key == "required" and set(value) >= set(schema.get("properties") or ()):
            continue
        if key in {"properties", "$defs", "definitions"} and isinstance(value, Mapping):
            shown[key] = {name: _shown_value(inner) for name, inner in value.items()}
        else:
            shown[key] = _shown_value(value)
    return shown


def _shown_value(value: object) -> object:
    if isinstance(value, Mapping):
        return _shown(value)
    return [_shown_value(item) for item in value] if isinstance(value, list) else value
