"""Commands that show what the model sees: files, window, ledger, sources."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from ...errors import UsageError
from ..screen import plain, say
from .keyboard import undisturbed
from .session import Given, Session
from .sources import tell_sources
from .table import Command

_BAR = 40


async def context(session: Session, given: Given) -> None:
    from ..explain import ledger

    app = await session.app()
    if session.started is None and session.chat is not None:
        await _show_stored(session, "")
    elif session.started is None:
        say(f"nothing was sent yet; the window has {app.connection.window:,} tokens")
    else:
        finished = session.finished
        certificate = finished.certificate if finished else session.started.certificate
        print(meter(session.started.plan.tokens, session.started.plan.budget.room))
        print(ledger(session.started.plan, certificate))


def meter(used: int, room: int) -> str:
    filled = min(_BAR, round(_BAR * used / max(1, room)))
    return f"{'▰' * filled}{'▱' * (_BAR - filled)} {used:,} of {room:,} tokens"


async def explain(session: Session, given: Given) -> None:
    """What was sent, or with a question what would be sent."""
    from ..explain import ledger

    if not given.text:
        await _show_stored(session, "")
        return
    app = await session.app()
    if " " not in given.text and await app.store.turn_ids(given.text):
        await _show_stored(session, given.text)
        return
    from ...engine.events import Refused

    gathered = await app.gather(given.text, session.files)
    ready = await app.plan(session.chat, gathered.question)
    if isinstance(ready, Refused):
        raise UsageError(ready.reason)
    say("this would be sent; nothing was:", dim=True)
    print(meter(ready.plan.tokens, ready.plan.budget.room))
    print(ledger(ready.plan, ready.certificate))


async def _show_stored(session: Session, name: str) -> None:
    from ...core.usage import plan_from_json
    from ..explain import ledger
    from ..replay import find_turn

    store = (await session.app()).store
    if name:
        turn = await find_turn(store, name)
    else:
        last = await store.turns(session.chat, limit=1) if session.chat else []
        if not last:
            raise UsageError("nothing was sent yet", hint="`:explain TEXT` shows what would be")
        turn = last[-1]
    plan = plan_from_json(turn.plan)
    say(f"turn {turn.id[:8]} · {turn.status} · {turn.model} at {turn.endpoint}", dim=True)
    print(meter(plan.tokens, plan.budget.room))
    print(ledger(plan, turn.certificate, turn))


async def compact(session: Session, given: Given) -> None:
    await session.app()
    if session.chat is None or not session.meter.used:
        raise UsageError("there is nothing to leave the window yet")
    session.makes_room = True
    say("the next message makes room: the older half of the window leaves it")
    say("what leaves is summed up, stays stored, and comes back when it is needed", dim=True)


async def files(session: Session, given: Given) -> None:
    match given.words:
        case [] | ["list"]:
            for name in session.files:
                is_there = (session.folder / name).is_file()
                say(f"  {name}", None if is_there else "yellow")
            if not session.files:
                say("  none; `:files add FILE`, or @FILE in a message", dim=True)
        case ["add", *names] if names:
            await _add(session, names)
        case ["drop", *names] if names:
            _drop(session, names)
        case _:
            raise UsageError(":files add|drop|list FILE…", hint=":files alone lists them")


async def add(session: Session, given: Given) -> None:
    await _add(session, given.words)


async def drop(session: Session, given: Given) -> None:
    _drop(session, given.words)


async def _add(session: Session, names: list[str]) -> None:
    from ...adapters.vault.read import read_document

    most = session.desk.where.settings.get("max_file_bytes", int) or 0
    for name in names:
        document = await asyncio.to_thread(read_document, session.folder, name, most)
        if session.add_files([document.path]):
            say(f"  {document.path} goes with the next message")
        else:
            say(f"  {document.path} is in the chat already")


def _drop(session: Session, names: list[str]) -> None:
    for name in names:
        if name not in session.files:
            raise UsageError(f"{plain(name)} is not in the chat", hint=":files lists them")
        session.files.remove(name)
        say(f"  {name} is no longer kept up to date; what was sent stays in the window")


async def sources(session: Session, given: Given) -> None:
    from ...core.references import read_rows

    references = session.finished.references if session.finished else ()
    if not references and session.chat:
        last = await (await session.app()).store.turns(session.chat, limit=1)
        references = read_rows(last[-1].references) if last else ()
    session.sources = references
    if references:
        await tell_sources(session.sources, session.folder, turns=None)
    else:
        say("the last answer refers to nothing")


async def open_source(session: Session, given: Given) -> None:
    """By its number after the answer, or by name."""
    name = given.text
    if not name:
        raise UsageError(":open N or :open FILE", hint=":sources shows the numbers")
    if name.isdecimal():
        if not 0 < int(name) <= len(session.sources):
            raise UsageError(f"there is no source {name}", hint=":sources shows them")
        source = session.sources[int(name) - 1]
        if source.path is None:
            raise UsageError(f"{source.link or 'that turn'} is no file")
        await _edit(session.folder / source.path, source.lines[0] if source.lines else 1)
        return
    await _edit(_existing(session.folder, name.strip('"')), 1)


def _existing(folder: Path, name: str) -> Path:
    path = folder / Path(name).expanduser()
    if not path.is_file():
        raise UsageError(f"{name}: there is no such file")
    return path


async def _edit(path: Path, line: int) -> None:
    from ..editor import open_editor

    with undisturbed():
        await asyncio.to_thread(open_editor, path, line)


def _file_names(session: Session, typed: str) -> Iterable[str]:
    from .known import file_names

    action, blank, _ = typed.partition(" ")
    if not blank:
        return ("add ", "drop ", "list")
    if action == "drop":
        return [f"drop {_quoted(name)}" for name in session.files]
    return [f"{action} {_quoted(name)}" for name in file_names(session.folder)]


def _any_file(session: Session, typed: str) -> Iterable[str]:
    from .known import file_names

    return [_quoted(name) for name in file_names(session.folder)]


def _chat_file(session: Session, typed: str) -> Iterable[str]:
    return [_quoted(name) for name in session.files]


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name


COMMANDS = (
    Command("context", "", "the window: meter and ledger of the last request", context, ("ctx",)),
    Command("compact", "", "let the older half of the window leave now", compact),
    Command("explain", "[TURN|TEXT]", "what a turn sent, or what TEXT would send", explain),
    Command("files", "add|drop|list", "the files this chat works with", files, (), _file_names),
    Command("add", "FILE…", "put files into the chat", add, (), _any_file),
    Command("drop", "FILE…", "take files out of the chat", drop, (), _chat_file),
    Command("sources", "", "everything the last answer refers to", sources, ("references",)),
    Command("open", "N|FILE", "open a source in $EDITOR, at its line", open_source, (), _any_file),
)
