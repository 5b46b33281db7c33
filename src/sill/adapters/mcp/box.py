"""The tools of several MCP servers as one box."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...core.foreign import Foreign, as_tool, offered
from ...core.tools import Tool
from ...ports import Caller, ToolOutcome
from .client import McpServer


class McpTools:
    """Names that are ``taken`` are left to whoever has them. Servers start all at once, when first needed."""

    def __init__(self, servers: Sequence[McpServer], taken: Collection[str]) -> None:
        self.servers = tuple(servers)
        self._taken = frozenset(taken)
        self._named: dict[str, Foreign] = {}
        self._told: set[tuple[str, str]] = set()

    async def tools(self) -> Sequence[Tool]:
        listed = await asyncio.gather(*(server.tools() for server in self.servers))
        self._named = offered([tool for some in listed for tool in some], self._taken)
        return [as_tool(name, tool) for name, tool in self._named.items()]

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        tool = self._named.get(name)
        server = next((one for one in self.servers if tool and one.name == tool.server), None)
        if tool is None or server is None:
            return ToolOutcome(f"there is no tool {name!r}", is_error=True)
        return await server.call(tool.name, arguments)

    def untold(self) -> list[str]:
        """What went wrong with servers, each thing once."""
        wrong = [(one.name, one.problem) for one in self.servers if one.problem]
        new = [one for one in wrong if one not in self._told]
        self._told.update(new)
        return [f"the tools of {name} are not there: {problem}" for name, problem in new]

    async def close(self) -> None:
        await asyncio.gather(*(server.close() for server in self.servers))
