"""Commands that find and remember: notes of the folder, what was said, facts."""

from collections.abc import Iterable

from ...errors import UsageError
from ..screen import columns, one_line, painted, plain, say
from .session import Given, Session
from .table import Command

_HITS = 8
_SHORT = 8


async def search(session: Session, given: Given) -> None:
    """Passages of the folder; numbered, so that `:open N` opens one."""
    from ...core.references import Reference
    from ...core.summaries import plain_text
    from ..vault import opened

    if not given.text:
        raise UsageError(":search WORDS")
    async with opened(session.folder) as vault:
        hits = await vault.search(given.text, _HITS)
    session.sources = [Reference("search", hit.path, hit.lines) for hit in hits]
    for number, hit in enumerate(hits, 1):
        heading = f"  {' › '.join(hit.headings)}" if hit.headings else ""
        place = f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}"
        print(f"{painted(f'{number:>3} {place}', 'cyan')}{painted(heading)}")
        say(f"      {one_line(plain_text(hit.text), columns() - 7)}", dim=True)
    if not hits:
        say("nothing found")


async def recall(session: Session, given: Given) -> None:
    """Turns of this folder's chats in which the words were said."""
    if not given.text:
        raise UsageError(":recall WORDS", hint="what was said, in this chat and the others")
    store = (await session.app()).store
    found = await store.search(given.text, str(session.folder), _HITS)
    for hit in found:
        from ..chats import when

        here = "this chat" if hit.chat == session.chat else one_line(hit.title, 40) or hit.chat[:8]
        print(f"{painted(hit.turn[:8], 'cyan')}  {when(hit.started_ms)}  {plain(here)}")
        say(f"    {one_line(hit.excerpt, columns() - 5)}", dim=True)
    if not found:
        say("nothing found")


async def memory(session: Session, given: Given) -> None:
    store = (await session.app()).store
    workspace = str(session.folder)
    match given.text.split(maxsplit=1):
        case [] | ["list"]:
            for note in await store.notes(workspace):
                print(f"{painted(note.id[:_SHORT], 'cyan')}  {one_line(note.text, 200)}")
            if not await store.notes(workspace):
                say("nothing is remembered; `:remember TEXT` does")
        case ["add", text]:
            await remember(session, Given(text))
        case ["forget", id]:
            found = [one for one in await store.notes(workspace) if one.id.startswith(id)]
            if len(found) != 1:
                what = "no" if not found else "more than one"
                raise UsageError(f"{what} fact begins with {plain(id)}", hint=":memory lists them")
            await store.forget_note(found[0].id)
            say(f"forgotten: {one_line(found[0].text, 100)}")
        case ["clear"]:
            notes = await store.notes(workspace)
            if session.is_interactive and notes and not _confirmed(len(notes)):
                return
            for note in notes:
                await store.forget_note(note.id)
            say(f"forgotten: {len(notes):,}")
        case _:
            raise UsageError(":memory list|add TEXT|forget ID|clear")


def _confirmed(count: int) -> bool:
    import click

    from ..hunks import read_line

    click.echo(f"Forget {count:,} facts? There is no way back [y/N] ", nl=False, err=True)
    try:
        return read_line().strip().lower() in ("y", "yes")
    except KeyboardInterrupt:
        return False


async def remember(session: Session, given: Given) -> None:
    """A fact for every chat of this folder."""
    if not given.text:
        raise UsageError(":remember TEXT")
    store = (await session.app()).store
    turn = session.finished.turn if session.finished else ""
    id = await store.note(str(session.folder), given.text, turn)
    say(f"remembered as {id[:_SHORT]}; `:memory forget {id[:_SHORT]}` takes it back")


def _actions(session: Session, typed: str) -> Iterable[str]:
    return ("list", "add ", "forget ", "clear")


COMMANDS = (
    Command("search", "WORDS", "passages of the folder; :open N opens one", search, ("find",)),
    Command("recall", "WORDS", "what was said, in this chat and the others", recall),
    Command(
        "memory",
        "list|add|forget|clear",
        "facts that are kept for this folder",
        memory,
        (),
        _actions,
    ),
    Command("remember", "TEXT", "keep a fact for this folder", remember),
)
