"""``sill chat``, and ``sill`` alone: a conversation in the terminal, or line by line through a pipe."""

import sys
from typing import TYPE_CHECKING, Any

import click

from .common import Where, endpoint_options, progress, run_async, settled
from .screen import types_in

if TYPE_CHECKING:
    from .repl.session import Session


@click.command("chat")
@click.option(
    "--files",
    "with_files",
    is_flag=True,
    help="The FILEs named after the options go into the chat.",
)
@click.option(
    "-c", "--continue", "go_on", is_flag=True, help="Go on with the folder's latest chat."
)
@click.argument("files", nargs=-1, type=click.Path(), metavar="[FILE]...")
@endpoint_options
def command(with_files: bool, go_on: bool, files: tuple[str, ...], **given: Any) -> int:
    """Talk with a model about the files of a folder. `sill` alone does the same.

    FILEs are sent once and again only when they changed; edits made in an editor while chatting are
    noticed at the next message. `[[Note]]` in a message sends that note along, `@file` puts a file into
    the chat. `:help` lists the commands, which may begin with `:` or `/`.

    Without a terminal, each line of standard input is a message; `\"\"\"` holds several lines together.
    The exit code is that of the last answer: 0 complete, 1 refused, failed or partial, 2 usage,
    130 interrupted.
    """
    where = settled(given)
    return run_async(converse(where, files, go_on=go_on, given=given))


async def converse(
    where: Where, files: tuple[str, ...], *, go_on: bool = False, given: dict[str, Any]
) -> int:
    from .repl.desk import Desk
    from .repl.session import Session

    is_interactive = types_in() and sys.stdout.isatty()
    session = Session(
        Desk(given, where, progress), list(files), go_on=go_on, is_interactive=is_interactive
    )
    try:
        if is_interactive:
            from .repl.loop import talk

            await talk(session)
        else:
            await _read_lines(session)
    finally:
        await session.desk.close()
    return session.code


async def _read_lines(session: "Session") -> None:
    from .repl.lines import messages
    from .repl.loop import handle

    await session.app()  # a wrong setting is told before anything is read
    for text in messages(sys.stdin or ()):
        session.unsent = ""
        await handle(session, text)
        if session.leaving:
            break
