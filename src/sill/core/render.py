"""Turns and new messages as the list a model is sent.

Both layouts only ever append: as long as the epoch stays, the next request's messages begin with this
request's messages, byte for byte.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from . import ledger
from .control import neutral_json, neutral_text
from .messages import Epoch, Message, ToolCall, ToolCalls, ToolResult, Turn
from .request import WireMessage

Layout = Literal["folded", "separate"]

SEPARATOR = "\n\n"  # after each hidden part of a folded message
SEAM = 1  # two texts side by side may take one token more than apart
NO_REPLY = "(no reply)"  # keeps the roles alternating where an answer is missing


def render(
    system: Message | None,
    turns: Sequence[Turn],
    epoch: Epoch,
    new: Sequence[Message],
    layout: Layout = "folded",
) -> tuple[WireMessage, ...]:
    """The request's messages: system, the epoch's turns, then the present turn as far as it has come."""
    wire = [] if system is None else [WireMessage("system", system.text)]
    for turn in ledger.window(turns, epoch):
        wire += _turn(settled(ledger.shown(turn, epoch)), layout)
    wire += _turn(new, layout)
    return tuple(wire)


def countable(message: Message, layout: Layout = "folded") -> str:
    """The text to count for this message: what it adds to a request, less its ``overhead``."""
    if message.hidden:
        return message.text + SEPARATOR if layout == "folded" else message.text
    text = _spoken(message)
    if isinstance(message.carries, ToolCalls):
        harmless = _harmless(message.carries.calls)
        calls = (f"{call.id}\n{call.name}\n{call.arguments}" for call in harmless)
        return "\n".join((text, *calls)) if text else "\n".join(calls)
    return text


def overhead(message: Message, roles: Mapping[str, int], layout: Layout = "folded") -> int:
    """Tokens to add to those of ``countable``: what its role costs, or the seam of a folded part."""
    return roles[message.role] if has_overhead(message, layout) else SEAM


def has_overhead(message: Message, layout: Layout = "folded") -> bool:
    """Whether the message is one of its own on the wire."""
    return layout == "separate" or not message.hidden


def settled(messages: Sequence[Message]) -> tuple[Message, ...]:
    """A finished turn as any template accepts it: every call with its result, and a reply at the end.

    Count what this returns: a missing reply is put in as an empty one, which is shown as ``NO_REPLY``.
    """
    if _is_settled(messages):
        return tuple(messages)
    results = {m.carries.call_id for m in messages if isinstance(m.carries, ToolResult)}
    kept: list[Message] = []
    calls: set[str] = set()
    for message in messages:
        match message.carries:
            case ToolCalls(called):
                if results.issuperset(call.id for call in called):
                    calls.update(call.id for call in called)
                    kept.append(message)
                elif message.text:
                    kept.append(Message(message.role, message.text))
            case ToolResult(call_id=call_id) if call_id not in calls:
                continue
            case _:
                kept.append(message)
        if len(kept) > 1 and _follow(kept[-2], kept[-1]):
            last = kept.pop()
            kept[-1] = replace(last, text=SEPARATOR.join(filter(None, (kept[-1].text, last.text))))
    if not kept or kept[-1].hidden or kept[-1].role != "assistant" or _calls(kept[-1]):
        kept.append(Message("assistant", ""))
    return tuple(kept)


def _is_settled(messages: Sequence[Message]) -> bool:
    """The common case, told at a glance: context, one question, one reply."""
    if len(messages) < 2:
        return False
    *context, question, reply = messages
    return (
        (question.role, question.carries) == ("user", None)
        and (reply.role, reply.carries) == ("assistant", None)
        and all(message.hidden for message in context)
    )


def _follow(left: Message, right: Message) -> bool:
    """Whether two of the same role stand side by side, where a strict template wants one."""
    is_plain = left.carries is None and not right.hidden
    return is_plain and left.role == right.role and left.role in ("user", "assistant")


def _turn(messages: Iterable[Message], layout: Layout) -> Iterator[WireMessage]:
    hidden = ""
    for message in messages:
        if not message.hidden:
            if hidden and message.role != "user":
                yield WireMessage("user", hidden)
                hidden = ""
            yield _wire(message, hidden)
            hidden = ""
        elif layout == "folded":
            hidden += message.text + SEPARATOR
        else:
            yield WireMessage("assistant", message.text)


def _wire(message: Message, hidden: str) -> WireMessage:
    match message.carries:
        case ToolCalls(calls):
            return WireMessage(message.role, _spoken(message) or None, tool_calls=_harmless(calls))
        case ToolResult(call_id=call_id):
            return WireMessage(message.role, _spoken(message), tool_call_id=call_id)
        case _:
            return WireMessage(message.role, hidden + _spoken(message))


def _spoken(message: Message) -> str:
    """What people or tools said, with nothing in it that a template would obey."""
    match message.role:
        case "system":
            return message.text  # ours; what others put into it was made harmless on the way in
        case "assistant" if not message.text and not _calls(message):
            return NO_REPLY
        case _:
            return neutral_text(message.text)


def _harmless(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    return tuple(replace(call, arguments=neutral_json(call.arguments)) for call in calls)


def _calls(message: Message) -> bool:
    return isinstance(message.carries, ToolCalls)
