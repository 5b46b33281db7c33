"""Commands about what the model may do beside talking."""

from collections.abc import Iterable

from ...errors import UsageError
from ..screen import one_line, painted, say
from .session import Given, Session
from .table import Command


async def tools(session: Session, given: Given) -> None:
    """List the tools, or switch them on or off for as long as the program runs."""
    match given.text:
        case "":
            pass
        case "on" | "off":
            wanted = {"profile.chat.tools": "true" if given.text == "on" else "false"}
            await session.desk.switch(**wanted)
            await session.refresh_meter()
        case _:
            raise UsageError(":tools, :tools on or :tools off")
    toolkit = (await session.app()).chat.toolkit
    if toolkit is None:
        say("no tools are offered to this model; `:tools on` offers them")
        return
    for tool in await toolkit.box.tools():
        description = one_line(tool.schema.description, 90)
        print(f"  {painted(f'{tool.name:24}', 'cyan')} {description}")


def _states(session: Session, typed: str) -> Iterable[str]:
    return ("on", "off")


COMMANDS = (
    Command("tools", "[on|off]", "what the model may call: read, search, propose", tools, (), _states),
)  # fmt: skip
