"""``sill search``: passages of the vault that bear on a question."""

import re
import textwrap
from pathlib import Path

import click

from ..core.glimpse import glimpse, parted, stems
from ..core.query import parse_query
from ..core.rank import Hit
from ..ports import SearchMode
from .screen import columns, json_text, painted, tell
from .vault import embedder_options, opened, run_async, vault_option

# ``-word`` is a word that is not wanted. ``-n 5`` and ``-n5`` are the one option with a single dash.
_UNWANTED = re.compile(r"-(?!n\d*$)[^-].*")


class _Words(click.Command):
    """Takes unwanted words for words."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" not in args:
            unwanted = [one for one in args if _UNWANTED.fullmatch(one)]
            args = [*(one for one in args if one not in unwanted), "--", *unwanted]
        return super().parse_args(ctx, args)


@click.command("search", cls=_Words)
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
        asked = parse_query(question).text
        for hit in hits:
            click.echo(_shown(hit, asked))
        if not hits:
            tell("nothing found")
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


def _shown(hit: Hit, asked: str) -> str:
    where = painted(hit.path, "cyan", bold=True) + painted(f":{hit.lines[0]}-{hit.lines[1]}")
    heading = f"  {' › '.join(hit.headings)}" if hit.headings else ""
    why = ", ".join(f"{signal} {place}" for signal, place in hit.places.items())
    lines = textwrap.wrap(glimpse(hit.text, asked, 2 * (columns() - 8)), columns() - 4)
    wanted = stems(asked)
    excerpt = (
        "".join(painted(piece, bold=is_asked) for piece, is_asked in parted(line, wanted))
        for line in lines
    )
    return "\n    ".join([where + painted(heading) + painted(f"  ({why})", dim=True), *excerpt])
