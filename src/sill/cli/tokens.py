"""``sill tokens``: how many tokens files are, for one model or several side by side."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ..adapters.tokens import Chosen, Endpoint, Probes, counter_for
from ..adapters.vault.read import read_document
from ..errors import FileRefused, UsageError
from ..settings import Settings
from .common import run_async, settled
from .main import complain
from .screen import json_text, plain

UNCONFIGURED_MODEL = "gpt-5"
LARGEST = 256_000_000  # bytes; beyond this a file is not a text for a model


@dataclass(frozen=True, slots=True)
class Text:
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Counted:
    """One model's counts of all files, in order."""

    model: str
    chosen: Chosen
    kind: str
    tokens: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.tokens)

    def fits(self, tokens: int) -> str:
        window = self.chosen.window
        return "?" if window is None else "yes" if tokens <= window else "no"


@click.command("tokens")
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True), metavar="FILE...")
@click.option("-m", "--model", "models", multiple=True, metavar="NAME", help="May be repeated.")
@click.option("--base-url", metavar="URL", help="Endpoint to ask how it counts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per model.")
def command(files: tuple[str, ...], models: tuple[str, ...], base_url: str, as_json: bool) -> int:
    """Count the tokens of FILEs (`-` is standard input), like wc.

    Without -m the model of the settings counts. `fits` says whether a text alone fits the model's
    context window. A file that is not text is named on standard error, the rest is counted, and the
    exit code is 1.
    """
    if not files:
        raise UsageError("no file was named", hint="`-` reads standard input")
    if not all(model.strip() for model in models):
        raise UsageError("a model without a name", hint="`sill models` lists those that are known")
    settings = settled({"base_url": base_url}).settings
    named = models or (default_model(settings),)
    texts, refused = read_all(files)
    for error in refused:
        complain(error)
    counted = run_async(count_all(settings, tuple(dict.fromkeys(named)), texts))
    click.echo(as_objects(counted, texts) if as_json else as_table(counted, texts), nl=True)
    return 1 if refused else 0


def default_model(settings: Settings) -> str:
    return settings.of_profile("chat", "model", str) or UNCONFIGURED_MODEL


def read_all(files: Sequence[str]) -> tuple[list[Text], list[FileRefused]]:
    texts, refused = [], []
    for name in files:
        try:
            texts.append(Text(name, _read(name)))
        except FileRefused as error:
            refused.append(FileRefused(name, error.reason, hint=error.hint))
    return texts, refused


def _read(name: str) -> str:
    if name != "-":
        return read_document(Path.cwd(), name, LARGEST).text
    piped = sys.stdin.buffer.read(LARGEST + 1)
    if len(piped) > LARGEST:
        raise FileRefused("-", f"has more bytes than the limit of {LARGEST:,}")
    try:
        return piped.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileRefused("-", f"not UTF-8 text (byte {error.start})") from None


async def count_all(
    settings: Settings, models: Sequence[str], texts: Sequence[Text]
) -> list[Counted]:
    """Every model's counts; the endpoint is asked only if one was chosen and asking is allowed."""
    import httpx

    base_url = settings.of_profile("chat", "base_url", str)
    tokenizer = settings.of_profile("chat", "tokenizer", str)
    may_ask = base_url not in {None, "local"} and settings.get("probe", bool) is not False
    async with httpx.AsyncClient(trust_env=False) as client:
        key = settings.of_profile("chat", "api_key", str)
        endpoint = Endpoint(base_url, client, key) if base_url and may_ask else None
        counted = []
        for model in models:
            chosen = await counter_for(
                model,
                endpoint=endpoint,
                tokenizer=tokenizer,
                probes=Probes() if endpoint else None,
            )
            counts = await chosen.counter.count([text.text for text in texts])
            counted.append(Counted(model, chosen, counts.kind, counts.tokens))
    return counted


def as_objects(counted: Sequence[Counted], texts: Sequence[Text]) -> str:
    """One JSON object; with several models a list of them."""
    objects = [
        {
            "model": one.model,
            "tokenizer": one.chosen.counter.tokenizer.id,
            "kind": one.kind,
            "files": [
                {"path": text.path, "tokens": tokens}
                for text, tokens in zip(texts, one.tokens, strict=True)
            ],
            "total": one.total,
            "window": one.chosen.window,
        }
        for one in counted
    ]
    return json_text(objects[0] if len(objects) == 1 else objects)


def as_table(counted: Sequence[Counted], texts: Sequence[Text]) -> str:
    """A row per file and one for all, a pair of columns per model."""
    rows = [[cell for one in counted for cell in (plain(one.model), "fits")] + ["file"]]
    for place, text in enumerate(texts):
        cells = [
            cell
            for one in counted
            for cell in (_number(one, one.tokens[place]), one.fits(one.tokens[place]))
        ]
        rows.append([*cells, plain(text.path)])
    if len(texts) != 1:
        totals = [c for one in counted for c in (_number(one, one.total), one.fits(one.total))]
        rows.append([*totals, "total"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    return "\n".join(
        "  ".join(
            [*(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]
        )
        for row in rows
    )


def _number(one: Counted, tokens: int) -> str:
    """An estimate is marked as one, a bound as not more than."""
    sign = {"exact": "", "bound": "≤", "estimate": "~"}[one.kind]
    return f"{sign}{tokens:,}"
