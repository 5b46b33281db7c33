"""One message: asked, shown as it comes, and remembered."""

import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from ...errors import SillError
from ..screen import painted, plain, tell
from .flow import Flow, flow_for
from .keyboard import Stop, interruptible, unless
from .session import Session
from .sources import tell_sources, worth_showing

if TYPE_CHECKING:
    from ...app import App
    from ...engine.events import Event, Finished, Refused, ToolUsed

_MENTION = re.compile(r'(?<![\w@])@(?:"([^"\n]+)"|([^\s"@]*[^\s"@.,;:!?)\]}\'’]))')


def mentioned(text: str) -> list[str]:
    """The names after ``@``, each once; quotes hold one together that has blanks."""
    return list(dict.fromkeys(found[1] or found[2] for found in _MENTION.finditer(text)))


def named_files(text: str, folder: Path) -> tuple[list[str], list[str]]:
    """Of the names after ``@``, the files that are there, and those that look like files and are not."""
    names = mentioned(text)
    there = [name for name in names if (folder / Path(name).expanduser()).is_file()]
    lost = [name for name in names if name not in there and ("/" in name or "." in name)]
    return there, lost


async def answer(session: Session, text: str) -> None:
    """Ask ``text`` of the chat. What does not reach the model is offered again at the next prompt."""
    async with interruptible() as stop:
        flow = flow_for(sys.stdout)
        try:
            app = await _opened(session, flow, stop)
            if app is None:
                session.unsent, session.code = text, 130
                flow.finish()
            else:
                await _ask(session, app, text, (flow, stop))
        except SillError as error:
            flow.finish()
            session.unsent, session.code = text, error.exit_code
            tell(str(error))
        session.leaving = session.leaving or stop.leave


async def _opened(session: Session, flow: Flow, stop: Stop) -> "App | None":
    if session.desk.ready is None:
        flow.wait("opening the model; Ctrl-C stops …")
    return await unless(stop, session.app())


async def _ask(session: Session, app: "App", text: str, shown: tuple[Flow, Stop]) -> None:
    # Every file is read as it is now: what was saved since the last message is noticed here.
    flow, stop = shown
    there, lost = named_files(text, session.folder)
    session.add_files(there)
    gathered = await app.gather(text, session.files)
    for name in lost:
        flow.note(f"sill: @{plain(name)}: there is no such file")
    for link in () if session.is_interactive else gathered.unresolved:
        flow.note(f"sill: [[{plain(link)}]]: there is no such note in this folder")
    for error in gathered.refused:
        flow.note(f"sill: {plain(str(error))}")
    with _room(session, app):
        await show(session, app.ask(session.chat, gathered.question, stop.asked), text, flow)
    # A linked note that the model reads by itself, as far as it needs it, is no file of the chat.
    session.add_files([path for path in gathered.linked if path not in _left_to_read(session)])


def _room(session: Session, app: "App") -> AbstractContextManager[None]:
    """After `:compact`, half of what is in the window has to leave."""
    if not session.makes_room:
        return nullcontext()
    from ...app.compacting import making_room

    session.makes_room = False
    return making_room(app, session.meter.used / max(1, app.chat.call.budget.room) / 2)


def _left_to_read(session: Session) -> set[str]:
    from ...engine.prepare import READER

    items = session.started.plan.items if session.started is not None else ()
    return {item.name for item in items if item.fate == "omitted" and READER in item.reason}


async def show(session: Session, events: AsyncIterator["Event"], text: str, flow: Flow) -> None:
    """Print a turn as it happens, and keep how it ended; ``text`` is what was asked."""
    outcome = await _shown(session, events, flow)
    flow.finish()
    session.code = conclude(session, outcome, text)
    await session.refresh_meter()
    if session.is_interactive and session.finished is not None:
        from .editing import announce

        session.sources = worth_showing(session.finished.references, session.started)
        await tell_sources(session.sources, session.folder)
        await announce(session)


async def _shown(
    session: Session, events: AsyncIterator["Event"], flow: Flow
) -> "Finished | Refused":
    from ...engine.events import Delta, Finished, Notice, Refused, Started, Thought, ToolUsed

    outcome: Finished | Refused | None = None
    thoughts = 0
    async with aclosing(events) as stream:  # type: ignore[type-var]
        async for event in stream:
            match event:
                case Started(certificate=certificate):
                    session.started = event
                    flow.wait(f"{certificate.predicted:,} tokens sent; Ctrl-C stops …")
                case Delta(text=piece, tokens=tokens):
                    if tokens is not None:
                        flow.status(f"{tokens:,} tokens; Ctrl-C stops …")
                    flow.add(piece)
                case Thought(text=piece):
                    thoughts += len(piece.split())
                    flow.wait(f"thinking, {thoughts:,} words; Ctrl-C stops …")
                case Notice(text=notice, level=level):
                    colour = "yellow" if level == "warning" else None
                    flow.note(painted(f"sill: {notice}", colour))
                case ToolUsed():
                    flow.finish()  # what is said after a tool was used is another paragraph
                    flow.note(_tool_line(event))
                case Finished() | Refused():
                    outcome = event
                case _:
                    assert_never(event)
    assert outcome is not None
    return outcome


def _tool_line(used: "ToolUsed") -> str:
    line = f"⚙ {used.name} {used.arguments} · {used.tokens:,} tokens"
    match used.outcome:
        case "failed":
            return painted(f"{line}, failed", "yellow")
        case "cut":
            return painted(f"{line}, cut", dim=True)
        case "lost":
            return painted(f"{line}, no room to show the model", "yellow")
        case _:
            return painted(line, dim=True)


def conclude(session: Session, outcome: "Finished | Refused", text: str) -> int:
    """Remember how it ended, and say so where it is no whole answer; the exit code."""
    from ...engine.events import Finished
    from ..ask import conclude as told

    if isinstance(outcome, Finished):
        session.chat, session.finished = outcome.chat, outcome
        if outcome.plan is not None and session.started is not None:
            session.started = replace(session.started, plan=outcome.plan)
        if outcome.outcome in ("failed", "cancelled") and not outcome.text:
            session.unsent = text
        if outcome.outcome == "cancelled" and not outcome.text:
            tell("stopped before a word came")
            return 130
    else:
        session.finished, session.unsent = None, text
    return told(outcome)


def without_mentions(text: str, names: Sequence[str]) -> str:
    """``text`` without the ``@`` of these names: a command's files are no part of its words."""
    shown = text
    for name in names:
        shown = shown.replace(f'@"{name}"', "").replace(f"@{name}", "")
    return " ".join(shown.split())
