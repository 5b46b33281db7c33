"""The messages of a client that resends its whole chat, as turns.

A turn is a question, the tool rounds after it and the reply: kept or left out whole, so no tool call is ever
parted from its result. Turns and the moments at which the model was asked have names that follow from what
was said up to them, so equal histories have equal names.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import masks
from .messages import Message, ToolCall, ToolCalls, ToolResult
from .render import SEPARATOR, settled


@dataclass(frozen=True, slots=True)
class Malformed:
    """The client's mistake, and where it is."""

    reason: str
    where: str


@dataclass(frozen=True, slots=True)
class Unplannable:
    """Well formed, but it holds something that cannot be counted or moved: it can only go as it is."""

    reason: str


@dataclass(frozen=True, slots=True)
class Said:
    """One turn: what stands ``before`` the question, the question, and what followed."""

    id: str
    question: Message
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        return (*self.before, self.question, *self.after)


@dataclass(frozen=True, slots=True)
class Moment:
    """The model is asked: ``rounds`` is what was said since the question. ``id`` names all that led here."""

    id: str
    rounds: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """``present`` is the turn that waits for an answer; ``notes`` say what of the client's is not sent."""

    system: str | None
    turns: tuple[Said, ...]
    present: Said
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The same as long as the chat begins in the same way."""
        first, *_ = (*self.turns, self.present)
        return _name(self.system or "", (first.question,))


def read_messages(messages: object) -> Conversation | Unplannable | Malformed:
    """What the client's ``messages`` say, grouped into turns."""
    if not isinstance(messages, list) or not messages:
        return Malformed("a list of at least one message is needed", "messages")
    read: list[Message] = []
    notes: list[str] = []
    for at, given in enumerate(messages):
        message = _read(given, f"messages[{at}]")
        if not isinstance(message, Message):
            return message
        if given.get("name") is not None:
            notes.append(f"the name of messages[{at}] is not sent")
        read.append(message)
    read = _named(read)
    leading = next((at for at, one in enumerate(read) if one.role != "system"), len(read))
    system = SEPARATOR.join(message.text for message in read[:leading]) if leading else None
    groups = _groups(read[leading:])
    if not groups or not any(one.role == "user" for one in groups[-1]):
        return Unplannable("no message of a user waits for an answer")
    turns: list[Said] = []
    before = ""
    for group in groups:
        turns.append(_said(before, group))
        before = turns[-1].id
    return Conversation(system, tuple(turns[:-1]), turns[-1], tuple(notes))


def moments(before: str, turn: Said, *, is_finished: bool) -> Iterator[Moment]:
    """When the model was asked in this turn, in order; ``before`` is the id of the turn before it.

    Once for the question, and again after the results of each round of tools.
    """
    answered = turn.after[:-1] if is_finished else turn.after
    yield _moment(before, turn, ())
    for at, message in enumerate(answered, start=1):
        is_last = at == len(answered)
        ends_round = isinstance(message.carries, ToolResult) and (
            is_last or not isinstance(answered[at].carries, ToolResult)
        )
        if ends_round or is_last:
            yield _moment(before, turn, turn.after[:at])


def finished(turn: Said, hidden: Sequence[Message], away: int = 0) -> tuple[Message, ...]:
    """The turn as it is sent again, with what went out before its question."""
    return settled((*turn.before, *hidden, turn.question, *put_away(turn.after, away)))


def put_away(rounds: Sequence[Message], away: int) -> tuple[Message, ...]:
    """The rounds with one line for each result among the first ``away`` messages."""
    if not away:
        return tuple(rounds)
    lines = dict(masks.stubs(rounds))
    return tuple(lines.get(at, one) if at < away else one for at, one in enumerate(rounds))


def most_away(rounds: Sequence[Message]) -> int:
    """How many messages of the rounds may be put away: all before the last calls, whose results are news."""
    made = (at for at, one in enumerate(rounds) if isinstance(one.carries, ToolCalls))
    return max(made, default=0)


def _moment(before: str, turn: Said, rounds: tuple[Message, ...]) -> Moment:
    return Moment(_name(before, (*turn.before, turn.question, *rounds)), rounds)


