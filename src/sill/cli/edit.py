"""``sill edit``: an instruction and files, a proposal, a diff, and what is agreed to is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import click

from ..adapters.vault.apply import NotApproved, Outcome, Refused
from ..adapters.vault.job import Applied, Conflict
from ..adapters.vault.recover import Recovered
from ..adapters.vault.transact import Kept
from ..app import App, open_app
from ..app.edits import Edits, Offered, editor_for, open_edits, read_scope
from ..core.edits import Rejected
from ..core.ops import op_body
from ..core.proposal import FilePreview, Merge, Preview, preview
from ..engine.edit import EditReply, Wish
from ..errors import UsageError
from .agreeing import agree, warn_if_bent
from .common import Where, endpoint_options, progress, run_async, settled
from .hunks import is_interactive, show
from .money import in_dollars
from .screen import Waiting, json_text, plain


@click.command("edit")
@click.argument("instruction")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--selection", metavar="L1:L2", help="Lines of the first FILE that are meant.")
@click.option("-y", "--yes", is_flag=True, help="Apply everything without asking.")
@click.option(
    "-c", "--continue", "go_on", is_flag=True, help="Go on with the folder's latest chat."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object; applies only with --yes."
)
@endpoint_options
def command(
    instruction: str,
    files: tuple[str, ...],
    selection: str | None,
    yes: bool,
    go_on: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Ask a model to change FILEs, look at the change, and apply what you agree to.

    A FILE that does not exist may be made. On a terminal each hunk is asked for; elsewhere the diff is
    printed and nothing is written without --yes. All files change or none does; `sill undo` takes it back.
    Exit code 0: applied, shown or nothing to change; 1: no usable proposal, or a conflict; 2: usage.
    """
    where = settled(given)
    lines = None if selection is None else _lines(selection)
    asks = not yes and not as_json and is_interactive()
    return run_async(_edit(where, instruction, files, lines, Manner(yes, go_on, as_json, asks)))


@dataclass(frozen=True, slots=True)
class Manner:
    yes: bool
    go_on: bool
    as_json: bool
    asks: bool


async def _edit(
    where: Where,
    instruction: str,
    files: tuple[str, ...],
    lines: tuple[int, int] | None,
    manner: Manner,
) -> int:
    most = where.settings.get("max_file_bytes", int) or 0
    read_scope(
        where.folder, files, lines, most
    )  # a slip of the pen is told before a model is started
    async with open_app(where.settings, where.folder, progress, profile="chat_ops") as app:
        edits = open_edits(where.folder, app.store)
        tell_recovered(await edits.recover())
        scope = read_scope(where.folder, files, lines, most)
        chat = await app.latest_chat() if manner.go_on else None
        waiting = Waiting()
        waiting.show("waiting for the proposal; Ctrl-C stops …")
        try:
            reply = await editor_for(app, where.settings).ask(chat, Wish(instruction, scope))
        finally:
            waiting.clear()
        for notice in reply.notices:
            click.echo(f"sill: {plain(notice)}", err=True)
        shown = preview(reply.proposal) if reply.proposal is not None else None
        offered = Offered(reply.id, shown) if isinstance(shown, Preview) else None
        outcome = await _decide(edits, offered, manner) if offered else None
        if manner.as_json:
            click.echo(json_text(report(app, reply, offered, outcome)))
        return _conclude(reply, outcome, manner)


async def _decide(edits: Edits, offered: Offered, manner: Manner) -> Outcome | None:
    """Show the change and carry out what is agreed to; None if nothing was to be written."""
    warn_if_bent(offered.shown)
    if not manner.asks:
        if not manner.as_json:
            click.echo(plain(offered.shown.proposal.explanation), err=True)
            show(offered.shown)
        return await edits.apply(offered) if manner.yes else None
    return await agree(edits, offered)


def _lines(selection: str) -> tuple[int, int]:
    first, colon, last = selection.partition(":")
    if not (first.isdecimal() and (last.isdecimal() or not colon)):
        raise UsageError(f"--selection {selection}: not a range of lines", hint="like 3:7")
    return int(first), int(last) if colon else int(first)


# --- How it ended ---------------------------------------------------------------------------------


def _conclude(reply: EditReply, outcome: Outcome | None, manner: Manner) -> int:
    if reply.outcome == "nothing":
        click.echo(f"sill: nothing to change: {plain(reply.message)}", err=True)
        return 0
    if reply.proposal is None:
        click.echo(f"sill: {plain(reply.message)}", err=True)
        return 130 if reply.outcome == "cancelled" else 1
    if outcome is None:
        why = "" if manner.asks else "; --yes applies it"
        click.echo(f"sill: nothing was written{why}", err=True)
        return 0
    return tell(outcome)


