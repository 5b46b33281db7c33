"""The tools of one folder: Sill's own over its notes, its edits and what is remembered of it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from ..core.edits import Scope
from ..engine.offering import Boxes
from ..engine.tools import edits, library, notebook
from ..engine.tools.edits import EditTools
from ..engine.tools.library import LibraryTools
from ..engine.tools.notebook import MemoryTools
from ..errors import FileRefused
from ..ports import Store, ToolBox, Vault
from ..settings import Settings

OWN_NAMES = frozenset(tool.name for tool in (*library.TOOLS, *edits.TOOLS, *notebook.TOOLS))
OpenVault = Callable[[], Awaitable[Vault]]


def built_in(store: Store, folder: Path, open_vault: OpenVault, max_bytes: int) -> list[ToolBox]:
    """Reading and finding, proposing edits, remembering; every one stays inside of the folder."""

    async def read_scope(paths: Sequence[str]) -> Scope:
        from .edits import read_scope as read

        vault = await open_vault()
        await vault.refresh()
        known = set(await vault.paths())
        for path in paths:
            # What the vault does not show cannot be edited unseen either; a new file can be made.
            if path not in known and (folder / path).exists():
                raise FileRefused(path, "is not one of the folder's documents")
        return await asyncio.to_thread(read, folder, paths, None, max_bytes)

    return [
        LibraryTools(open_vault),
        EditTools(store, read_scope),
        MemoryTools(store, str(folder)),
    ]


def vault_opener(folder: Path, settings: Settings, stack: AsyncExitStack) -> OpenVault:
    """Opens the folder's vault when it is first needed; ``stack`` closes it."""
    opened: list[Vault] = []
    opening = asyncio.Lock()

    async def open_vault() -> Vault:
        from .vault import vault_of

        async with opening:
            if not opened:
                vault = await asyncio.to_thread(vault_of, folder, settings)
                stack.push_async_callback(vault.close)
                await vault.refresh()
                opened.append(vault)
        return opened[0]

    return open_vault


def tools_of(settings: Settings, store: Store, folder: Path, stack: AsyncExitStack) -> Boxes:
    """Every tool that this folder's chats may be offered; ``stack`` ends the servers of others that were started."""
    max_bytes = settings.get("max_file_bytes", int) or 0
    own = built_in(store, folder, vault_opener(folder, settings, stack), max_bytes)
    if not settings.mcp_servers():
        return Boxes(own)
    from .servers import mcp_tools

    others = mcp_tools(settings, folder, OWN_NAMES)
    if others is None:
        return Boxes(own)
    stack.push_async_callback(others.close)
    return Boxes([*own, others], untold=others.untold)


def are_wanted(settings: Settings, profile: str, *, is_tiny: bool) -> bool:
    """Whether a profile's chats call tools; unless told otherwise all but those of the bundled model, which is too
    small to make good use of them.
    """
    chosen = settings.of_profile(profile, "tools", str) or "auto"
    return profile == "chat" and (chosen == "true" or (chosen == "auto" and not is_tiny))
