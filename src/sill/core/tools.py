"""Tools a model may call: which of them are offered, and what of a result is shown.

Schemas cost room in every request, so they have a share of it. Where they need more, those that bear on the
question are offered, in an order that never changes, so that the same set is always the same bytes.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .memory import Postings
from .messages import Message, ToolCall, ToolCalls, ToolResult
from .rank import Ranking, fuse
from .references import Reference
from .request import ToolSchema
from .stems import terms

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME_COUNTS = 2.0  # a tool that is called what the question says is more likely meant than one that mentions it
_BRIEF = 80  # characters of arguments that people are shown


@dataclass(frozen=True, slots=True)
class Tool:
    """``is_core``: offered whenever any tool is. ``origin`` says whose it is; Sill's own have none."""

    schema: ToolSchema
    is_core: bool = False
    origin: str = ""

    @property
    def name(self) -> str:
        return self.schema.name


@dataclass(frozen=True, slots=True)
class Choice:
    """Both in the order in which the tools came."""

    offered: tuple[Tool, ...]
    left_out: tuple[Tool, ...] = ()


def choose(tools: Sequence[Tool], sizes: Mapping[str, int], share: int, question: str) -> Choice:
    """The core tools, then those that bear most on the question, as many as fit the share.

    ``sizes`` are tokens by name. A tool that is too large is passed over for a smaller one after it.
    """
    left = share - sum(sizes[tool.name] for tool in tools if tool.is_core)
    chosen = {tool.name for tool in tools if tool.is_core}
    for tool in ranked([tool for tool in tools if not tool.is_core], question):
        if sizes[tool.name] <= left:
            chosen.add(tool.name)
            left -= sizes[tool.name]
    return only(tools, chosen)


def only(tools: Sequence[Tool], names: Collection[str]) -> Choice:
    """Those tools that still exist, in the order in which the tools came."""
    return Choice(
        tuple(tool for tool in tools if tool.name in names),
        tuple(tool for tool in tools if tool.name not in names),
    )


def ranked(tools: Sequence[Tool], question: str) -> list[Tool]:
    """The tools that bear most on the question first: by their names, and by all that is said of them.

    Words are compared and rankings put together as in a search of notes. Equal ones keep their order.
    """
    wanted = dict.fromkeys(terms(question), 1.0)
    rankings = [
        Ranking("named", _order(wanted, [_name_terms(t.name) for t in tools]), _NAME_COUNTS),
        Ranking("text", _order(wanted, [_terms(tool.schema) for tool in tools])),
    ]
    found = [tools[one.key] for one in fuse(rankings)]
    known = {tool.name for tool in found}
    return [*found, *(tool for tool in tools if tool.name not in known)]


def _order(wanted: Mapping[str, float], texts: Sequence[Sequence[str]]) -> tuple[int, ...]:
    postings = Postings()
    for place, text in enumerate(texts):
        postings.add(place, text)
    scores = postings.scores(wanted)
    hits = [place for place, score in enumerate(scores) if score > 0]
    return tuple(sorted(hits, key=lambda place: -scores[place]))


def _name_terms(name: str) -> list[str]:
    return terms(_HUMP.sub(" ", name))


def _terms(schema: ToolSchema) -> list[str]:
    """Its name, what it says of itself, and what its arguments are called and say."""
    found = [*_name_terms(schema.name), *terms(schema.description)]
    properties = schema.parameters.get("properties")
    for name, about in properties.items() if isinstance(properties, Mapping) else ():
        said = about.get("description") if isinstance(about, Mapping) else None
        found += [*_name_terms(str(name)), *terms(said if isinstance(said, str) else "")]
    return found


# --- Calls ----------------------------------------------------------------------------------------


def arguments_of(call: ToolCall) -> dict[str, Any] | str:
    """The arguments as an object; or what is wrong with them, in words for the model."""
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError as error:
        return f"the arguments are not valid JSON: {error}"
    if not isinstance(given, dict):
        return "the arguments must be one JSON object"
    return given


