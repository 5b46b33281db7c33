"""``sill ask``: one question, one answer, for people and for scripts."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from ..app import App
from ..core.references import rows_of
from ..engine.events import Delta, Finished, Notice, Refused, Started, ToolUsed
from ..errors import FileRefused, UsageError
from .common import endpoint_options, opened, run_async
from .money import in_dollars
from .repl.sources import tell_sources, worth_showing
from .screen import Pieces, Waiting, json_text, plain, types_in


@click.command("ask")
@click.argument("question", required=False)
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Send this file along (repeatable).",
)
@click.option(
    "-c", "--continue", "go_on", is_flag=True, help="Go on with the folder's latest chat."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of the answer."
)
@click.option("--no-stream", is_flag=True, help="Print the answer when it is whole.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing on standard error but errors.")
@endpoint_options
def command(
    question: str | None,
    files: tuple[str, ...],
    go_on: bool,
    as_json: bool,
    no_stream: bool,
    quiet: bool,
    **given: Any,
) -> int:
    """Ask QUESTION and print the answer on standard output.

    What is piped in goes along below the question, as data: `git diff | sill ask "Any slips?"`. Without
    QUESTION, or with `-`, standard input is the question. `[[Note]]` in it sends that note along.

    Only the answer goes to standard output, everything else to standard error. Exit code 0: complete;
    1: refused, failed or partial; 2: usage; 130: interrupted.
    """
    if question is None or question == "-":
        question = _from_stdin()
    elif not types_in():
        question = with_data(question, _read_stdin())
    if no_stream:
        given["flags"] = {"profile.chat.stream": False}
    manner = Manner(go_on, as_json, stream=not no_stream, quiet=quiet)
    return run_async(answer(question, files, manner, given))


@dataclass(frozen=True, slots=True)
class Manner:
    go_on: bool = False
    as_json: bool = False
    stream: bool = True
    quiet: bool = False


def with_data(question: str, data: str) -> str:
    """The question with a text below it, in a fence that the text cannot end; nothing is cut."""
    if not data.strip():
        return question
    longest = max((len(run) for run in re.findall(r"`+", data)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{question}\n\nStandard input:\n{fence}\n{data.rstrip()}\n{fence}"


async def answer(
    question: str, files: tuple[str, ...], manner: Manner, given: dict[str, Any]
) -> int:
    as_json, stream = manner.as_json, manner.stream
    async with opened(given, quiet=manner.quiet) as app:
        gathered = await app.gather(question, files)
        if gathered.refused:
            raise gathered.refused[0]
        if not manner.quiet:
            tell_unresolved(gathered.unresolved)
        chat = await app.latest_chat() if manner.go_on else None
        outcome: Finished | Refused | None = None
        started: Started | None = None
        waiting, pieces = Waiting(is_silent=manner.quiet), Pieces()
        printed, is_within = "", False  # in a line on the screen
        async for event in app.ask(chat, gathered.question):
            waiting.clear()
            match event:
                case Started(certificate=certificate):
                    started = event
                    waiting.show(f"{certificate.predicted:,} tokens sent; Ctrl-C stops …")
                case Delta(text=text):
                    if stream and not as_json:
                        click.echo(pieces.add(text), nl=False)
                        sys.stdout.flush()
                        is_within = not text.endswith("\n")
                    printed += text
                case Notice(text=text):
                    _remark(text, manner, is_within=is_within)
                    is_within = False
                case ToolUsed():
                    _remark(f"{event.name} {event.arguments}", manner, is_within=is_within)
                    is_within = False
                case Finished() | Refused():
                    outcome = event
        assert outcome is not None
        if as_json:
            told = report(app, outcome)
            told["certificate"]["drift"] = (await app.drift()).row()
            click.echo(json_text(told))
        elif isinstance(outcome, Finished):
            if not stream:
                click.echo(plain(outcome.text), nl=False)
            click.echo(pieces.end(), nl=printed != "" and not printed.endswith("\n"))
            if not manner.quiet and sys.stdout.isatty() and sys.stderr.isatty():
                await tell_sources(worth_showing(outcome.references, started), app.folder, err=True)
        return conclude(outcome, quiet=as_json)


def _remark(text: str, manner: Manner, *, is_within: bool) -> None:
    """On a line of its own, also within an answer whose line has not ended yet."""
    if not manner.quiet:
        start = "\n" if is_within else ""
        click.echo(f"{start}sill: {plain(text)}", err=True)


def tell_unresolved(links: Sequence[str]) -> None:
    for link in links:
        click.echo(f"sill: [[{plain(link)}]]: there is no such note in this folder", err=True)


def conclude(outcome: Finished | Refused, *, quiet: bool = False) -> int:
    """Say on standard error why there is no whole answer; the exit code."""
    match outcome:
        case Refused(reason=reason):
            click.echo(f"sill: {plain(reason)}", err=True)
            return 1
        case Finished(outcome="complete"):
            return 0
        case Finished(outcome=name, reason=reason):
            if not quiet or name == "failed":
                click.echo(f"sill: {plain(reason or name)}", err=True)
            return 130 if name == "cancelled" else 1


def report(app: App, outcome: Finished | Refused) -> dict[str, Any]:
    """The documented JSON object; every key is always there."""
    counted = app.tokenizer
    if isinstance(outcome, Refused):
        certificate = {
            "kind": counted.kind,
            "tokenizer": counted.id,
            "predicted": outcome.needed,
            "actual": None,
        }
        usage = None
    else:
        kept = outcome.certificate
        certificate = {
            "kind": kept.kind,
            "tokenizer": kept.tokenizer,
            "predicted": kept.predicted,
            "actual": kept.actual,
        }
        usage = outcome.usage
    return {
        "answer": outcome.text if isinstance(outcome, Finished) else "",
        "outcome": outcome.outcome if isinstance(outcome, Finished) else "refused",
        "model": (isinstance(outcome, Finished) and outcome.model) or app.model_name,
        "endpoint": (isinstance(outcome, Finished) and outcome.endpoint) or app.endpoint,
        "certificate": certificate,
        "usage": {
            "prompt": usage.prompt if usage else None,
            "cached": usage.cached if usage else None,
            "completion": usage.completion if usage else None,
        },
        "cost": in_dollars(outcome.cost),
        "references": rows_of(outcome.references) if isinstance(outcome, Finished) else [],
        "chat": outcome.chat if isinstance(outcome, Finished) else None,
        "turn": outcome.turn if isinstance(outcome, Finished) else None,
        "ms": outcome.took_ms if isinstance(outcome, Finished) else 0,
    }


def _from_stdin() -> str:
    if types_in():
        raise UsageError("there is no question", hint='sill ask "…", or pipe it in')
    text = _read_stdin()
    if not text.strip():
        raise UsageError("the question is empty", hint='sill ask "…", or pipe it in')
    return text.rstrip("\n")


def _read_stdin() -> str:
    """Nothing where standard input is closed."""
    try:
        return sys.stdin.buffer.read().decode("utf-8") if sys.stdin else ""
    except UnicodeDecodeError:
        raise FileRefused("standard input", "not UTF-8 text") from None
    except OSError:
        return ""
