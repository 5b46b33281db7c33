"""Commands about the servers of tools that the settings name."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...errors import UsageError
from ..screen import one_line, painted, say
from .session import Given, Session
from .table import Command

if TYPE_CHECKING:
    from ...adapters.mcp.box import McpTools
    from ...adapters.mcp.client import McpServer


async def mcp(session: Session, given: Given) -> None:
    """The servers and how many tools each offers; one can be started again."""
    box = await _box(session)
    if box is None:
        say("no servers of tools are set; [mcpServers.NAME] in the settings adds one")
        return
    match given.words:
        case []:
            for server in box.servers:
                _show(server, len(await server.tools()))
        case ["restart", *names]:
            chosen = [one for one in box.servers if not names or one.name in names]
            if not chosen:
                raise UsageError(f"there is no server {names[0]}", hint=":mcp lists them")
            for server in chosen:
                _show(server, len(await server.restart()))
        case _:
            raise UsageError(":mcp or :mcp restart [NAME]")


async def _box(session: Session) -> "McpTools | None":
    from ...adapters.mcp.box import McpTools
    from ...engine.offering import Boxes

    toolkit = (await session.app()).chat.toolkit
    boxes = toolkit.box.boxes if toolkit is not None and isinstance(toolkit.box, Boxes) else ()
    return next((box for box in boxes if isinstance(box, McpTools)), None)


def _show(server: "McpServer", tools: int) -> None:
    count = f"{tools:,} tool{'s' * (tools != 1)}"
    how = one_line(server.problem or f"{count}; {server.access.shown}", 200)
    colour = "yellow" if server.problem else "cyan"
    print(f"  {painted(f'{server.name:20}', colour)} {how}")


def _actions(session: Session, typed: str) -> Iterable[str]:
    return ("restart",)


COMMANDS = (
    Command("mcp", "[restart [NAME]]", "servers of tools, and what they offer", mcp, (), _actions),
)
