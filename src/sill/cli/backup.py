"""``sill backup``: everything in one file, while Sill is in use."""

from pathlib import Path
from typing import Any

import click

from ..adapters.store import DatabaseStore
from ..app import open_storage
from ..errors import UsageError
from .chats import storage_options
from .common import run_async, settled
from .screen import plain


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@storage_options
def command(file: Path, **given: Any) -> int:
    """Write all chats to FILE, a database of its own, as they are in this moment.

    Sill may be in use meanwhile. `sill chat --db FILE` opens the copy.
    """
    size = run_async(_back_up(file, given))
    click.echo(f"{plain(str(file))}: {size:,} bytes")
    return 0


async def _back_up(file: Path, given: dict[str, Any]) -> int:
    from ..adapters.store.backup import back_up

    async with open_storage(settled(given).settings) as store:
        if not isinstance(store, DatabaseStore):
            raise UsageError("this store cannot be backed up")
        return await back_up(store, file)
