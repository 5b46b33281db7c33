"""Commands about chats: which one, its branches, its name, taking it elsewhere."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import UsageError
from ..screen import one_line, painted, say
from .session import Given, Session
from .table import Command

if TYPE_CHECKING:
    from ...records import Pin

_SHOWN = 15


async def chats(session: Session, given: Given) -> None:
    """List the folder's chats, or go on with one of them."""
    from ..chats import find_chat

    app = await session.app()
    if given.text:
        found = await find_chat(app.store, str(session.folder), given.text)
        await session.enter(found.id)
        await _show_last(session)
        return
    from ..chats import SHORT_ID, first_words, when

    listed = [one for one in await app.store.chats(str(session.folder)) if not one.archived]
    for info in listed[:_SHOWN]:
        here = "*" if info.id == session.chat else " "
        title = info.title or await first_words(app.store, info)
        pinned = "pinned " if info.pinned else ""
        turns = f"{info.turns} turn{'' if info.turns == 1 else 's'}"
        print(
            f"{here} {painted(info.id[:SHORT_ID], 'cyan')}  {when(info.used_ms)}  {turns:>9}"
            f"  {pinned}{one_line(title, 60)}"
        )
    if not listed:
        say("no chat yet; the first message begins one")
    elif len(listed) > _SHOWN:
        say(f"and {len(listed) - _SHOWN:,} more: `sill chats list`", dim=True)


async def _show_last(session: Session) -> None:
    """The end of a chat that is gone on with, so that one knows where one is."""
    store = (await session.app()).store
    info = await store.chat(session.chat) if session.chat else None
    last = (await store.history(session.chat)).turns[-1:] if session.chat else ()
    say(f"going on with {info.title or info.id[:8] if info else ''}", bold=True)
    for turn in last:
        for message in turn.messages:
            if message.is_talk:
                who = "you" if message.role == "user" else turn.model
                say(f"{who}: {one_line(message.text, 200)}", dim=True)


async def new(session: Session, given: Given) -> None:
    await session.app()
    await session.enter(None)
    say("a new chat; its files stay" if session.files else "a new chat")


async def fork(session: Session, given: Given) -> None:
    """List the turns of the chat, or let the next message continue one of them."""
    from ...app.branches import switch, tree
    from ..replay import find_turn

    app = await session.app()
    if session.chat is None:
        raise UsageError("there is no chat yet", hint="ask something first")
    if given.text:
        turn = await find_turn(app.store, given.text)
        if turn.chat != session.chat:
            raise UsageError(f"turn {given.text} is of another chat", hint=":chats goes there")
        chat = session.chat
        if turn.status == "complete":
            await app.store.branch(chat, turn.id)
        else:
            await switch(app.store, chat, turn.id)
        session.started, session.finished = None, None
        await session.refresh_meter()
        say("the next message continues that turn; what came after it stays as a branch")
        return
    questions = {turn.id: _question(turn.messages) for turn in await app.store.turns(session.chat)}
    for node in await tree(app.store, session.chat):
        here = "*" if node.on_path else " "
        indent = "  " * (len(node.siblings) > 1)
        print(f"{here} {painted(node.id[:8], 'cyan')} {indent}{one_line(questions[node.id], 70)}")


def _question(messages: Iterable[object]) -> str:
    for message in messages:
        if getattr(message, "role", "") == "user" and getattr(message, "carries", None) is None:
            return str(getattr(message, "text", ""))
    return ""


async def title(session: Session, given: Given) -> None:
    app = await session.app()
    info = await app.store.chat(session.chat) if session.chat else None
    if info is None or session.chat is None:
        raise UsageError("there is no chat yet", hint="ask something first")
    if given.text:
        await app.store.change_chat(session.chat, title=given.text)
    say(given.text or info.title or "no title; `:title TEXT` gives one")


async def pin(session: Session, given: Given) -> None:
    """Keep a turn or a file in the window whatever else has to leave; `:pin last` is the last turn."""
    store, chat = (await session.app()).store, session.chat
    if chat is None:
        raise UsageError("there is no chat yet", hint="ask something first")
    if given.text in ("", "list"):
        for kept in await store.pins(chat):
            say(f"  {kept.path or kept.turn[:8]}")
        if not await store.pins(chat):
            say("  nothing is pinned; `:pin last`, `:pin TURN` or `:pin FILE`", dim=True)
        return
    wanted = await _pin(session, given.text.strip('"'))
    if await store.unpin(chat, wanted):
        say("no longer pinned")
    else:
        await store.pin(chat, wanted)
        say("pinned: it stays in the window when others leave; once more takes it back")


async def _pin(session: Session, name: str) -> "Pin":
    from ...records import Pin
    from ..replay import find_turn

    store = (await session.app()).store
    if name in session.files:
        return Pin(path=name)
    if name == "last":
        last = (await store.history(session.chat or "")).turns[-1:]
        if not last:
            raise UsageError("there is no turn yet", hint="ask something first")
        return Pin(turn=last[-1].id)
    return Pin(turn=(await find_turn(store, name)).id)


async def export(session: Session, given: Given) -> None:
    """To a file: JSON if its name ends so, else Markdown; without a name, Markdown on the screen."""
    from ...adapters.store.export import to_json
    from ...adapters.store.markdown import to_markdown

    app = await session.app()
    if session.chat is None:
        raise UsageError("there is no chat yet", hint="ask something first")
    copied = await app.store.copy_chat(session.chat)
    if not given.text:
        say(to_markdown(copied))
        return
    name = given.words[0]
    text = to_json(copied) if name.endswith(".json") else to_markdown(copied)
    say(f"written to {_write_new(session.folder, name, text)}")


def _write_new(folder: Path, name: str, text: str) -> Path:
    path = folder / Path(name).expanduser()
    try:
        with path.open("x", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text + "\n")
    except FileExistsError:
        raise UsageError(f"{path} is there already", hint="name a new file") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}", hint="name another place") from None
    return path


def _pinnable(session: Session, typed: str) -> Iterable[str]:
    return ("last", "list", *(f'"{name}"' if " " in name else name for name in session.files))


COMMANDS = (
    Command("chats", "[CHAT]", "list the folder's chats, or go on with one", chats),
    Command("new", "", "begin a new chat", new),
    Command("fork", "[TURN]", "the chat's turns, or go on from one of them", fork, ("tree",)),
    Command("title", "[TEXT]", "show or change the chat's title", title, ("rename",)),
    Command(
        "pin", "[last|TURN|FILE]", "keep it in the window when others leave", pin, (), _pinnable
    ),
    Command("export", "[FILE]", "the chat as Markdown, or as JSON to a .json file", export),
)
