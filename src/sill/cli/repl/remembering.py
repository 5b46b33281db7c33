"""Commands about what is remembered of the folder."""

from collections.abc import Iterable

from ...errors import UsageError
from ..screen import painted, say
from .session import Given, Session
from .table import Command


async def memory(session: Session, given: Given) -> None:
    """Facts of this folder: listed, searched, added, reworded, forgotten."""
    from ...app import notes
    from ..memory import line

    store, here = (await session.app()).store, str(session.folder)
    match given.text.split(maxsplit=2):
        case [] | ["list"]:
            listed = await store.notes(here)
            for note in listed:
                print(painted(line(note)))
            if not listed:
                say("nothing is remembered; `:remember TEXT` does")
        case ["search", *words] if words:
            found = await notes.recollect(store, here, " ".join(words))
            for note in found:
                print(painted(line(note)))
            if not found:
                say("nothing found")
        case ["add", *words] if words:
            await remember(session, Given(" ".join(words)))
        case ["edit", id, text]:
            say(f"changed {line(await notes.reword(store, here, id, text))}")
        case ["forget", id]:
            say(f"forgotten {line(await notes.forget(store, here, id))}")
        case ["clear"]:
            count = len(await store.notes(here))
            if not (session.is_interactive and count) or _confirmed(count):
                say(f"forgotten: {await notes.forget_all(store, here):,}")
        case _:
            raise UsageError(":memory list|search WORDS|add TEXT|edit ID TEXT|forget ID|clear")


def _confirmed(count: int) -> bool:
    from ..hunks import read_line

    try:
        answer = read_line(f"Forget {count:,} facts? There is no way back [y/N] ")
        return answer.strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        return False


async def remember(session: Session, given: Given) -> None:
    """A fact for every chat of this folder."""
    from ...app import notes
    from ..memory import SHORT

    if not given.text:
        raise UsageError(":remember TEXT")
    turn = session.finished.turn if session.finished else ""
    store = (await session.app()).store
    note = await notes.remember(store, str(session.folder), given.text, turn)
    id = note.id[:SHORT]
    say(f"remembered as {id}; `:memory forget {id}` takes it back")


def _actions(session: Session, typed: str) -> Iterable[str]:
    return ("list", "search ", "add ", "edit ", "forget ", "clear")


COMMANDS = (
    Command(
        "memory",
        "list|add|forget|clear",
        "facts kept for this folder; also search, edit",
        memory,
        (),
        _actions,
    ),
    Command("remember", "TEXT", "keep a fact for this folder", remember),
)
