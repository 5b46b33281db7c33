"""``sill mcp``: the folder's tools for another program, over standard input and output."""

from contextlib import AsyncExitStack
from pathlib import Path

import click

from .common import Where, run_async, settled


@click.command("mcp")
@click.option("--db", "database", metavar="PATH", help="Where chats are kept.")
@click.option(
    "--vault",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of notes and code; default: the current one.",
)
@click.option("--read-only", is_flag=True, help="Without the tools that propose and remember.")
def command(database: str | None, vault: Path | None, read_only: bool) -> int:
    """Serve the folder's tools to a program that speaks MCP, over standard input and output.

    It can search, read and follow links, and propose edits, which you look at in `sill chat` or on the page.
    It never writes a file. `sill serve` offers the same tools under /mcp.
    """
    run_async(_serve(settled({"database": database, "vault": vault}), read_only))
    return 0


async def _serve(where: Where, read_only: bool) -> None:
    from mcp.server.stdio import stdio_server

    from ..app.build import open_storage
    from ..app.mcp import guest_of, mcp_server
    from ..app.tools import vault_opener

    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_storage(where.settings))
        open_vault = vault_opener(where.folder, where.settings, stack)
        max_bytes = where.settings.get("max_file_bytes", int) or 0
        guest = guest_of(store, where.folder, open_vault, max_bytes, may_write=not read_only)
        server = mcp_server(lambda _: guest)
        reading, writing = await stack.enter_async_context(stdio_server())
        await server.run(reading, writing, server.create_initialization_options())
