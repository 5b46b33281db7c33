"""``sill doctor``: what is in use, where it came from, and what to do about problems."""

import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from .. import __version__
from ..app import App
from ..app.build import database_place, shown_database
from ..errors import SillError, TokenizerRefused
from ..settings import TABLE
from .checks import (
    Check,
    examine_answers,
    examine_index,
    examine_model,
    examine_permissions,
    examine_servers,
    examine_storage,
)
from .common import endpoint_options, open_where, run_async, settled
from .screen import json_text, painted

_MARKS = {"good": "ok", "note": "--", "bad": "!!"}
_COLOURS = {"good": "green", "note": None, "bad": "red"}


@click.command("doctor")
@click.option("--settings", "all_settings", is_flag=True, help="List everything that can be set.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@endpoint_options
def command(all_settings: bool, as_json: bool, **given: Any) -> int:
    """Check everything Sill depends on; say what is in use, why, and what to do about problems.

    Endpoint, model, window, tokenizer, chat template, price, prompt cache, search index, database and
    permissions. Two tiny questions are sent to the endpoint, to compare the predicted with the billed
    prompt tokens and to see whether it keeps what it has seen. Exit code 1 if something is wrong.
    """
    if all_settings:
        for key, spec in TABLE.items():
            click.echo(f"{key:34} {spec.help} [{', '.join(spec.env)}]")
        return 0
    checks = run_async(examine(given))
    if as_json:
        click.echo(json_text([asdict(check) for check in checks]))
    else:
        show(checks)
    return 1 if any(check.state == "bad" for check in checks) else 0


def show(checks: Sequence[Check]) -> None:
    for check in checks:
        mark = painted(_MARKS[check.state], _COLOURS[check.state])
        click.echo(f"{mark}  {check.what:12} {painted(check.text)}")
        if check.todo:
            click.echo(painted(f"    {'':12} → {check.todo}", "yellow"))


async def examine(given: dict[str, Any]) -> list[Check]:
    """Everything, whatever fails on the way."""
    about = f"{__version__} on Python {platform.python_version()}, {sys.platform}"
    where = settled(given)
    checks = [Check("sill", "good", about), Check("folder", "good", str(where.folder))]
    for key, text, source in where.settings.shown():
        if source != "default":
            checks.append(Check("setting", "note", f"{key} = {text}  ({source})"))
    try:
        async with open_where(where) as app:
            checks += await examine_model(app)
            checks += await examine_answers(app)
            checks.append(Check(*await _examine_drift(app)))
            checks += examine_storage(app.database)
    except SillError as error:
        what = "tokenizer" if isinstance(error, TokenizerRefused) else "endpoint"
        todo = error.hint or "see docs/models.md for endpoints that work"
        checks.append(Check(what, "bad", error.message, todo))
        checks.append(
            Check("database", "note", shown_database(database_place(where.settings)), "not opened")
        )
    checks += await examine_servers(where.settings, where.folder)
    checks.append(examine_index(where.folder, where.settings))
    checks += examine_permissions(where.folder)
    return checks


async def _examine_drift(app: App) -> tuple[str, Any, str]:
    """What was predicted so far against what was billed."""
    drift = await app.drift()
    scale = f"; estimates are scaled by {app.chat.call.ratio:.2f}"
    text = drift.words + (scale if app.tokenizer.kind == "estimate" else "")
    return ("drift", "good" if drift.calls and not drift.most_short else "note", text)
