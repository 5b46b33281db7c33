"""A task for an agent, from within the conversation."""

import sys
from collections.abc import Iterable

from ...core.agent import Go, Limits
from ...errors import UsageError
from ..screen import say, tell
from .answer import named_files, show, without_mentions
from .flow import flow_for
from .keyboard import interruptible
from .session import Given, Session
from .table import Command

_USAGE = ":agent TASK [--steps N] [--limit DOLLARS], or :agent continue"


async def agent(session: Session, given: Given) -> None:
    """Work on a task in a chat of its own, which is the one to go on with afterwards."""
    from ...app.agent import Errand, begin, take_up
    from ..agent import conclusion, exit_code, offers, shown_step

    app = await session.app()
    text, limits = options(given.text)
    if text == "continue":
        run = await take_up(app, limits)
    else:
        there, lost = named_files(text, session.folder)
        if lost:
            raise UsageError(f"@{lost[0]}: there is no such file")
        task = without_mentions(text, there)
        run = await begin(app, Errand(task, limits or Limits(), (*session.files, *there)))
    async with interruptible() as stop:
        while isinstance(order := run.following(), Go):
            say(shown_step(order, run), dim=True)
            await show(session, run.step(order, stop.asked), "", flow_for(sys.stdout))
    session.leaving = session.leaving or stop.leave
    session.code, session.unsent = exit_code(order.why), ""
    tell(conclusion(order, ":agent continue"))
    if count := len(await offers(run)):
        what = "a change is" if count == 1 else f"{count:,} changes are"
        say(f"✎ {what} proposed; :diff shows the last, :apply asks for it", "cyan")


def options(text: str) -> tuple[str, Limits | None]:
    """The task, and the limits if any were given."""
    words, found = text.split(), Limits()
    kept: list[str] = []
    while words:
        word = words.pop(0)
        if word not in ("--steps", "--limit"):
            kept.append(word)
            continue
        try:
            value = words.pop(0)
            found = (
                Limits(max(1, int(value)), found.dollars)
                if word == "--steps"
                else Limits(found.steps, float(value.lstrip("$")))
            )
        except (IndexError, ValueError):
            raise UsageError(_USAGE) from None
    # Without options the task stays exactly as it was typed.
    return (text, None) if found == Limits() else (" ".join(kept), found)


def _actions(session: Session, typed: str) -> Iterable[str]:
    return ("continue",)


COMMANDS = (
    Command("agent", "TASK|continue", "work on a task in steps, with tools", agent, (), _actions),
)
