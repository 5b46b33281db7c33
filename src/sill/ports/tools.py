"""What a model can do beside talking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.references import Reference
from ..core.tools import Tool


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a tool is called from."""

    chat: str
    turn: str


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call brought: ``text`` is for the model, whole; whoever asks cuts it to the room there is.

    ``first_line`` is the number of its first line, for a result that is a part of something longer.
    """

    text: str
    references: tuple[Reference, ...] = ()
    is_error: bool = False
    first_line: int = 1


class ToolBox(Protocol):
    """Some tools that belong together: Sill's own, a memory, an MCP server.

    A tool may take ``start_line`` itself; of every other one a result that was cut is kept for going on.
    """

    async def tools(self) -> Sequence[Tool]:
        """What is there now, in an order that does not change by itself."""
        ...

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        """Arguments fit the tool's schema. What goes wrong is an outcome, not an exception, if it can be."""
        ...
