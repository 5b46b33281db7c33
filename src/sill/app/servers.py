"""The servers of tools that the settings name."""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from ..adapters.mcp.box import McpTools
from ..adapters.mcp.client import Access, McpServer
from ..settings import MCP_SERVER, Scalar, Settings

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def mcp_tools(settings: Settings, folder: Path, taken: Collection[str]) -> McpTools | None:
    """The tools of all servers that are not switched off; None where there is none."""
    servers = [
        McpServer(access_of(name, given, folder, os.environ))
        for name, given in settings.mcp_servers().items()
        if given.get("enabled", True)
    ]
    return McpTools(servers, taken) if servers else None


def access_of(
    name: str, given: Mapping[str, Scalar], folder: Path, environment: Mapping[str, str]
) -> Access:
    """How to reach it. Of the environment only what the entry names by ``${NAME}`` is handed on."""
    missing: list[str] = []

    def filled(text: str) -> str:
        def value(found: re.Match[str]) -> str:
            if found[1] not in environment:
                missing.append(found[1])
            return environment.get(found[1], "")

        return _VARIABLE.sub(value, text)

    env = {key: filled(text) for key, text in _named(given, "env").items()}
    headers = {key: filled(text) for key, text in _named(given, "headers").items()}
    return Access(
        name=name,
        command=str(given.get("command", "")),
        args=tuple(_named(given, "args").values()),
        env=env,
        url=str(given.get("url", "")),
        headers=headers,
        only=frozenset(_named(given, "tools").values()),
        timeout=float(given.get("timeout", MCP_SERVER["timeout"].default or 0)),
        folder=folder,
        problem=f"the variable {missing[0]} is not set" if missing else "",
    )


def _named(given: Mapping[str, Scalar], group: str) -> dict[str, str]:
    """``env.A``, ``env.B`` by ``A``, ``B``, in their order."""
    beginning = f"{group}."
    return {
        key.removeprefix(beginning): str(value)
        for key, value in given.items()
        if key.startswith(beginning)
    }
