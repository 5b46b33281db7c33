"""Tools that say what they were told to say."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.request import ToolSchema
from ..core.tools import Tool
from ..ports import Caller, ToolOutcome

Say = Callable[[Mapping[str, Any]], str | ToolOutcome]


class ScriptedTools:
    """A tool box of plain functions; ``called`` has every call in order.

    Each takes any arguments, unless ``schemas`` says more. The tools named in ``core`` are always offered.
    """

    def __init__(
        self,
        functions: Mapping[str, Say],
        schemas: Mapping[str, ToolSchema] | None = None,
        core: Sequence[str] = (),
    ) -> None:
        self._functions = functions
        self._schemas = schemas or {}
        self._core = core
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.callers: list[Caller] = []

    async def tools(self) -> Sequence[Tool]:
        return [
            Tool(
                self._schemas.get(name) or ToolSchema(name, name, {"type": "object"}),
                name in self._core,
            )
            for name in self._functions
        ]

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        self.called.append((name, dict(arguments)))
        self.callers.append(caller)
        said = self._functions[name](arguments)
        return said if isinstance(said, ToolOutcome) else ToolOutcome(said)
