"""``sill search``: passages of the vault that bear on a question."""

from pathlib import Path

import click

from ..core.rank import Hit
from ..core.summaries import plain_text, shortened
from ..ports import SearchMode
from .screen import json_text, plain
from .vault import embedder_options, opened, run_async, vault_option


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--mode",
    type=click.Choice(["text", "semantic", "hybrid"]),
    default="hybrid",
    show_default=True,
    help="By words, by meaning, or by both and the links between notes.",
)
@click.option("-n", "--limit", type=click.IntRange(1, 1000), default=10, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@embedder_options
@vault_option
def command(
    query: tuple[str, ...],
    mode: SearchMode,
    limit: int,
    as_json: bool,
    embedder: str,
    embed_model: str,
    vault: Path | None,
) -> int:
    """Find passages in the vault.

    QUERY takes "exact phrases", -unwanted words, and path:, file: and tag: to narrow the search.
    Exit code 1 if nothing was found.
    """
    question = " ".join(query)
    hits = run_async(_search(question, mode, limit, (embedder, embed_model), vault))
    if as_json:
        click.echo(
            json_text({"query": question, "mode": mode, "results": [_result(h) for h in hits]})
        )
    else:
        for hit in hits:
            click.echo(plain(_shown(hit)))
    return 0 if hits else 1


async def _search(
    question: str, mode: SearchMode, limit: int, embedder: tuple[str, str], folder: Path | None
) -> list[Hit]:
    wanted = "none" if mode == "text" else embedder[0]
    async with opened(folder, embedder=wanted, embed_model=embedder[1]) as vault:
        return await vault.search(question, limit, mode)


def _result(hit: Hit) -> dict[str, object]:
    return {
        "path": hit.path,
        "lines": list(hit.lines),
        "headings": list(hit.headings),
        "text": hit.text,
        "fingerprint": hit.fingerprint,
        "score": round(hit.score, 6),
        "why": dict(hit.places),
    }


def _shown(hit: Hit) -> str:
    where = f"{hit.path}:{hit.lines[0]}-{hit.lines[1]}"
    why = ", ".join(f"{signal} {place}" for signal, place in hit.places.items())
    heading = f"  {' › '.join(hit.headings)}" if hit.headings else ""
    return f"{where}{heading}  ({why})\n    {shortened(plain_text(hit.text), 160)}"
