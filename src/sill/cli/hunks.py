"""Proposals on a terminal: the diff, and the choice of hunks one by one."""

import os
import signal
import sys
from collections.abc import Iterator

import click

from ..core.diff import DiffLine, Hunk
from ..core.proposal import FilePreview, Preview
from .screen import plain

_COLOUR = {"-": "red", "+": "green"}
_HELP = "y  take this hunk\nn  leave it\na  take this one and all that follow\nq  leave this one and all that follow"


def show(shown: Preview) -> None:
    """The whole change, as a unified diff on standard output."""
    for file in shown.files:
        click.echo("\n".join(_head(file)))
        for hunk in file.hunks:
            click.echo("\n".join(_hunk(hunk)))


def choose(shown: Preview) -> dict[str, list[int]]:
    """Ask for each hunk; ``click.Abort`` where the user goes away, and then nothing is chosen."""
    chosen: dict[str, list[int]] = {}
    hunks = [(file, hunk) for file in shown.files for hunk in file.hunks]
    takes_rest = False
    for at, (file, hunk) in enumerate(hunks):
        if at == 0 or hunks[at - 1][0] is not file:
            click.echo("\n".join(_head(file)))
        click.echo("\n".join(_hunk(hunk)))
        answer = "y" if takes_rest else _asked(at + 1, len(hunks))
        if answer == "q":
            break
        takes_rest = takes_rest or answer == "a"
        if answer in ("y", "a"):
            chosen.setdefault(file.path, []).append(hunk.number)
    return chosen


def _asked(number: int, count: int) -> str:
    while True:
        click.echo(f"Take this hunk ({number} of {count})? [y,n,a,q,?] ", nl=False, err=True)
        line = _read_line()
        if not line:
            raise click.Abort
        answer = line.strip().lower()[:1]
        if answer and answer in "ynaq":
            return answer
        click.echo(_HELP, err=True)


def _read_line() -> str:
    """One line; Ctrl-C interrupts it at once, also where an event loop has put off interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return sys.stdin.readline()
    finally:
        signal.signal(signal.SIGINT, before)


def _head(file: FilePreview) -> Iterator[str]:
    path = plain(file.path)
    yield _styled(f"--- {'/dev/null' if file.change.before is None else 'a/' + path}", bold=True)
    yield _styled(f"+++ {'/dev/null' if file.change.after is None else 'b/' + path}", bold=True)


def _hunk(hunk: Hunk) -> Iterator[str]:
    if hunk.lines:
        yield _styled(hunk.header, colour="cyan")
    for line in hunk.lines:
        yield _styled(_shown(line), colour=_COLOUR.get(line.tag))


def _shown(line: DiffLine) -> str:
    return plain(str(line))


def _styled(text: str, colour: str | None = None, bold: bool | None = None) -> str:
    return click.style(text, fg=colour, bold=bold) if _is_coloured() else text


def _is_coloured() -> bool:
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def is_interactive() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
