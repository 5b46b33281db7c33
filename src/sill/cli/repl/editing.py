"""Commands that change files: asked for, looked at, agreed to, taken back."""

from typing import TYPE_CHECKING

import click

from ...errors import UsageError
from ..screen import one_line, painted, plain, say, tell
from .answer import named_files, without_mentions
from .keyboard import interruptible
from .session import Given, Session
from .table import Command

if TYPE_CHECKING:
    from ...adapters.vault.undo import Which
    from ...app.edits import Edits, Offered


async def edit(session: Session, given: Given) -> None:
    """Ask for a change of the named files, or of the chat's; the diff is asked for hunk by hunk."""
    from ...app.edits import Offered, editor_for, read_scope
    from ...core.proposal import Preview, preview
    from ...engine.edit import Wish

    there, lost = named_files(given.text, session.folder)
    if lost:
        raise UsageError(f"@{lost[0]}: there is no such file")
    wish = without_mentions(given.text, there)
    files = there or session.files
    if not wish or not files:
        raise UsageError(
            "say what to change, and in which files", hint=":edit Fix the typos @note.md"
        )
    settings = session.desk.where.settings
    await session.app()  # the chat to go on with is known from here on
    app = await session.desk.app("chat_ops")
    scope = read_scope(session.folder, files, None, app.max_file_bytes)
    edits = await _edits(session)
    async with interruptible() as stop:
        click.echo(painted("waiting for the proposal; Ctrl-C stops …", dim=True), err=True)
        reply = await editor_for(app, settings).ask(session.chat, Wish(wish, scope), stop.asked)
    for notice in reply.notices:
        tell(notice)
    session.chat = reply.chat or session.chat
    session.add_files(there)
    await session.refresh_meter()
    shown = preview(reply.proposal) if reply.proposal is not None else None
    if not isinstance(shown, Preview):
        tell(("nothing to change: " if reply.outcome == "nothing" else "") + reply.message)
        session.code = 0 if reply.outcome == "nothing" else 1
        return
    await _decide(session, edits, Offered(reply.id, shown))


async def _decide(session: Session, edits: "Edits", offered: "Offered") -> None:
    from ..agreeing import agree, warn_if_bent
    from ..edit import tell as tell_outcome
    from ..hunks import show

    warn_if_bent(offered.shown)
    if not session.is_interactive:
        show(offered.shown)
        tell("nothing was written; `:apply all` takes it")
        return
    try:
        outcome = await agree(edits, offered)
    except (click.Abort, KeyboardInterrupt):
        click.echo()
        tell("nothing was written; :apply asks again")
        return
    if outcome is None:
        tell("nothing was written")
    else:
        session.code = tell_outcome(outcome, mark=":")


async def _edits(session: Session) -> "Edits":
    """The folder's edits, once whatever a crash left is in order."""
    from ...app.edits import open_edits
    from ..edit import tell_recovered

    edits = open_edits(session.folder, (await session.app()).store)
    tell_recovered(await edits.recover())
    return edits


async def _last_proposal(session: Session, *, open_only: bool) -> "tuple[Offered, str]":
    from ...app.edits import Offered
    from ...core.proposal import Preview, preview
    from ...engine.proposals import read

    store = (await session.app()).store
    listed = await store.proposals(session.chat) if session.chat else []
    for one in reversed(listed):
        if one.status == "open" or not open_only:
            shown = preview(read(one.body).proposal)
            if isinstance(shown, Preview):
                return Offered(one.id, shown), one.status
    what = "open proposal" if open_only else "proposal"
    raise UsageError(f"there is no {what} in this chat", hint=":edit asks for one")


async def diff(session: Session, given: Given) -> None:
    from ..hunks import show

    offered, status = await _last_proposal(session, open_only=False)
    say(f"{status}: {one_line(offered.shown.proposal.explanation, 200)}", bold=True)
    show(offered.shown)


async def apply(session: Session, given: Given) -> None:
    from ..edit import tell as tell_outcome

    offered, _ = await _last_proposal(session, open_only=True)
    edits = await _edits(session)
    if given.text == "all":
        outcome = await edits.apply(offered)
        assert outcome is not None  # every hunk was chosen
        session.code = tell_outcome(outcome, mark=":")
        return
    await _decide(session, edits, offered)


async def undo(session: Session, given: Given) -> None:
    from ...adapters.vault.undo import Which

    await _turn(session, Which("undo", given.text or None))


async def redo(session: Session, given: Given) -> None:
    from ...adapters.vault.undo import Which

    await _turn(session, Which("redo", given.text or None))


async def _turn(session: Session, which: "Which") -> None:
    from ...adapters.vault.undo import Nothing
    from ..edit import tell as tell_outcome
    from ..undo import WORDS, turned

    edits = await _edits(session)
    most = session.desk.where.settings.get("max_file_bytes", int) or 0
    session.code = 1
    try:
        outcome = await turned(edits, which, most if session.is_interactive else None)
    except (click.Abort, KeyboardInterrupt):
        click.echo()
        outcome = None
    if outcome is None:
        tell("nothing was written")
    elif isinstance(outcome, Nothing):
        tell(plain(outcome.reason))
    else:
        session.code = tell_outcome(outcome, WORDS[which.kind], ":")


async def announce(session: Session) -> None:
    """Say that the last turn left proposals to decide on."""
    from ...engine.proposals import touched_files

    finished = session.finished
    if finished is None:
        return
    store = (await session.app()).store
    for one in await store.proposals(finished.chat):
        if one.turn == finished.turn and one.status == "open":
            files = ", ".join(touched_files(one.body))
            say(f"✎ a change of {files} is proposed; :diff shows it, :apply asks for it", "cyan")


COMMANDS = (
    Command("edit", "TEXT [@FILE…]", "ask for a change; each hunk is asked for", edit),
    Command("diff", "", "the last proposal of this chat", diff),
    Command("apply", "[all]", "decide on the last open proposal", apply, (), lambda *_: ("all",)),
    Command("undo", "[ID]", "take back the edit that was applied last", undo),
    Command("redo", "[ID]", "do again what was undone", redo),
)
