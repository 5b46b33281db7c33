"""Commands about the conversation itself: help, another answer, leaving."""

import sys
from collections.abc import Iterable

from ...errors import UsageError
from ..screen import columns, folded, painted, say
from .answer import show
from .flow import flow_for
from .keyboard import interruptible
from .session import Given, Session
from .table import Command, Unknown, commands, look_up

_KEYS = """\
[[Note#Heading]] sends that note along; @file puts a file into the chat; Tab completes.
Alt-Enter or \"\"\" … \"\"\" for several lines; Ctrl-R searches what you typed; Ctrl-X Ctrl-E edits it in $EDITOR.
Ctrl-C stops an answer and keeps what came; once more, or Ctrl-D, leaves."""

_LEAST = 30  # columns for what a command does, beside its name


async def help(session: Session, given: Given) -> None:
    known = commands()
    if given.text:
        found = look_up(given.words[0].lstrip(":/"), known)
        if isinstance(found, Unknown):
            raise UsageError(f"there is no command :{found.name}", hint=":help lists them")
        say(f":{found.name} {found.usage}".rstrip(), bold=True)
        say(f"  {found.help}")
        return
    width = max(len(f"{c.name} {c.usage}") for c in known.values()) + 5
    is_wide = columns() >= width + _LEAST
    for command in known.values():
        name = f":{command.name} {command.usage}".rstrip()
        indent = " " * (width if is_wide else 6)
        told = folded(indent + command.help, columns(), indent)
        if is_wide:
            print(f"  {painted(name, 'cyan')}{painted(told[len(name) + 2 :])}")
        else:
            print(f"  {painted(name, 'cyan')}\n{painted(told)}")
    say()
    say(folded(_KEYS, columns()), dim=True)


async def again(session: Session, given: Given) -> None:
    from ...app.branches import edit_question, regenerate

    app = await session.app()
    turns = (await app.store.history(session.chat)).turns if session.chat else ()
    if not turns:
        raise UsageError("there is no answer yet", hint="ask something first")
    turn = turns[-1].id
    text = given.text
    async with interruptible() as stop:
        events = (
            edit_question(app, turn, text, session.files)
            if text
            else regenerate(app, turn, session.files)
        )
        stop.also = app.stop
        await show(session, events, text, flow_for(sys.stdout))
        session.leaving = stop.leave


async def quit(session: Session, given: Given) -> None:
    session.leaving = True


def _command_names(session: Session, typed: str) -> Iterable[str]:
    return commands()


COMMANDS = (
    Command("help", "[COMMAND]", "this list, or more about one", help, ("h", "?"), _command_names),
    Command(
        "again",
        "[TEXT]",
        "another answer to the last question, or to TEXT instead",
        again,
        ("retry", "regenerate"),
    ),
    Command("quit", "", "leave; the chat is kept", quit, ("exit", "q")),
)
