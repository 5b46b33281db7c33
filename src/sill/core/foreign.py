"""Tools that other programs offer, made fit to be offered on: names, schemas, descriptions.

What they say of themselves is somebody else's text. It is shortened, and nothing in it can pose as a control token
of the model's chat template.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .control import neutral_text
from .request import ToolSchema
from .summaries import shortened
from .tools import Tool

LONGEST_NAME = 64  # characters that every endpoint takes
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")
_DESCRIPTION, _DETAIL = 800, 240  # characters
_NOISE = frozenset({"$schema", "$id", "$comment", "title", "examples"})
_NAMED = frozenset(
    {"properties", "$defs", "definitions", "patternProperties"}
)  # hold names, not keywords
_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Foreign:
    """A tool as its server lists it."""

    server: str
    name: str
    description: str
    parameters: Mapping[str, Any]


def offered(tools: Sequence[Foreign], taken: Collection[str]) -> dict[str, Foreign]:
    """The tools by the names under which they are offered, in their order.

    A name that is taken, or that two servers have, gets its server's before it; both do, so that it does not
    depend on which came first.
    """
    short = [_plain_name(tool.name) for tool in tools]
    often = Counter(short)
    named: dict[str, Foreign] = {}
    for tool, name in zip(tools, short, strict=True):
        if name in taken or often[name] > 1:
            name = _plain_name(f"{tool.server}_{tool.name}")
        number = 1
        unique = name
        while unique in named or unique in taken:
            number += 1
            unique = f"{name[: LONGEST_NAME - 4]}_{number}"
        named[unique] = tool
    return named


def _plain_name(name: str) -> str:
    plain = _STRANGE.sub("_", name) or "tool"
    if len(plain) <= LONGEST_NAME:
        return plain
    # Two long names that begin alike stay apart.
    mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain[: LONGEST_NAME - 9]}_{mark}"


def as_tool(name: str, tool: Foreign) -> Tool:
    description = shortened(_harmless(tool.description), _DESCRIPTION)
    return Tool(ToolSchema(name, description, parameters(tool.parameters)), origin=tool.server)


def parameters(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without what only people read, always one of an object."""
    slim = _slim(schema, 0)
    return {**slim, "type": "object"} if isinstance(slim, dict) else {"type": "object"}


def _slim(value: Any, depth: int) -> Any:
    if depth > _DEPTH:
        return {}
    match value:
        case Mapping():
            return {
                str(key): _names(part, depth) if key in _NAMED else _keyword(str(key), part, depth)
                for key, part in value.items()
                if key not in _NOISE
            }
        case list():
            return [_slim(one, depth + 1) for one in value]
        case str():
            return _harmless(value)
        case _:
            return value


def _names(value: Any, depth: int) -> Any:
    """What stands under names that the tool chose: those are kept, whatever they are."""
    if not isinstance(value, Mapping):
        return _slim(value, depth + 1)
    return {_harmless(str(name)): _slim(part, depth + 1) for name, part in value.items()}


def _keyword(key: str, value: Any, depth: int) -> Any:
    if key == "description" and isinstance(value, str):
        return shortened(_harmless(value), _DETAIL)
    return _slim(value, depth + 1)


def _harmless(text: str) -> str:
    return neutral_text(text.encode("utf-8", "replace").decode())