def _said(before: str, messages: Sequence[Message]) -> Said:
    at = next((at for at, one in enumerate(messages) if one.role == "user"), 0)
    last = at + 1
    while last < len(messages) and messages[last].role == "user" and messages[at].role == "user":
        last += 1
    # A template may want one message of each side: several in a row become one.
    text = SEPARATOR.join(message.text for message in messages[at:last])
    question = Message("user", text) if messages[at].role == "user" else messages[at]
    said = (*messages[:at], question, *messages[last:])
    return Said(_name(before, said), question, tuple(messages[:at]), tuple(messages[last:]))


def _groups(messages: Sequence[Message]) -> list[list[Message]]:
    """A new turn begins with the first message of a user or the system after a reply."""
    groups: list[list[Message]] = []
    has_reply = True
    for message in messages:
        if has_reply and (message.role in ("user", "system") or not groups):
            groups.append([])
            has_reply = False
        groups[-1].append(message)
        has_reply = message.role == "assistant" and not isinstance(message.carries, ToolCalls)
    return groups


def _name(before: str, messages: Sequence[Message]) -> str:
    spoken = [[m.role, m.text, _carried(m)] for m in messages]
    text = json.dumps([before, spoken], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _carried(message: Message) -> object:
    match message.carries:
        case ToolCalls(calls):
            return [[call.id, call.name, call.arguments] for call in calls]
        case ToolResult(call_id=call_id):
            return call_id
        case _:
            return None


def _named(messages: Sequence[Message]) -> list[Message]:
    """With the name of the tool on each result, which clients leave to be found by its call."""
    names: dict[str, str] = {}
    named: list[Message] = []
    for message in messages:
        match message.carries:
            case ToolCalls(calls):
                names |= {call.id: call.name for call in calls}
            case ToolResult(call_id=id):
                message = replace(message, carries=ToolResult(id, names.get(id, "")))
            case _:
                pass
        named.append(message)
    return named


# --- One message ---------------------------------------------------------------------------------


def _read(given: object, where: str) -> Message | Unplannable | Malformed:
    if not isinstance(given, Mapping):
        return Malformed("a message is an object", where)
    text = _text(given.get("content"), f"{where}.content")
    if not isinstance(text, str):
        return text
    match given.get("role"):
        case "system" | "developer":
            return Message("system", text)
        case "user":
            return Message("user", text)
        case "assistant":
            return _assistant(given, text, where)
        case "tool":
            call_id = given.get("tool_call_id")
            if not isinstance(call_id, str):
                return Malformed(
                    "a tool's result names the call it answers", f"{where}.tool_call_id"
                )
            return Message("tool", text, ToolResult(call_id, ""))
        case "function":
            return Unplannable("messages of the role `function` are not planned")
        case _:
            return Malformed("the role is one of system, user, assistant, tool", f"{where}.role")


def _assistant(
    given: Mapping[str, Any], text: str, where: str
) -> Message | Unplannable | Malformed:
    if given.get("function_call") is not None:
        return Unplannable("the old `function_call` is not planned")
    listed = given.get("tool_calls")
    if listed is None or listed == []:
        return Message("assistant", text)
    if not isinstance(listed, list):
        return Malformed("tool calls are a list", f"{where}.tool_calls")
    calls: list[ToolCall] = []
    for at, one in enumerate(listed):
        match one:
            case {"id": str(id), "function": {"name": str(name), "arguments": str(arguments)}}:
                calls.append(ToolCall(id, name, arguments))
            case {"type": str(kind)} if kind != "function":
                return Unplannable(f"tool calls of the type `{kind[:40]}` are not planned")
            case _:
                reason = "a tool call has an id and a function with name and arguments"
                return Malformed(reason, f"{where}.tool_calls[{at}]")
    return Message("assistant", text, ToolCalls(tuple(calls)))


def _text(content: object, where: str) -> str | Unplannable | Malformed:
    """The text of a message; several text parts become paragraphs."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content if _is_unicode(content) else Malformed("not Unicode text", where)
    if not isinstance(content, list):
        return Malformed("the content is a text or a list of parts", where)
    texts: list[str] = []
    for at, part in enumerate(content):
        match part:
            case {"type": "text" | "input_text" | "output_text", "text": str(text)} | {
                "type": "refusal",
                "refusal": str(text),
            }:
                if not _is_unicode(text):
                    return Malformed("not Unicode text", f"{where}[{at}]")
                texts.append(text)
            case {"type": str(kind)} if kind not in ("text", "input_text", "output_text"):
                return Unplannable(f"parts of the type `{kind[:40]}` cannot be counted")
            case _:
                return Malformed("a part has a type and a text", f"{where}[{at}]")
    return SEPARATOR.join(texts)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
