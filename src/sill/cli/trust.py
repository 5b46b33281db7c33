"""``sill trust``: one look, one yes."""

from pathlib import Path

import click

from ..errors import SettingsError
from ..paths import state_dir
from ..settings import find_project_file
from ..trust import trust
from .screen import plain


@click.command("trust")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
def command(folder: Path) -> None:
    """Allow the sill.toml of FOLDER (or above it) to choose a remote endpoint.

    The permission holds for the file exactly as it is now; after a change it is asked for again.
    """
    project_file = find_project_file(folder.absolute())
    if project_file is None:
        raise SettingsError(f"there is no sill.toml in {folder.absolute()} or above it")
    trust(project_file, state_dir() / "trusted.json")
    click.echo(f"trusted: {plain(str(project_file))}")
