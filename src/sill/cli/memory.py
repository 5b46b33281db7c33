"""``sill memory``: what is remembered of a folder."""

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import UsageError
from .common import run_async, settled
from .screen import json_text, one_line, plain

if TYPE_CHECKING:
    from ..ports import Store
    from ..records import Note

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
SHORT = 8  # characters of an id that people type

_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def _place(function: F) -> F:
    """Which folder's memory, and where it is kept, as ``given``."""
    for option in (
        click.option(
            "--vault",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Folder of notes and code; default: the current one.",
        ),
        click.option("--db", "database", metavar="PATH", help="Where chats are kept."),
    ):
        function = option(function)
    return function


@click.group("memory")
def command() -> None:
    """List, add, find, change and forget what is remembered of a folder.

    Facts come with the questions they bear on. The model can remember some, too, and documents that are used
    often are noted by themselves.
    """


@command.command("list")
@_JSON
@_place
def list_(as_json: bool, **given: Any) -> int:
    """All facts, oldest first."""
    _show(_with(given, lambda store, here: store.notes(here)), as_json)
    return 0


@command.command("search")
@click.argument("words", nargs=-1, required=True)
@_JSON
@_place
def search(words: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Facts that share a word with WORDS, best first. Exit code 1 if there is none."""
    from ..app.notes import recollect

    found = _with(given, lambda store, here: recollect(store, here, " ".join(words)))
    _show(found, as_json)
    return 0 if found else 1


@command.command("add")
@click.argument("text", nargs=-1, required=True)
@_JSON
@_place
def add(text: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Remember TEXT."""
    from ..app.notes import remember

    note = _with(given, lambda store, here: remember(store, here, " ".join(text)))
    _tell(note, "remembered as", as_json)
    return 0


@command.command("edit")
@click.argument("id")
@click.argument("text", nargs=-1, required=True)
@_JSON
@_place
def edit(id: str, text: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Say the fact that begins with ID in other words."""
    from ..app.notes import reword

    note = _with(given, lambda store, here: reword(store, here, id, " ".join(text)))
    _tell(note, "changed", as_json)
    return 0


@command.command("forget")
@click.argument("id")
@_JSON
@_place
def forget(id: str, as_json: bool, **given: Any) -> int:
    """Forget the fact that begins with ID. Of a document nothing is noted by itself again."""
    from ..app.notes import forget as forget_note

    note = _with(given, lambda store, here: forget_note(store, here, id))
    _tell(note, "forgotten", as_json)
    return 0


@command.command("clear")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@_place
def clear(yes: bool, **given: Any) -> int:
    """Forget everything of this folder."""
    from ..app.notes import forget_all
    from .hunks import is_interactive, read_line

    notes = _with(given, lambda store, here: store.notes(here))
    if notes and not yes:
        if not is_interactive():
            raise UsageError(f"{len(notes):,} facts would be forgotten", hint="--yes does it")
        answer = read_line(f"Forget {len(notes):,} facts? There is no way back [y/N] ")
        if answer.strip().lower() not in ("y", "yes"):
            return 1
    click.echo(f"forgotten: {_with(given, forget_all):,}")
    return 0


def _with(given: dict[str, Any], work: "Callable[[Store, str], Coroutine[Any, Any, T]]") -> T:
    where = settled(given)

    async def run() -> T:
        from ..app.build import open_storage

        async with open_storage(where.settings) as store:
            return await work(store, str(where.folder))

    return run_async(run())


# --- What is shown --------------------------------------------------------------------------------


def line(note: "Note") -> str:
    """One fact in one safe line."""
    mark = " (noted by itself)" if note.document else ""
    return f"{plain(note.id[:SHORT])}  {one_line(note.text, 200)}{mark}"


def _show(notes: "Sequence[Note]", as_json: bool) -> None:
    if as_json:
        click.echo(json_text({"facts": [_row(note) for note in notes]}))
        return
    for note in notes:
        click.echo(line(note))


def _tell(note: "Note", word: str, as_json: bool) -> None:
    if as_json:
        click.echo(json_text(_row(note)))
    else:
        click.echo(f"{word} {line(note)}")


def _row(note: "Note") -> dict[str, object]:
    return {
        "id": note.id,
        "text": note.text,
        "turn": note.turn or None,
        "document": note.document or None,
        "created_ms": note.created_ms,
        "updated_ms": note.updated_ms,
    }
