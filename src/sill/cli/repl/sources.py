"""What an answer refers to: shown after it, numbered, and opened by number."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..screen import columns, linked, one_line, painted

if TYPE_CHECKING:
    from ...core.references import Reference
    from ...engine.events import Started

_SUMMARY = 100  # characters
_TURNS = 3  # recalled ones that are shown unasked


def worth_showing(
    references: "Iterable[Reference]", started: "Started | None"
) -> "tuple[Reference, ...]":
    """What this turn brought: links, reads, finds, recalls, and files that were sent with it."""
    items = started.plan.items if started else ()
    new = {item.name for item in items if item.kind == "file" and item.fate in ("sent", "updated")}
    return tuple(one for one in references if one.origin != "file" or one.path in new)


async def tell_sources(
    sources: "Sequence[Reference]", folder: Path, *, turns: int | None = _TURNS, err: bool = False
) -> None:
    """Print them, numbered, if there are any; of the turns that were recalled, so many."""
    if not sources:
        return
    summaries = await asyncio.to_thread(_summaries, folder, sources)
    click.echo(err=err)
    click.echo(painted("📚 Referenced documents", "cyan", bold=True), err=err)
    recalled = [source for source in sources if source.turn is not None]
    left_out = [] if turns is None else recalled[turns:]
    for number, source in enumerate(sources, 1):
        if source in left_out:
            continue
        for line in shown(number, source, summaries.get(source.path or "", ""), folder):
            click.echo(line, err=err)
    if more := len(left_out):
        told = f"    and {more:,} more earlier turn{'s' if more > 1 else ''}"
        click.echo(painted(told, dim=True), err=err)


def shown(number: int, source: "Reference", summary: str, folder: Path) -> list[str]:
    """Number, name, path with its lines, and what it is about; a link to nothing in yellow."""
    head = painted(f"{number:>3} ", bold=True)
    if source.turn is not None:
        words = painted(f"said earlier, turn {source.turn[:8]}")
        return [f"{head}{words}", *_about(source.excerpt)]
    if source.path is None:
        why = f"(not found{': ' + source.note if source.note else ''})"
        what = source.link or f"“{one_line(source.excerpt, _SUMMARY)}”"
        return [f"{head}{painted(what, 'yellow')} {painted(why, dim=True)}"]
    span = f":{source.lines[0]}-{source.lines[1]}" if source.lines else ""
    place = linked(painted(source.path + span), (folder / source.path).as_uri())
    name = f"{painted(source.link, 'cyan')} " if source.link else ""
    note = painted(f"  {source.note}", "yellow") if source.note else ""
    origin = painted(f"  {_WORDS[source.origin]}", dim=True) if source.origin in _WORDS else ""
    return [f"{head}{name}{place}{origin}{note}", *_about(summary)]


_WORDS = {"read": "read by the model", "search": "found by the model", "quote": "quoted"}


def _about(summary: str) -> list[str]:
    most = min(_SUMMARY, columns() - 5)
    return [painted(f"    {one_line(summary, most)}", dim=True)] if summary.strip() else []


def _summaries(folder: Path, sources: "Sequence[Reference]") -> dict[str, str]:
    """What each document is about; the quoted passage where only a part of it is meant."""
    from ...core.summaries import summarize

    found: dict[str, str] = {}
    for one in sources:
        if one.path is None or one.path in found:
            continue
        text = _text(folder / one.path)
        is_whole = one.lines is None or (one.lines[0] == 1 and one.lines[1] >= text.count("\n"))
        found[one.path] = summarize(text if is_whole else one.excerpt).text
    return found


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(100_000)
    except OSError:
        return ""
