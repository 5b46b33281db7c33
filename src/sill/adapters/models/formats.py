"""Replies in a given JSON shape: by the server's constraint where it has one, by instruction elsewhere."""

import json
from dataclasses import replace
from typing import Literal, assert_never

from ...core.request import ChatRequest, JsonFormat, WireMessage

Way = Literal["json schema", "grammar", "instructions"]
_WAYS: tuple[Way, ...] = ("json schema", "grammar", "instructions")


class FormatMemory:
    """Which way works at which endpoint and model. A way is given up when the server refused it."""

    def __init__(self) -> None:
        self._refused: dict[tuple[str, str], set[Way]] = {}

    def best_way(self, endpoint: str, model: str, *, has_grammar: bool = False) -> Way:
        """The strictest way not yet refused. ``has_grammar``: there is a grammar, and a server that takes one."""
        refused = self._refused.get((endpoint, model), set())
        for way in _WAYS:
            if way not in refused and (way != "grammar" or has_grammar):
                return way
        return "instructions"

    def refuse(self, endpoint: str, model: str, way: Way) -> bool:
        """Remember that ``way`` was refused; true if there is another one to try."""
        if way != "instructions":
            self._refused.setdefault((endpoint, model), set()).add(way)
        return way != "instructions"


def with_format(
    request: ChatRequest, wanted: JsonFormat, way: Way, grammar: str = ""
) -> ChatRequest:
    """``request`` asking for a reply in this shape, in this way."""
    match way:
        case "json schema":
            return replace(request, response_format=wanted)
        case "grammar":
            return replace(request, extra={**request.extra, "grammar": grammar})
        case "instructions":
            return replace(request, messages=_instructed(request.messages, wanted))
        case never:
            assert_never(never)


def _instructed(messages: tuple[WireMessage, ...], wanted: JsonFormat) -> tuple[WireMessage, ...]:
    schema = json.dumps(dict(wanted.schema), ensure_ascii=False, separators=(",", ":"))
    text = (
        f"Answer with one JSON object and nothing else. It must match this JSON schema:\n{schema}"
    )
    if messages and messages[0].role == "system":
        first = messages[0]
        told = replace(first, content=f"{first.content or ''}\n\n{text}".lstrip())
        return (told, *messages[1:])
    return (WireMessage("system", text), *messages)
