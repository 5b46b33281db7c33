"""``sill index`` and ``sill status``: making the index, and saying how far it is."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ..adapters.index.index import Status
from .screen import json_text, plain
from .vault import Bar, embedder_options, opened, run_async, vault_option

_SHOWN_PROBLEMS = 20


@click.command("index")
@click.option("--full", is_flag=True, help="Throw the index away and make it again.")
@click.option(
    "--semantic", is_flag=True, help="Fetch the bundled embedder if it is not there (83 MB)."
)
@click.option(
    "--summaries", is_flag=True, help="Let the model sum up files that do not do so themselves."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@embedder_options
@vault_option
def index(
    full: bool, semantic: bool, as_json: bool, embedder: str, embed_model: str, **more: Any
) -> int:
    """Bring the index up to date: full text first, then vectors for searching by meaning.

    Searching does the first part by itself. The second can be stopped at any time and goes on where
    it was; a file that was only moved or renamed is never embedded again.
    """
    wanted = "bundled" if semantic and not embedder else embedder
    folder: Path | None = more["vault"]
    status = run_async(_index(full, wanted, embed_model, folder))
    run_async(_sum_up(folder, asked=more["summaries"]))
    _show(status, as_json)
    return 0


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@embedder_options
@vault_option
def status(as_json: bool, embedder: str, embed_model: str, vault: Path | None) -> int:
    """Say what the index holds, and which files it cannot read."""
    _show(run_async(_status(embedder, embed_model, vault)), as_json)
    return 0


async def _index(full: bool, embedder: str, embed_model: str, folder: Path | None) -> Status:
    async with opened(folder, embedder=embedder, embed_model=embed_model) as vault:
        if full:
            vault.index.rebuild()
            with Bar("reading") as bar:
                await vault.refresh(bar.show)
        with Bar("embedding") as bar:
            await vault.embed_pending(bar.show)
        return await vault.status()


async def _sum_up(folder: Path | None, *, asked: bool) -> None:
    """Where it is asked for, or the settings want it."""
    from ..app import open_app
    from ..app.summaries import write_summaries
    from .common import progress, settled

    if not asked and _wish(folder) != "model":
        return
    where = settled({"vault": folder})
    async with opened(folder) as vault, open_app(where.settings, where.folder, progress) as app:
        with Bar("summing up") as bar:
            written = await write_summaries(app, vault, bar.show)
    click.echo(f"sill: {written:,} files summed up by {plain(app.model_name)}", err=True)


def _wish(folder: Path | None) -> str | None:
    from ..paths import config_dir
    from ..settings import FILE_NAME, find_project_file, load

    project_file = find_project_file((folder or Path.cwd()).resolve())
    settings = load(user_file=config_dir() / FILE_NAME, project_file=project_file)
    return settings.get("document_summaries", str)


async def _status(embedder: str, embed_model: str, folder: Path | None) -> Status:
    async with opened(folder, embedder=embedder, embed_model=embed_model) as vault:
        return await vault.status()


def _show(status: Status, as_json: bool) -> None:
    if as_json:
        click.echo(json_text(asdict(status)))
        return
    click.echo(
        f"{status.files:,} files, {status.notes:,} of them notes; {status.passages:,} passages, "
        f"{status.links:,} links; {status.bytes / 1e6:,.1f} MB"
    )
    click.echo(plain(f"kept in {status.place}"))
    if status.model:
        done = f"{status.embedded:,} of {status.to_embed:,} passages"
        click.echo(plain(f"by meaning: {done}, {status.model}"))
    else:
        click.echo("by meaning: no embedder (`sill index --semantic` fetches one)")
    for problem in status.problems[:_SHOWN_PROBLEMS]:
        click.echo(plain(f"  {problem.path}: {problem.reason}"))
    if len(status.problems) > _SHOWN_PROBLEMS:
        click.echo(f"  and {len(status.problems) - _SHOWN_PROBLEMS:,} more; --json lists all")
