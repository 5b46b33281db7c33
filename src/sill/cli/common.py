"""What every command that talks to a model shares: its options, and an open application."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import UsageError
from ..paths import config_dir, state_dir
from ..settings import FILE_NAME, Scalar, Settings, find_project_file, load
from ..trust import refuse_untrusted
from .screen import plain

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from ..app import App

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
    click.option(
        "--share",
        "shares",
        multiple=True,
        metavar="NAME=PART",
        help="Part of the window's room for system, tools, files, history or recall, such as files=0.6.",
    ),
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
    """Settings from files, environment and the flags in ``given``; project settings only as far as trusted.

    ``given["flags"]`` may hold more of them by their full names.
    """
    _show_warnings()
    folder = Path(given.get("vault") or Path.cwd())
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder", hint="name one with --vault")
    folder = folder.resolve()
    project_file = find_project_file(folder)
    flags: dict[str, Scalar | None] = {
        key: given.get(key) for key in ("model", "base_url", "window", "database")
    }
    flags |= _shares(given.get("shares") or ()) | (given.get("flags") or {})
    settings = load(user_file=config_dir() / FILE_NAME, project_file=project_file, flags=flags)
    refuse_untrusted(settings, project_file, state_dir() / "trusted.json")
    return Where(folder, settings)


def _shares(given: Sequence[str]) -> dict[str, Scalar | None]:
    """``files=0.6`` as a flag of the chat's profile; the settings check the name and the number."""
    flags: dict[str, Scalar | None] = {}
    for text in given:
        name, _, part = text.partition("=")
        try:
            flags[f"profile.chat.share_{name.strip()}"] = float(part)
        except ValueError:
            raise UsageError(
                f"--share {text}: not NAME=PART", hint="for example files=0.6"
            ) from None
    return flags


def _show_warnings() -> None:
    """What a part of Sill warns of goes to standard error like everything that is not an answer."""
    import logging

    logging.basicConfig(format="sill: %(message)s", level=logging.WARNING)


def opened(given: dict[str, Any], *, quiet: bool = False) -> "AbstractAsyncContextManager[App]":
    return open_where(settled(given), quiet=quiet)


def open_where(where: Where, *, quiet: bool = False) -> "AbstractAsyncContextManager[App]":
    from ..app import open_app

    return open_app(where.settings, where.folder, _silent if quiet else progress)


def _silent(text: str) -> None:
    """Nobody wants to know."""


def progress(text: str) -> None:
    """One line about long work, on standard error."""
    click.echo(plain(text), err=True)


def run_async(work: Coroutine[Any, Any, T]) -> T:
    import asyncio

    return asyncio.run(work)
