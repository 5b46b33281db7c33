"""Short ways to write a tool's schema: every word of it is in every request."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.request import ToolSchema
from ...core.tools import Tool


def tool(
    name: str,
    description: str,
    properties: Mapping[str, Mapping[str, Any]],
    required: Sequence[str] = (),
    *,
    is_core: bool = False,
) -> Tool:
    parameters: dict[str, Any] = {"type": "object", "properties": dict(properties)}
    if required:
        parameters["required"] = list(required)
    return Tool(ToolSchema(name, description, parameters), is_core)


def words(description: str = "") -> dict[str, Any]:
    return {"type": "string", "description": description} if description else {"type": "string"}


def integer(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "description": description}


def choice(path: str) -> str:
    """A path as models write it, as the vault names it."""
    wanted = path.strip().replace("\\", "/").removeprefix("[[").removesuffix("]]")
    return wanted.removeprefix("./").lstrip("/")
