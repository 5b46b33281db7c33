"""``sill undo``, ``sill redo`` and ``sill history``: what was applied, back and forth."""

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, TypeVar

import click

from ..adapters.vault.apply import Outcome
from ..adapters.vault.job import Conflict
from ..adapters.vault.undo import Nothing, Record, Which
from ..app import open_storage
from ..app.edits import Edits, open_edits
from .agreeing import in_editor
from .clashing import decide_turn
from .common import run_async, settled
from .edit import outcome_json, tell, tell_recovered
from .hunks import is_interactive
from .screen import json_text, plain

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
WORDS = {"undo": "undone", "redo": "redone"}


def _folder_options(function: F) -> F:
    options = [
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
        click.option("--db", "database", metavar="PATH", help="Where chats are kept."),
        click.option("--vault", metavar="DIR", help="Folder of notes; default: the current one."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@click.command("undo")
@click.argument("id", required=False)
@_folder_options
def undo(id: str | None, as_json: bool, **given: Any) -> int:
    """Take back the edit that was applied last, or the one with this ID of `sill history`.

    Files that were changed since are a conflict: on a terminal it is asked what becomes of each place; elsewhere
    nothing is written, and the exit code is 1.
    """
    return _turn(Which("undo", id), as_json, given)


@click.command("redo")
@click.argument("id", required=False)
@_folder_options
def redo(id: str | None, as_json: bool, **given: Any) -> int:
    """Do again what was undone last, or the edit with this ID; a conflict is asked for as by `sill undo`."""
    return _turn(Which("redo", id), as_json, given)


@click.command("history")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@_folder_options
def history(limit: int, as_json: bool, **given: Any) -> None:
    """List the edits that were applied in the folder, newest first."""
    records = _run(given, lambda edits: edits.history(limit))
    if as_json:
        click.echo(json_text([_record_json(record) for record in records]))
    for record in () if as_json else records:
        state = "" if record.is_applied else " (undone)"
        gone = "" if record.is_kept else " (too old to be undone)"
        files = ", ".join(f"{file.path} {file.kind}" for file in record.files)
        click.echo(f"{record.id}  {_when(record.when_ms)}  {plain(record.by)}{state}{gone}")
        click.echo(f"    {plain(_one_line(record.explanation))}")
        click.echo(f"    {plain(files)}")


def _run(given: dict[str, Any], work: Callable[[Edits], Coroutine[Any, Any, T]]) -> T:
    where = settled(given)

    async def opened() -> T:
        async with open_storage(where.settings) as store:
            edits = open_edits(where.folder, store)
            tell_recovered(await edits.recover())
            return await work(edits)

    return run_async(opened())


def _turn(which: Which, as_json: bool, given: dict[str, Any]) -> int:
    asks = not as_json and is_interactive()
    most = settled(given).settings.get("max_file_bytes", int) or 0
    outcome = _run(given, lambda edits: turned(edits, which, most if asks else None))
    return _told(WORDS[which.kind], outcome, as_json)


async def turned(edits: Edits, which: Which, most: int | None) -> Outcome | Nothing | None:
    """Undo or redo; with ``most`` bytes of a file, it is asked what becomes of one that changed meanwhile."""
    outcome = await (edits.undo(which.id) if which.kind == "undo" else edits.redo(which.id))
    if most is None or not isinstance(outcome, Conflict) or outcome.merge is None:
        return outcome
    return await decide_turn(edits, which, most, in_editor)


def _told(word: str, outcome: Outcome | Nothing | None, as_json: bool) -> int:
    """Print what came of an undo or redo; the exit code."""
    if outcome is None:
        click.echo("sill: nothing was written", err=True)
        return 1
    if isinstance(outcome, Nothing):
        if as_json:
            click.echo(json_text({"outcome": "nothing", **outcome_json(None)}))
        click.echo(f"sill: {plain(outcome.reason)}", err=True)
        return 1
    body = outcome_json(outcome)
    if as_json:
        named = next((name for name, value in body.items() if value is not None), "")
        shown = {"outcome": word if named == "applied" else named, **body}
        click.echo(json_text(shown))
    return tell(outcome, word)


def _record_json(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "when_ms": record.when_ms,
        "by": record.by,
        "explanation": record.explanation,
        "files": [{"path": file.path, "change": file.kind} for file in record.files],
        "applied": record.is_applied,
        "kept": record.is_kept,
        "patch_id": record.patch_id,
    }


def _when(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def _one_line(text: str) -> str:
    return " ".join(text.split())
