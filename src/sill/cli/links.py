"""``sill links``: what a note links to and from, and which links lead nowhere."""

from collections.abc import Sequence
from pathlib import Path

import click

from ..adapters.vault.index import DiskVault
from ..core.graph import BadLink, Edge, LinkReport, as_dot
from ..errors import UsageError
from .screen import json_text, plain, say
from .vault import note_path, opened, run_async, vault_option


@click.command("links")
@click.argument("note", required=False)
@click.option(
    "--check", is_flag=True, help="Check every link of the vault; exit code 1 if one is broken."
)
@click.option("--dot", is_flag=True, help="Print the whole graph for Graphviz.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@vault_option
def command(note: str | None, check: bool, dot: bool, as_json: bool, vault: Path | None) -> int:
    """Show the links of NOTE in both directions, with notes that are close to it.

    Links mean what they mean in Obsidian. Without NOTE, --check looks at the whole vault; --dot and
    --json give the whole graph as data.
    """
    if not (note or check or dot or as_json):
        raise UsageError("which note?", hint="`sill links NOTE`, or --check for the whole vault")
    return run_async(_run(note, check, dot, as_json, vault))


async def _run(note: str | None, check: bool, dot: bool, as_json: bool, folder: Path | None) -> int:
    async with opened(folder) as vault:
        if check:
            return _show_report(await vault.check_links(), as_json)
        if note is not None:
            return await _show_note(vault, await note_path(vault, note), as_json)
        edges = await vault.edges()
        click.echo(
            plain(as_dot(edges)) if dot else json_text({"edges": [_edge(edge) for edge in edges]})
        )
        return 0


def _show_report(report: LinkReport, as_json: bool) -> int:
    if as_json:
        click.echo(
            json_text(
                {
                    "total": report.total,
                    "resolved": report.resolved,
                    "broken": [_bad(one) for one in report.broken],
                    "missing_places": [_bad(one) for one in report.places],
                }
            )
        )
    else:
        for one in report.broken:
            click.echo(plain(f"{one.file}:{one.line}: {one.link} leads nowhere"))
        for one in report.places:
            click.echo(plain(f"{one.file}:{one.line}: {one.link}: the note has no such place"))
        click.echo(f"{report.resolved:,} of {report.total:,} links lead somewhere")
    return 1 if report.broken else 0


async def _show_note(vault: DiskVault, path: str, as_json: bool) -> int:
    links = await vault.links(path)
    related = [hit.path for hit in await vault.related(path, 5)]
    if as_json:
        click.echo(
            json_text(
                {
                    "note": path,
                    "forward": [_edge(edge) for edge in links.forward],
                    "backward": [_edge(edge) for edge in links.backward],
                    "related": related,
                }
            )
        )
        return 0
    _list(
        f"{path} links to",
        [
            f"{edge.link.line:>5}  {edge.link.written}  {edge.target or '(nowhere)'}"
            for edge in links.forward
        ],
    )
    _list(
        "linked from",
        [f"{edge.source}:{edge.link.line}  {edge.link.written}" for edge in links.backward],
    )
    _list("related", related)
    return 0


def _list(title: str, lines: Sequence[str]) -> None:
    say(title, bold=True)
    for line in lines or ["(nothing)"]:
        say(f"  {line}")


def _edge(edge: Edge) -> dict[str, object]:
    return {
        "source": edge.source,
        "line": edge.link.line,
        "link": edge.link.written,
        "target": edge.target,
        "embed": edge.link.embed,
    }


def _bad(one: BadLink) -> dict[str, object]:
    return {"file": one.file, "line": one.line, "link": one.link}
