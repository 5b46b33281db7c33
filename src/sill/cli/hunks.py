"""Proposals on a terminal: the diff, and the choice of hunks one by one."""

import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import click

from ..core.diff import DiffLine, Hunk
from ..core.proposal import FilePreview, Preview
from ..core.rewrite import new_side
from .screen import painted, plain, types_in

_COLOUR = {"-": "red", "+": "green"}
_HELP = """\
y  take this hunk
n  leave it
a  take this one and all that follow
q  leave this one and all that follow
e  change it in the editor, and take it so"""

Edit = Callable[[str, str], str | None]  # a text and its file's name -> the text as it was left


@dataclass(slots=True)
class Choice:
    """Numbers of the hunks that are taken, by file; and the text of those that the user wrote anew."""

    chosen: dict[str, list[int]] = field(default_factory=dict)
    rewritten: dict[tuple[str, int], str] = field(default_factory=dict)

    def take(self, path: str, number: int) -> None:
        self.chosen.setdefault(path, []).append(number)


def show(shown: Preview) -> None:
    """The whole change, as a unified diff on standard output."""
    for file in shown.files:
        click.echo("\n".join(_head(file)))
        for hunk in file.hunks:
            click.echo("\n".join(_hunk(hunk)))


def choose(shown: Preview, edit: Edit | None = None) -> Choice:
    """Ask for each hunk; ``click.Abort`` where the user goes away, and then nothing is chosen."""
    choice = Choice()
    hunks = [(file, hunk) for file in shown.files for hunk in file.hunks]
    takes_rest = False
    for at, (file, hunk) in enumerate(hunks):
        if at == 0 or hunks[at - 1][0] is not file:
            click.echo("\n".join(_head(file)))
        click.echo("\n".join(_hunk(hunk)))
        answer = "y" if takes_rest else _decided(file, hunk, (at + 1, len(hunks)), choice, edit)
        if answer == "q":
            break
        takes_rest = takes_rest or answer == "a"
        if answer in ("y", "a", "e"):
            choice.take(file.path, hunk.number)
    return choice


def _decided(
    file: FilePreview, hunk: Hunk, place: tuple[int, int], choice: Choice, edit: Edit | None
) -> str:
    """The answer for one hunk; what was written in the editor is in ``choice`` then."""
    while True:
        answer = _asked(*place)
        if answer != "e":
            return answer
        if file.change.after is None or edit is None:
            click.echo("this cannot be changed in an editor", err=True)
            continue
        before = new_side(hunk)
        after = edit(before, file.path)
        if after is None:
            continue
        if after != before:
            choice.rewritten[file.path, hunk.number] = after
        return answer


def _asked(number: int, count: int) -> str:
    while True:
        line = read_line(f"Take this hunk ({number} of {count})? [y,n,a,q,e,?] ")
        if not line:
            raise click.Abort
        answer = line.strip().lower()[:1]
        if answer and answer in "ynaqe":
            return answer
        click.echo(_HELP, err=True)


def read_line(question: str, *, err: bool = True) -> str:
    """The answer; Ctrl-C interrupts it from the question on, also where an event loop has put off interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # Else the loop would hear of the same Ctrl-C when it goes on, as of one more.
    loop = signal.set_wakeup_fd(-1)
    try:
        click.echo(question, nl=False, err=err)
        return sys.stdin.readline()
    finally:
        signal.set_wakeup_fd(loop)
        signal.signal(signal.SIGINT, before)


def _head(file: FilePreview) -> Iterator[str]:
    old = "/dev/null" if file.change.before is None else f"a/{file.path}"
    new = "/dev/null" if file.change.after is None else f"b/{file.path}"
    yield painted(f"--- {old}", bold=True)
    yield painted(f"+++ {new}", bold=True)


def _hunk(hunk: Hunk) -> Iterator[str]:
    if hunk.lines:
        yield painted(hunk.header, "cyan")
    for line in hunk.lines:
        yield painted(_shown(line), _COLOUR.get(line.tag))


def _shown(line: DiffLine) -> str:
    return plain(str(line))


def is_interactive() -> bool:
    return types_in() and sys.stdout.isatty()
