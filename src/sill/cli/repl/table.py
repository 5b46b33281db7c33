"""The commands of the chat: one table that help, completion and obedience read."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .session import Given, Session

Run = Callable[["Session", "Given"], Awaitable[None]]
Arguments = Callable[["Session", str], Iterable[str]]
MARKS = (":", "/")


def no_arguments(session: "Session", typed: str) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Command:
    """``arguments`` completes what follows the name; ``usage`` shows it."""

    name: str
    usage: str
    help: str
    run: Run
    aliases: tuple[str, ...] = ()
    arguments: Arguments = no_arguments


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is no such command; ``nearest`` may have been meant."""

    name: str
    nearest: str | None


def commands() -> Mapping[str, Command]:
    """Every command by its name, in the order of the help."""
    from . import (
        chatting,
        editing,
        knowing,
        looking,
        models,
        remembering,
        saying,
        servers,
        settings,
        spending,
        tooling,
        working,
    )

    groups = (
        saying.COMMANDS,
        looking.COMMANDS,
        models.COMMANDS,
        editing.COMMANDS,
        working.COMMANDS,
        chatting.COMMANDS,
        knowing.COMMANDS,
        remembering.COMMANDS,
        tooling.COMMANDS,
        servers.COMMANDS,
        spending.COMMANDS,
        settings.COMMANDS,
    )
    return {command.name: command for group in groups for command in group}


def is_command(line: str) -> bool:
    """``:name`` or ``/name``; ``//`` and ``/a/path`` are text."""
    if not line.startswith(MARKS) or len(line) < 2:
        return False
    name = line[1:].split(maxsplit=1)[0] if line[1:].strip() else ""
    return not line[1:2].isspace() and "/" not in name and "::" not in line[:2]


def parse(line: str) -> tuple[str, str]:
    """Name and rest of a command line."""
    name, _, rest = line[1:].strip().partition(" ")
    return name.lower(), rest.strip()


def look_up(name: str, known: Mapping[str, Command]) -> Command | Unknown:
    """The command of that name, or of the only one that begins so."""
    for command in known.values():
        if name == command.name or name in command.aliases:
            return command
    begun = [command for command in known.values() if command.name.startswith(name)]
    if len(begun) == 1 and name:
        return begun[0]
    names = [*known, *(alias for command in known.values() for alias in command.aliases)]
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    return Unknown(name, near[0] if near else None)
