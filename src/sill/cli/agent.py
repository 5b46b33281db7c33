"""``sill agent``: a task, worked on in steps; what it proposes is decided on at the end."""

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, assert_never

import click

from ..core.agent import Go, Halt, Limits, Why
from ..errors import UsageError
from .common import endpoint_options, opened, run_async
from .money import in_dollars
from .screen import Waiting, json_text, plain

if TYPE_CHECKING:
    from ..app.agent import Agent
    from ..app.edits import Offered

_STEPS = Limits().steps


@click.command("agent")
@click.argument("task", required=False)
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    help="Send this file along (repeatable).",
)
@click.option(
    "--steps", type=click.IntRange(1, 200), metavar="N", help=f"At most N steps; default {_STEPS}."
)
@click.option(
    "--limit", type=click.FloatRange(0), metavar="DOLLARS", help="Most that the run may cost."
)
@click.option(
    "-c",
    "--continue",
    "go_on",
    is_flag=True,
    help="Take up the folder's last run where it was left.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; nothing is asked.")
@endpoint_options
def command(
    task: str | None,
    files: tuple[str, ...],
    steps: int | None,
    limit: float | None,
    go_on: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Let a model work on TASK with tools: plan, act, check.

    Every step is a turn of one chat. Files are not touched: what the run proposes is shown at the end, and on a
    terminal you are asked for each hunk. Ctrl-C stops it; --continue goes on. What the model says goes to standard
    error, what was done to standard output. Exit code 0: done; 1: stopped before that; 2: usage; 130: interrupted.
    """
    if go_on == (task is not None):
        raise UsageError("give a task, or --continue", hint='sill agent "…"')
    limits = Limits(steps or _STEPS, limit)
    chosen = limits if steps is not None or limit is not None else None
    return run_async(_work(task, files, limits if task else chosen, as_json, given))


async def _work(
    task: str | None,
    files: tuple[str, ...],
    limits: Limits | None,
    as_json: bool,
    given: dict[str, Any],
) -> int:
    from ..app.agent import Errand, begin, take_up
    from .repl.keyboard import interruptible

    async with opened(given, quiet=as_json) as app:
        agent = (
            await take_up(app, limits)
            if task is None
            else await begin(app, Errand(task, limits or Limits(), files))
        )
        async with interruptible() as stop:
            while isinstance(order := agent.following(), Go):
                if not as_json:
                    click.echo(f"sill: {shown_step(order, agent)}", err=True)
                await _show(agent, order, stop.asked, quiet=as_json)
        if as_json:
            click.echo(json_text(await report(agent, order)))
        else:
            _conclude(order)
            if order.why != "interrupted":
                await _decide(agent)
        return exit_code(order.why)


def shown_step(order: Go, agent: "Agent") -> str:
    what = ", a check" if order.is_check else ""
    return f"step {order.number} of {agent.errand.limits.steps}{what}"


async def _show(agent: "Agent", order: Go, stop: asyncio.Event, *, quiet: bool) -> None:
    from ..engine.events import Delta, Finished, Notice, Refused, Started, Thought, ToolUsed

    waiting, text = Waiting(is_silent=quiet), ""
    async with aclosing(agent.step(order, stop)) as events:
        async for event in events:
            waiting.clear()
            match event:
                case Started(certificate=certificate):
                    waiting.show(f"{certificate.predicted:,} tokens sent; Ctrl-C stops …")
                case Delta(text=piece):
                    text += piece
                    _say(piece, quiet)
                case Notice(text=said):
                    _line(f"sill: {said}", text, quiet)
                case ToolUsed():
                    _line(f"⚙ {event.name} {event.arguments}", text, quiet)
                    text = "\n"
                case Thought() | Finished() | Refused():
                    pass
                case _:
                    assert_never(event)
    if text and not text.endswith("\n"):
        _say("\n", quiet)


def _say(piece: str, quiet: bool) -> None:
    if not quiet:
        click.echo(plain(piece), nl=False, err=True)


def _line(line: str, before: str, quiet: bool) -> None:
    """On a line of its own, whatever was said before."""
    if not quiet:
        start = "\n" if before and not before.endswith("\n") else ""
        click.echo(f"{start}{plain(line)}", err=True)


# --- How it ended ---------------------------------------------------------------------------------


def exit_code(why: Why) -> int:
    match why:
        case "done" | "unchecked":
            return 0
        case "interrupted":
            return 130
        case "steps" | "money" | "stuck" | "failed":
            return 1
        case never:
            assert_never(never)


def conclusion(halt: Halt, resume: str = "sill agent --continue") -> str:
    """One line about why it is over."""
    match halt.why:
        case "done":
            return "done"
        case "unchecked":
            return "done, but there was no step left to check it"
        case "interrupted":
            return f"stopped; `{resume}` goes on"
        case "steps":
            return f"{halt.words}; `{resume} --steps N` goes on"
        case "money" | "stuck" | "failed":
            return f"stopped: {halt.words}; `{resume}` tries again"
        case never:
            assert_never(never)


def _conclude(halt: Halt) -> None:
    click.echo(f"sill: {plain(conclusion(halt))}", err=True)
    if halt.why in ("done", "unchecked"):
        click.echo(plain(halt.words))


async def offers(agent: "Agent") -> "list[Offered]":
    """The open proposals of the run that can be shown, oldest first."""
    from ..app.edits import Offered
    from ..core.proposal import Preview, preview
    from ..engine.proposals import read

    shown = [(one.id, preview(read(one.body).proposal)) for one in await agent.proposals()]
    return [Offered(id, one) for id, one in shown if isinstance(one, Preview)]


async def _decide(agent: "Agent") -> None:
    from ..app.edits import open_edits
    from .agreeing import agree, warn_if_bent
    from .edit import tell, tell_recovered
    from .hunks import is_interactive, show

    offered = await offers(agent)
    if not offered:
        return
    if not is_interactive():
        for one in offered:
            click.echo(plain(one.shown.proposal.explanation), err=True)
            show(one.shown)
        click.echo("sill: nothing was written; `:apply` in `sill chat -c` asks for it", err=True)
        return
    edits = open_edits(agent.app.folder, agent.app.store)
    tell_recovered(await edits.recover())
    for one in offered:
        warn_if_bent(one.shown)
        try:
            outcome = await agree(edits, one)
        except (click.Abort, KeyboardInterrupt):
            click.echo("\nsill: the rest stays open; `sill agent --continue` asks again", err=True)
            return
        if outcome is None:
            click.echo("sill: nothing was written", err=True)
        else:
            tell(outcome)


async def report(agent: "Agent", halt: Halt) -> dict[str, Any]:
    """The documented JSON object; every key is always there."""
    from .edit import shown_json

    return {
        "outcome": halt.why,
        "words": halt.words,
        "task": agent.errand.task,
        "steps": [
            {
                "said": step.said,
                "tools": list(step.calls),
                "proposals": step.proposed,
                "outcome": step.outcome,
                "reason": step.reason,
            }
            for step in agent.steps
        ],
        "proposals": [
            {
                "id": one.id,
                "explanation": one.shown.proposal.explanation,
                **shown_json(one.shown),
            }
            for one in await offers(agent)
        ],
        "cost": in_dollars(agent.cost),
        "chat": agent.chat,
    }
