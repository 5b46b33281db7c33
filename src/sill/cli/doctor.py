"""``sill doctor``: what is in use, where it came from, and what to do about problems."""

import json
import platform
import sqlite3
import sys
from typing import Any

import click

from .. import __version__
from ..app import App
from ..core.request import ChatRequest, WireMessage
from ..errors import SillError
from ..settings import TABLE
from .common import endpoint_options, open_where, run_async, settled
from .screen import plain


@click.command("doctor")
@click.option("--settings", "all_settings", is_flag=True, help="List everything that can be set.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@endpoint_options
def command(all_settings: bool, as_json: bool, **given: Any) -> int:
    """Check endpoint, counting and storage; say which is in use, why, and what to do.

    Sends one tiny question to the endpoint to compare the predicted with the billed prompt tokens.
    """
    if all_settings:
        for key, spec in TABLE.items():
            click.echo(f"{key:34} {spec.help} [{', '.join(spec.env)}]")
        return 0
    checks = run_async(examine(given))
    if as_json:
        click.echo(json.dumps([{"what": w, "state": s, "text": t} for w, s, t in checks]))
    else:
        show(checks)
    return 1 if any(state == "bad" for _, state, _ in checks) else 0


def show(checks: "list[Check]") -> None:
    for what, state, text in checks:
        click.echo(f"{_MARKS[state]} {what:12} {plain(text)}")


_MARKS = {"good": "ok ", "note": "-- ", "bad": "!! "}
Check = tuple[str, str, str]


async def examine(given: dict[str, Any]) -> list[Check]:
    checks: list[Check] = [
        ("sill", "good", f"{__version__} on Python {platform.python_version()}, {sys.platform}")
    ]
    where = settled(given)
    checks.append(("folder", "good", str(where.folder)))
    for key, text, source in where.settings.shown():
        if source != "default":
            checks.append(("setting", "note", f"{key} = {text}  ({source})"))
    try:
        async with open_where(where) as app:
            checks += await _examine_app(app)
    except SillError as error:
        checks.append(("endpoint", "bad", str(error)))
    return checks


async def _examine_app(app: App) -> list[Check]:
    at = app.connection
    tokenizer = app.tokenizer
    state = "good" if tokenizer.kind == "exact" else "note"
    checks: list[Check] = [
        ("endpoint", "good", f"{at.base_url}: {at.why}"),
        ("model", "good", at.model),
        ("window", "good", f"{at.window:,} tokens ({at.window_source})"),
        ("counting", state, f"{tokenizer.kind}, {tokenizer.id}: {app.counting}"),
        ("price", "note" if app.price.startswith("unknown") else "good", app.price),
        *(
            ("fallback", "note", f"{name}: not asked, {barred}" if barred else name)
            for name, barred in app.fallbacks
        ),
        ("database", "good", f"{app.database} (SQLite {sqlite3.sqlite_version})"),
        await _examine_counting(app),
        await _examine_drift(app),
    ]
    return checks


async def _examine_counting(app: App) -> Check:
    """One tiny request: does the server bill what was predicted?"""
    message = WireMessage("user", "Say yes.")
    request = ChatRequest(app.model_name, (message,), max_tokens=1, temperature=0)
    predicted = await app.chat.counter.count_request(request)
    try:
        billed = await app.billed_prompt(request)
    except SillError as error:
        return ("answer", "bad", str(error))
    text = f"predicted {predicted.tokens[0]} prompt tokens ({predicted.kind}), billed {billed}"
    if billed is None:
        return ("answer", "note", "the endpoint answers but does not report its token usage")
    if predicted.kind == "exact" and billed != predicted.tokens[0]:
        return ("answer", "bad", f"{text}: the count is not exact here; set `tokenizer` or `probe`")
    return ("answer", "good", text)


async def _examine_drift(app: App) -> Check:
    """What was predicted so far against what was billed."""
    drift = await app.drift()
    scale = f"; estimates are scaled by {app.chat.call.ratio:.2f}"
    text = drift.words + (scale if app.tokenizer.kind == "estimate" else "")
    return ("drift", "good" if drift.calls and not drift.most_short else "note", text)
