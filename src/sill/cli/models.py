"""``sill models``: what an endpoint offers, and how each model's tokens are counted."""

from typing import Any

import click

from ..app import list_models
from .common import endpoint_options, progress, run_async, settled
from .screen import json_text, plain


@click.command("models")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@endpoint_options
def command(as_json: bool, **given: Any) -> int:
    """List the endpoint's models with their window and how their tokens are counted.

    `exact`: to the token, as the provider counts; `bound`: never too low; `estimate`: with a margin.
    """
    rows = run_async(list_models(settled(given).settings, progress))
    if as_json:
        listed = [
            {
                "model": r.model,
                "window": r.window,
                "kind": r.kind,
                "tokenizer": r.tokenizer,
                "why": r.why,
            }
            for r in rows
        ]
        click.echo(json_text(listed))
        return 0
    name = max([len(row.model) for row in rows] + [5])
    click.echo(f"{'model':{name}}  {'window':>9}  {'counts':8}  by")
    for row in rows:
        window = f"{row.window:,}" if row.window else "unknown"
        click.echo(
            f"{plain(row.model):{name}}  {window:>9}  {row.kind:8}  {plain(row.tokenizer)}: {plain(row.why)}"
        )
    return 0
