"""Read, obey or ask, and again."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import SillError
from ..screen import is_styled, one_line, say, tell
from .keyboard import interrupts
from .session import Given, Session
from .table import Unknown, commands, is_command, look_up, parse

if TYPE_CHECKING:
    from ...ports import Store
    from .plain_prompt import PlainPrompt
    from .prompt import Prompt

_ENDED: dict[str, str] = {
    "open": "begun elsewhere",
    "partial": "cut off",
    "failed": "not given",
    "cancelled": "stopped",
    "interrupted": "interrupted",
}


async def handle(session: Session, text: str) -> None:
    """One message or command; whatever goes wrong is told, and the conversation goes on."""
    if not text.strip():
        return
    if is_command(text):
        await obey(session, text)
        return
    from .answer import answer

    await answer(session, text.removeprefix("/") if text.startswith("//") else text)


async def obey(session: Session, line: str) -> None:
    name, rest = parse(line)
    found = look_up(name, commands())
    if isinstance(found, Unknown):
        nearest = f"; did you mean :{found.nearest}?" if found.nearest else ""
        tell(f"there is no command :{name}{nearest} (:help lists them)")
        session.code = 2
        return
    work = asyncio.ensure_future(found.run(session, Given(rest)))
    with interrupts(lambda: _cancel(work)):
        try:
            await work
        except SillError as error:
            session.code = error.exit_code
            tell(str(error))
        except asyncio.CancelledError:
            if not work.cancelled():  # it is the conversation that ends
                work.cancel()
                raise
            tell("stopped")


def _cancel(work: "asyncio.Future[None]") -> None:
    work.cancel()


async def talk(session: Session) -> None:
    """At a terminal, until the user leaves."""
    say(f"Sill in {session.folder.name}; :help lists the commands", dim=True)
    prompt = _prompt(session)
    session.desk.tell = prompt.tell
    _log_above(prompt)
    opening: list[asyncio.Task[None]] = []
    prompt.when_shown(lambda: opening.append(asyncio.create_task(_open(session, prompt))))
    with interrupts(lambda: None):
        while not session.leaving:
            text = await prompt.read()
            if text is None:
                break
            session.code = 0
            await handle(session, text)
            if session.code == 130:
                prompt.arm()
    for task in opening:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _log_above(prompt: "Prompt | PlainPrompt") -> None:
    """Warnings of any part, from any thread, stand above the prompt and not in it."""
    import logging

    loop = asyncio.get_running_loop()

    class Above(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            loop.call_soon_threadsafe(prompt.tell, self.format(record))

    logging.basicConfig(handlers=[Above()], format="%(message)s", level=logging.WARNING, force=True)


def _prompt(session: Session) -> "Prompt | PlainPrompt":
    if is_styled():
        from .prompt import Prompt

        return Prompt(session)
    from .plain_prompt import PlainPrompt

    return PlainPrompt(session)


async def _resumed(store: "Store", chat: str) -> str:
    """Which chat it is, and how it was left."""
    from ..chats import first_words

    info, turns = await store.chat(chat), await store.turns(chat, limit=1)
    title = "" if info is None else info.title or await first_words(store, info)
    name = one_line(title, 60)
    words = f"going on with “{name}”" if name else "going on with the last chat"
    status = turns[-1].status if turns else "complete"
    return words if status == "complete" else f"{words}; its last answer was {_ENDED[status]}"


async def _open(session: Session, prompt: "Prompt | PlainPrompt") -> None:
    """Behind the prompt: the model, and the names that completion offers."""
    from .known import note_names
    from .models import endpoint_models

    try:
        # The folder is looked at meanwhile; a large one does not keep the model waiting.
        names = asyncio.to_thread(note_names, session.folder)
        goes_on = session.go_on
        app, _ = await asyncio.gather(session.app(), names)
        if goes_on and session.chat is not None:
            prompt.tell(await _resumed(app.store, session.chat))
        await session.refresh_meter()
        prompt.redraw()
        session.models = await endpoint_models(session, app)
    except SillError as error:
        prompt.tell(str(error))
    prompt.redraw()