def brief(call: ToolCall) -> str:
    """The arguments in one short line, for people."""
    given = arguments_of(call)
    if isinstance(given, str):
        return _shortened(call.arguments)
    return _shortened(", ".join(f"{name}={_value(value)}" for name, value in given.items()))


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _BRIEF else line[: _BRIEF - 1] + "…"


def tools_used(messages: Sequence[Message]) -> list[str]:
    """The calls of a turn in their order, each in one line."""
    return [
        f"{call.name} {brief(call)}".rstrip()
        for message in messages
        if isinstance(message.carries, ToolCalls)
        for call in message.carries.calls
    ]


# --- Rounds ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Round:
    """What the model asked for, with what it said before, and the result of each call."""

    said: Message
    results: tuple[Message, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        return (self.said, *self.results)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return self.said.carries.calls if isinstance(self.said.carries, ToolCalls) else ()


def asked(text: str, calls: Sequence[ToolCall]) -> Message:
    return Message("assistant", text, ToolCalls(tuple(calls)))


def result(call: ToolCall, text: str) -> Message:
    return Message("tool", text, ToolResult(call.id, call.name))


def put_away(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """The rounds with one line in place of each result, where that is shorter."""
    return tuple(
        Round(one.said, tuple(_stub(message) for message in one.results)) for one in rounds
    )


def _stub(message: Message) -> Message:
    if message.text.startswith(_AWAY):
        return message
    lines = message.text.count("\n") + 1
    line = f"{_AWAY} to make room: {lines:,} line{'s' * (lines != 1)}; call again if needed]"
    return (
        Message(message.role, line, message.carries) if len(line) < len(message.text) else message
    )


_AWAY = "[put away"


# --- Results --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cut:
    """A result as it is shown; ``next_line`` is where to go on, None if it is whole."""

    text: str
    next_line: int | None = None


def cut(text: str, characters: int, first_line: int = 1) -> Cut:
    """About so many characters of ``text``, in whole lines, with a note that says where to continue.

    ``first_line`` is the number of the text's first line. A first line that is too long by itself is cut, so that
    going on always comes to an end.
    """
    if len(text) <= characters:
        return Cut(text)
    lines = text.split("\n")
    last_line = first_line + len(lines) - 1
    size = shown = 0
    while shown < len(lines) and size + len(lines[shown]) <= characters:
        size += len(lines[shown]) + 1
        shown += 1
    if shown == 0:
        part = lines[0][: max(0, characters)]
        following = first_line + 1
        note = (
            f"line {first_line} has {len(lines[0]):,} characters, the first {len(part):,} are shown"
        )
        if following > last_line:
            return Cut(f"{part}\n[{note}]", following)
        return Cut(
            f"{part}\n[{note}; continue at line {following}: {_go_on(following)}]", following
        )
    following = first_line + shown
    note = f"lines {first_line} to {following - 1} of {last_line}; continue at line {following}"
    return Cut("\n".join(lines[:shown]) + f"\n[{note}: {_go_on(following)}]", following)


def _go_on(line: int) -> str:
    return f'the same call with "start_line": {line}'


def seen(references: Sequence[Reference], shown: Cut) -> tuple[Reference, ...]:
    """What of the references the model really sees once the result was cut."""
    if shown.next_line is None:
        return tuple(references)
    last = shown.next_line - 1
    kept = []
    for one in references:
        if one.origin == "read" and one.lines is not None:
            first = one.lines[0]
            kept.append(replace(one, lines=(first, max(first, min(one.lines[1], last)))))
        elif one.path is not None and one.path in shown.text:
            kept.append(one)
    return tuple(kept)


def no_room(tokens: int) -> str:
    """What stands for a result of which nothing can be shown."""
    return f"[no room for this result of {tokens:,} tokens: answer with what you have]"


def from_line(text: str, line: int) -> str | None:
    """The text from this line on, counted from 1; None if it has fewer lines."""
    lines = text.split("\n")
    return "\n".join(lines[line - 1 :]) if 1 <= line <= len(lines) else None
