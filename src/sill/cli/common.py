"""What every command that talks to a model shares: its options, and an open application."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from ..app import App, open_app
from ..errors import UsageError
from ..paths import config_dir, state_dir
from ..settings import FILE_NAME, Scalar, Settings, find_project_file, load
from ..trust import refuse_untrusted
from .screen import plain

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_OPTIONS = [
    click.option("-m", "--model", metavar="NAME", help="Model at the endpoint."),
    click.option(
        "--base-url",
        metavar="URL",
        help="OpenAI-compatible endpoint, or `local` for the bundled model.",
    ),
    click.option("--window", type=int, metavar="TOKENS", help="Context window to plan for."),
    click.option("--db", "database", metavar="PATH", help="Where chats are kept."),
    click.option(
        "--vault",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Folder of notes and code; default: the current one.",
    ),
]


@dataclass(frozen=True, slots=True)
class Where:
    """The folder a command works in, and its settings."""

    folder: Path
    settings: Settings


def endpoint_options(function: F) -> F:
    """Add the options that choose a model and a folder, as one dictionary named ``given``."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def settled(given: dict[str, Any]) -> Where:
    """Settings from files, environment and the flags in ``given``; project settings only as far as trusted."""
    folder = Path(given.get("vault") or Path.cwd())
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder", hint="name one with --vault")
    folder = folder.resolve()
    project_file = find_project_file(folder)
    flags: dict[str, Scalar | None] = {
        key: given.get(key) for key in ("model", "base_url", "window", "database")
    }
    settings = load(user_file=config_dir() / FILE_NAME, project_file=project_file, flags=flags)
    refuse_untrusted(settings, project_file, state_dir() / "trusted.json")
    return Where(folder, settings)


def opened(given: dict[str, Any]) -> AbstractAsyncContextManager[App]:
    return open_where(settled(given))


def open_where(where: Where) -> AbstractAsyncContextManager[App]:
    return open_app(where.settings, where.folder, progress)


def progress(text: str) -> None:
    """One line about long work, on standard error."""
    click.echo(plain(text), err=True)


def run_async(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)