def tell(outcome: Outcome, word: str = "applied", mark: str = "sill ") -> int:
    """Say on standard error what became of a change; the exit code. Commands begin with ``mark`` there."""
    match outcome:
        case Applied():
            back = "redo" if word == "undone" else "undo"
            names = ", ".join(outcome.files)
            click.echo(f"sill: {word}: {plain(names)}; `{mark}{back}` takes it back", err=True)
            _tell_kept(outcome.kept)
            if outcome.warning:
                click.echo(f"sill: {plain(outcome.warning)}", err=True)
            return 0
        case Conflict(files=files):
            _tell_kept(outcome.kept)
            for path, reason in files.items():
                click.echo(f"sill: {plain(path)}: {plain(reason)}", err=True)
            click.echo("sill: nothing was written", err=True)
            return 1
        case Refused(paths=paths):
            for one in paths:
                click.echo(f"sill: {plain(one.path)} {plain(one.reason)}", err=True)
            click.echo("sill: nothing was written", err=True)
            return 1
        case NotApproved() | Rejected():
            click.echo("sill: the proposal cannot be applied; nothing was written", err=True)
            return 1
        case never:
            assert_never(never)


def tell_recovered(recovered: Sequence[Recovered]) -> None:
    """Say what a crash had left and what became of it; tidying up is not worth a word."""
    for one in recovered:
        match one.outcome:
            case "finished":
                click.echo(f"sill: edit {one.id}, which was interrupted, is finished now", err=True)
            case "taken back":
                files = plain(", ".join(one.foreign))
                words = f"edit {one.id}, which was interrupted, is taken back: {files} had changed"
                click.echo(f"sill: {words}", err=True)
            case "unreadable":
                click.echo(f"sill: the record of edit {one.id} is damaged and left alone", err=True)
            case "discarded" | "cleaned up":
                pass
            case never:
                assert_never(never)
        _tell_kept(one.kept)


def _tell_kept(copies: Sequence[Kept]) -> None:
    for one in copies:
        words = f"{one.path} was saved in the same moment; that text is in {one.copy}"
        click.echo(f"sill: {plain(words)}", err=True)


# --- JSON -----------------------------------------------------------------------------------------


def report(
    app: App, reply: EditReply, offered: Offered | None, outcome: Outcome | None
) -> dict[str, Any]:
    """The documented JSON object; every key is always there."""
    shown = offered.shown if offered else None
    counted, usage = reply.certificate, reply.usage
    return {
        "enabled": reply.outcome != "disabled",
        "outcome": reply.outcome,
        "assistant_message": reply.message,
        "ops": [op_body(op) for op in reply.ops],
        "base_fingerprints": dict(reply.base_fingerprints),
        "proposal": reply.id or None,
        **shown_json(shown),
        "problems": [str(problem) for problem in reply.problems],
        **outcome_json(outcome),
        "model": app.model_name,
        "endpoint": app.endpoint,
        "certificate": None
        if counted is None
        else {
            "kind": counted.kind,
            "tokenizer": counted.tokenizer,
            "predicted": counted.predicted,
            "actual": counted.actual,
        },
        "usage": {
            "prompt": usage.prompt if usage else None,
            "cached": usage.cached if usage else None,
            "completion": usage.completion if usage else None,
        },
        "cost": in_dollars(reply.cost),
        "requests": reply.rounds,
        "chat": reply.chat,
        "turn": reply.turn,
        "ms": reply.took_ms,
    }


def shown_json(shown: Preview | None) -> dict[str, Any]:
    return {
        "base_hash": shown.base_hash if shown else None,
        "patch_id": shown.patch_id if shown else None,
        "files": [_file_json(file) for file in shown.files] if shown else [],
        "fuzz": shown.fuzz if shown else 0,
        "offset": shown.offset if shown else 0,
        "normalizations": list(shown.normalizations) if shown else [],
        "requires_confirmation": shown.requires_confirmation if shown else False,
    }


def _file_json(file: FilePreview) -> dict[str, Any]:
    before, after = file.change.before, file.change.after
    return {
        "path": file.path,
        "change": "created" if before is None else "deleted" if after is None else "changed",
        "hunks": [
            {
                "number": hunk.number,
                "header": hunk.header,
                "added": hunk.added,
                "removed": hunk.removed,
                "lines": [str(line) for line in hunk.lines],
            }
            for hunk in file.hunks
        ],
    }


def outcome_json(outcome: Outcome | None) -> dict[str, Any]:
    """``applied``, ``conflict`` and ``refused``: at most one of them is not null."""
    body: dict[str, Any] = {"applied": None, "conflict": None, "refused": None}
    match outcome:
        case Applied():
            kept = [{"path": one.path, "copy": one.copy} for one in outcome.kept]
            body["applied"] = {
                "id": outcome.id,
                "files": list(outcome.files),
                "kept": kept,
                "warning": outcome.warning,
            }
        case Conflict(files=files, merge=merge):
            body["conflict"] = {"files": dict(files), "merge": _merge_json(merge)}
        case Refused(paths=paths):
            body["refused"] = {one.path: one.reason for one in paths}
        case NotApproved() | Rejected() | None:
            pass
        case never:
            assert_never(never)
    return body


def _merge_json(merge: Merge | None) -> Mapping[str, Any] | None:
    if merge is None:
        return None
    shown = preview(merge.proposal)
    return {
        **shown_json(shown if isinstance(shown, Preview) else None),
        "clashes": {
            path: [
                {"line": one.line, "base": one.base, "mine": one.mine, "theirs": one.theirs}
                for one in clashes
            ]
            for path, clashes in merge.clashes.items()
        },
    }
