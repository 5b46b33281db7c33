"""Commands that find: notes of the folder, what was said."""

from ...errors import UsageError
from ..screen import columns, one_line, painted, plain, say
from .session import Given, Session
from .table import Command

_HITS = 8


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


COMMANDS = (
    Command("search", "WORDS", "passages of the folder; :open N opens one", search, ("find",)),
    Command("recall", "WORDS", "what was said, in this chat and the others", recall),
)
