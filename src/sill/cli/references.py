"""``sill references``: which documents the chats used most, and in which."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import click

from ..core.graph import Edge, as_dot
from ..core.links import Link
from ..core.references import Reference, carried, most_used, paths_in
from ..ports import Store, Vault
from .screen import json_text, plain, tell
from .vault import opened, run_async, vault_option


@click.command("references")
@click.option(
    "--top", type=click.IntRange(1), default=20, show_default=True, help="How many to list."
)
@click.option("--dot", is_flag=True, help="Print chats and documents as a graph for Graphviz.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--db", "database", metavar="PATH", help="Where chats are kept.")
@vault_option
def command(top: int, dot: bool, as_json: bool, database: str | None, vault: Path | None) -> int:
    """List the documents of the vault that chats used most.

    A document counts once for each turn that it was shown in or named in.
    """
    folder = (vault or Path.cwd()).resolve()
    uses = run_async(_uses(database, folder))
    ranked = most_used(uses)[:top]
    if dot:
        click.echo(plain(_graph(ranked)))
    elif as_json:
        click.echo(
            json_text(
                [
                    {"path": path, "uses": count, "chats": list(chats)}
                    for path, count, chats in ranked
                ]
            )
        )
    else:
        for path, count, chats in ranked:
            click.echo(
                plain(f"{count:>6}  {path}  (in {len(chats)} chat{'s' * (len(chats) != 1)})")
            )
        if not ranked:
            tell("no chat over this folder has used a document yet")
    return 0


async def _uses(database: str | None, folder: Path) -> list[tuple[str, Reference]]:
    from ..adapters.store import open_store
    from ..paths import data_dir

    store = await open_store(database or data_dir() / "sill.db")
    try:
        async with opened(folder) as vault:
            return [use async for use in _every_use(store, vault, str(folder))]
    finally:
        await store.close()


async def _every_use(
    store: Store, vault: Vault, workspace: str
) -> AsyncIterator[tuple[str, Reference]]:
    """What every turn of the workspace's chats was given, and what its question named."""
    for chat in await store.chats(workspace):
        for turn in await store.turns(chat.id):
            found = list(carried(turn.messages))
            for message in turn.messages:
                if message.role == "user" and not message.hidden:
                    found += await vault.references(message.text)
            paths = (*(reference.path for reference in found), *paths_in(turn.references))
            for path in dict.fromkeys(paths):
                if path is not None:
                    yield chat.title or chat.id, Reference("file", path)


def _graph(ranked: Sequence[tuple[str, int, tuple[str, ...]]]) -> str:
    edges = [
        Edge(f"chat: {chat}", path, Link(path, 0, 0, 0))
        for path, _, chats in ranked
        for chat in chats
    ]
    return as_dot(edges)
