"""The chunks of one chat completion, put together. No I/O: bytes and clocks are somebody else's.

An answer is complete only if the server finished by itself, said so, reported no error, and every tool
call parses. The official client libraries end normally on half an answer; this one never does.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...core.certificate import Usage
from ...core.faults import Fault, classify_object, error_in
from ...core.messages import ToolCall
from ...core.usage_shapes import read_usage
from ...ports import Ended, ModelEvent, ReasoningDelta, TextDelta, ToolCallDelta

_HALF, _HIGH = re.compile("[\\ud800-\\udfff]"), re.compile("[\\ud800-\\udbff]")
_FINISHED = frozenset({"stop", "tool_calls", "function_call"})
_UNFINISHED = {
    "length": "the reply reached its token limit",
    "content_filter": "the provider's content filter stopped the reply",
    "error": "the server stopped with an error",
}


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    arguments: list[str]


class Assembly:
    """Feed it chunks, ask it at the end."""

    def __init__(self, *, finish_reason_optional: bool = False) -> None:
        self.fault: Fault | None = None  # the error object that came inside the answer
        self.usage: Usage | None = None
        self.finish_reason: str | None = None
        self.id: str | None = None
        self.has_spoken = False
        self.spoke_on = False  # text came after the finish reason: what that said was not the end
        self._optional = finish_reason_optional
        self._calls: list[_Call] = []
        self._by_index: dict[int, int] = {}
        self._halves: dict[
            type[ModelEvent], str
        ] = {}  # of a surrogate pair, by what they belong to

    def add(self, chunk: object) -> list[ModelEvent]:
        """What this chunk (or whole, unstreamed completion) adds to the reply."""
        if error_in(chunk) is not None:
            self.fault = self.fault or classify_object(chunk)
        if not isinstance(chunk, Mapping):
            return []
        self._take_usage(chunk)
        if self.id is None and isinstance(chunk.get("id"), str):
            self.id = chunk["id"]
        events: list[ModelEvent] = []
        was_finished = self.finish_reason is not None
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, Mapping) and choice.get("index", 0) in (0, None):
                events += self._take_choice(choice)
        self.has_spoken = self.has_spoken or bool(events)
        self.spoke_on = self.spoke_on or (was_finished and bool(events))
        is_text = not self._halves and all(map(_is_text, events))
        return events if is_text else self._mended(events)

    def _mended(self, events: list[ModelEvent]) -> list[ModelEvent]:
        """The same as Unicode text: a half of a surrogate pair waits for the other one, which may come next."""
        mended: list[ModelEvent] = []
        for event in events:
            if isinstance(event, TextDelta | ReasoningDelta):
                text = self._halves.pop(type(event), "") + event.text
                if _HIGH.match(text[-1:]):
                    text, self._halves[type(event)] = text[:-1], text[-1]
                event = replace(event, text=mended_text(text))
                if not text:
                    continue
            mended.append(event)
        return mended

    def end(self, cut: Fault | None = None) -> Ended:
        """The verdict. ``cut`` says why the bytes ended early, if they did."""
        calls = tuple(
            ToolCall(call.id or f"call_{number}", call.name, mended_text("".join(call.arguments)))
            for number, call in enumerate(self._calls)
        )
        reason = self._why_incomplete(cut)
        if not reason:
            reason = next((why for call in calls if (why := _why_unusable(call))), "")
        if reason:
            return Ended("partial", self.finish_reason, self.usage, reason=reason)
        return Ended("complete", self.finish_reason, self.usage, calls)

    def _why_incomplete(self, cut: Fault | None) -> str:
        if self.fault is not None:
            return "the server reported an error in the middle of the reply" + _said(self.fault)
        if cut is not None:
            what = "fell silent" if cut.kind == "silent" else "was cut off"
            return f"the reply {what}{_said(cut)}"
        if self.finish_reason is None:
            return "" if self._optional else "the stream ended before the reply did"
        if self.finish_reason in ("tool_calls", "function_call") and not self._calls:
            return "the server announced a tool call and sent none"
        if self.finish_reason in _FINISHED:
            return ""
        return _UNFINISHED.get(
            self.finish_reason, f"the server stopped for the reason {self.finish_reason[:40]!r}"
        )

    def _take_usage(self, chunk: Mapping[str, Any]) -> None:
        groq = chunk.get("x_groq")
        for body in (
            chunk.get("usage"),
            groq.get("usage") if isinstance(groq, Mapping) else None,
            None if self.usage else chunk.get("timings"),
        ):
            if usage := read_usage(body):
                self.usage = usage

    def _take_choice(self, choice: Mapping[str, Any]) -> list[ModelEvent]:
        reason = choice.get("finish_reason")
        # A reply that once reached its limit is not made whole by a later "stop".
        if isinstance(reason, str) and reason and self.finish_reason in (None, *_FINISHED):
            self.finish_reason = reason
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, Mapping):
            return [TextDelta(text)] if (text := _string(choice.get("text"))) else []
        events: list[ModelEvent] = []
        if thought := _string(delta.get("reasoning_content")) or _string(delta.get("reasoning")):
            events.append(ReasoningDelta(thought))
        content = delta.get("content")
        if isinstance(content, list):
            events += _parts(content)
        elif text := _string(content) or _string(delta.get("refusal")):
            events.append(TextDelta(text))
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, Mapping):
                events.append(self._take_call(call))
        if isinstance(legacy := delta.get("function_call"), Mapping):
            events.append(self._take_call({"index": 0, "function": legacy}))
        return events

    def _take_call(self, piece: Mapping[str, Any]) -> ToolCallDelta:
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        id, name = _string(piece.get("id")), _string(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):  # some servers send the object itself
            arguments = json.dumps(arguments, ensure_ascii=False)
        slot = self._slot(piece.get("index"), id, name)
        call = self._calls[slot]
        call.id = call.id or id
        call.name = call.name or name
        call.arguments.append(_string(arguments))
        return ToolCallDelta(slot, call.name, call.arguments[-1])

    def _slot(self, index: object, id: str, name: str) -> int:
        """Which call a piece belongs to. Gemini numbers all parallel calls 0, others number none."""
        key = index if isinstance(index, int) else None
        slot = self._by_index.get(key) if key is not None else len(self._calls) - 1
        if slot is not None and slot >= 0:
            known = self._calls[slot].id
            is_another = bool(id and name and known and id != known)
            if not is_another and not (key is None and name):
                return slot
        self._calls.append(_Call("", "", []))
        slot = len(self._calls) - 1
        if key is not None:
            self._by_index[key] = slot
        return slot


def _why_unusable(call: ToolCall) -> str:
    if not call.name:
        return "a tool call without a name"
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return f"the arguments of tool call {call.name!r} are cut off or not JSON"
    return (
        "" if isinstance(arguments, dict) else f"the arguments of {call.name!r} are not an object"
    )


def _parts(content: list[Any]) -> list[ModelEvent]:
    """Mistral's reasoning models send content as typed parts."""
    events: list[ModelEvent] = []
    for part in content:
        if not isinstance(part, Mapping):
            continue
        if text := _string(part.get("text")):
            events.append(TextDelta(text))
        thinking = part.get("thinking")
        for thought in thinking if isinstance(thinking, list) else []:
            if isinstance(thought, Mapping) and (text := _string(thought.get("text"))):
                events.append(ReasoningDelta(text))
    return events


def _said(fault: Fault) -> str:
    return f": {fault.said}" if fault.said else ""


def _is_text(event: ModelEvent) -> bool:
    """Whether it is whole characters, as nearly every piece of every answer is."""
    return not isinstance(event, TextDelta | ReasoningDelta) or not _HALF.search(event.text)


def mended_text(text: str) -> str:
    """Text that can be stored and sent: two halves of a pair are one character, a lone one is replaced."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
