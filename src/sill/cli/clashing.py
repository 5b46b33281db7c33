"""Clashes on a terminal: each in its three versions, and whose text it becomes."""

from collections.abc import Iterator
from dataclasses import dataclass

import click

from ..adapters.vault.apply import Outcome
from ..adapters.vault.job import Conflict
from ..adapters.vault.undo import Nothing, Which
from ..app.edits import Edits
from ..app.merging import standing_turn
from ..core.clashes import KEPT, Choice, is_whole
from ..core.edits import Rejected
from ..core.merge import Clash
from ..core.proposal import Merge
from .hunks import Edit, read_line, show
from .screen import painted, plain

TRIES = 3  # how often it is asked anew because files changed meanwhile
_HELP = """\
k  keep the file as it is here
t  take the change here
b  both, the file first
e  write it in the editor"""


@dataclass(frozen=True, slots=True)
class Sides:
    """What the text that both began with is called, and the one that is wanted."""

    base: str
    wanted: str


PROPOSED = Sides("before both", "the proposal")
_TURNED = {
    "undo": Sides("as it was applied", "before it was applied"),
    "redo": Sides("before it was applied", "as it was applied"),
}


def decide(merge: Merge, sides: Sides, edit: Edit | None = None) -> dict[str, list[Choice]]:
    """Ask for each clash; ``click.Abort`` where the user goes away, and then nothing is chosen."""
    count = sum(map(len, merge.clashes.values()))
    choices: dict[str, list[Choice]] = {}
    for path, clashes in merge.clashes.items():
        for clash in clashes:
            number = sum(map(len, choices.values())) + 1
            click.echo("\n".join(_told(merge, path, clash, sides)))
            choices.setdefault(path, []).append(_asked(path, clash, (number, count), edit))
    return choices


async def decide_turn(
    edits: Edits, which: Which, most: int, edit: Edit | None = None
) -> Outcome | Nothing | None:
    """An undo or redo that met other files, as the user decides it; None if nothing was to be written."""
    outcome: Outcome | Nothing | None = None
    for _ in range(TRIES):
        found = await standing_turn(edits, which, most)
        if isinstance(found, Nothing):
            return found
        which, there = found
        others = [p for p, change in there.changes.items() if there.current[p] != change.before]
        changed = plain(", ".join(others))
        click.echo(f"sill: {changed} changed meanwhile; nothing was written", err=True)
        result = there.result(decide(there.merge, _TURNED[which.kind], edit))
        if isinstance(result, Rejected):
            return result
        if not result.files:
            return None
        click.echo(f"sill: the {which.kind} of the files as they are now:", err=True)
        show(result)
        if not _agrees():
            return None
        outcome = await edits.turn_merged(which, result)
        if not isinstance(outcome, Conflict):
            break
    return outcome


def _told(merge: Merge, path: str, clash: Clash, sides: Sides) -> Iterator[str]:
    change, now = merge.changes[path], merge.current[path]
    about = "both changed the same text"
    if is_whole(change, now):
        about = "the file is gone" if now is None else "this is about the whole file"
    yield painted(f"{plain(path)}, line {clash.line}: {about}", bold=True)
    yield from _side(sides.base, clash.base, None if change.before is not None else "no such file")
    yield from _side("the file now", clash.mine, None if now is not None else "no such file")
    yield from _side(sides.wanted, clash.theirs, None if change.after is not None else "no file")


def _side(name: str, text: str, missing: str | None) -> Iterator[str]:
    yield painted(f"  {name}:", "cyan")
    if missing is not None or not text:
        yield painted(f"    ({missing or 'nothing'})", dim=True)
    else:
        yield from (f"    {plain(line)}" for line in text.splitlines())


def _asked(path: str, clash: Clash, place: tuple[int, int], edit: Edit | None) -> Choice:
    while True:
        number, count = place
        match _answer(f"What becomes of it ({number} of {count})? [k,t,b,e,?] "):
            case "k":
                return KEPT
            case "t":
                return Choice("theirs")
            case "b":
                return Choice("both")
            case "e" if edit is not None:
                written = edit(clash.mine or clash.theirs, path)
                if written is not None:
                    return Choice("text", written)
            case _:
                click.echo(_HELP, err=True)


def _agrees() -> bool:
    while True:
        if (answer := _answer("Write this? [y,n] ")) in ("y", "n"):
            return answer == "y"


def _answer(question: str) -> str:
    line = read_line(question)
    if not line:
        raise click.Abort
    return line.strip().lower()[:1]
