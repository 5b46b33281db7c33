"""What the commands over a vault share: opening one, and a progress bar on anything slow."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from ..adapters.vault.index import DiskVault
from ..errors import UsageError
from .screen import plain

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_SHOW_AFTER = 1.0  # seconds; quicker work shows nothing
_SHOW_EVERY = 0.1


def vault_option(function: F) -> F:
    return click.option(
        "--vault",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Folder of notes and code; default: the current one.",
    )(function)


def embedder_options(function: F) -> F:
    """Which embedder searches by meaning."""
    named = click.option(
        "--embedder",
        default="",
        metavar="WHICH",
        help="`bundled`, `none`, or the address of an OpenAI-compatible endpoint; default: as set.",
    )
    model = click.option(
        "--embed-model", default="", metavar="NAME", help="Model at that endpoint."
    )
    return named(model(function))


@asynccontextmanager
async def opened(
    folder: Path | None, *, embedder: str = "none", embed_model: str = ""
) -> AsyncIterator[DiskVault]:
    """The vault, brought up to date, with a progress bar if that takes more than a second.

    An ``embedder`` of "" is the one of the settings.
    """
    root = folder or Path.cwd()
    if not root.is_dir():
        raise UsageError(f"{root}: there is no such folder", hint="name one with --vault")
    vault = _vault(root, embedder, embed_model)
    try:
        with Bar("reading") as bar:
            await vault.refresh(bar.show)
        yield vault
    finally:
        await vault.close()


def _vault(folder: Path, wanted: str, model: str) -> DiskVault:
    from ..app.vault import vault_of
    from ..paths import config_dir, state_dir
    from ..settings import FILE_NAME, Settings, find_project_file, load
    from ..trust import refuse_untrusted

    project_file = find_project_file(folder.resolve())
    flags = {"embedder": wanted or None, "embed_model": model or None}
    settings = load(user_file=config_dir() / FILE_NAME, project_file=project_file, flags=flags)
    # What else an untrusted folder wants to decide is of no concern here, and has no say.
    own = {
        key: value
        for key, value in settings.values.items()
        if key.startswith("embed") or key in ("include", "exclude")
    }
    if wanted != "none":
        refuse_untrusted(Settings(own), project_file, state_dir() / "trusted.json")
    others = {key: v for key, v in settings.values.items() if v.origin != "project file"}
    return vault_of(folder, Settings(others | own))


class Bar:
    """A line on standard error that moves while work goes on; nothing where nobody watches."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._started = self._shown = time.monotonic()
        self._visible = False

    def __enter__(self) -> "Bar":
        return self

    def show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if (
            not sys.stderr.isatty()
            or now - self._started < _SHOW_AFTER
            or now - self._shown < _SHOW_EVERY
        ):
            return
        self._shown, self._visible = now, True
        share = done / total if total else 1.0
        left = (now - self._started) * (1 - share) / share if share else 0.0
        filled = "█" * int(24 * share)
        click.echo(
            f"\r{self._label} {filled:░<24} {done:,} of {total:,}, {left:.0f} s left \x1b[K",
            nl=False,
            err=True,
        )

    def __exit__(self, *_: object) -> None:
        if self._visible:
            click.echo("\r\x1b[K", nl=False, err=True)


async def note_path(vault: DiskVault, name: str) -> str:
    """The file somebody means by a path, a name or an alias."""
    wanted = name.removeprefix("[[").removesuffix("]]")
    found = vault.index.files.find(wanted, "")
    if found is None:
        (reference, *_) = [*await vault.references(f"[[{wanted}]]"), None]
        found = reference.path if reference else None
    if found is None:
        raise UsageError(f"there is no note “{plain(name)}” in this vault")
    return found


def run_async(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)
