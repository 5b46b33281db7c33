"""`sill model`: fetch, list and choose the weights that Sill runs by itself."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ..errors import SillError
from .screen import json_text, plain

if TYPE_CHECKING:
    from pathlib import Path

    from ..adapters.local.header import Header


@click.group(invoke_without_command=True)
@click.pass_context
def model(context: click.Context) -> None:
    """The model that Sill runs by itself, without any server or account.

    SmolLM2-135M is bundled: it works everywhere and is tiny. For good answers, name a better GGUF file with
    `sill model use`, or point Sill at a server (see `sill doctor`).
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@model.command()
@click.option(
    "--for-tests", is_flag=True, help="Also make the small, fast cut that Sill's tests use."
)
@click.option(
    "--embedder",
    "with_embedder",
    is_flag=True,
    help="Also fetch what finds by meaning, all-MiniLM-L6-v2 (83 MB, once).",
)
def pull(for_tests: bool, with_embedder: bool) -> None:
    """Fetch the bundled model (93 MB, once) and check it."""
    from ..adapters.local import weights

    was_there = weights.is_fetched()
    with _progress_line() as show:
        path = weights.pull(show)
    state = "already there" if was_there else "ready"
    click.echo(f"SmolLM2-135M-Instruct is {state}: {plain(str(path))}", err=True)
    if not was_there:
        click.echo("It is tiny. `sill model use FILE.gguf` runs a better one.", err=True)
    if for_tests:
        _make_cut(path)
    if with_embedder:
        _make_embedder()


def _make_embedder() -> None:
    from ..adapters.embed import fetch

    if not fetch.is_ready():
        click.echo("fetching all-MiniLM-L6-v2 (83 MB) and making it small", err=True)
    click.echo(f"all-MiniLM-L6-v2 is ready: {plain(str(fetch.make()))}", err=True)


def _make_cut(path: "Path") -> None:
    from ..adapters.local import cut

    if not cut.is_cut():
        click.echo("making the two-layer cut for tests (a few seconds)", err=True)
    cut.make_cut(path)


@model.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list instead.")
def list_(as_json: bool) -> None:
    """List the models on this machine that Sill can run. A star marks the one in use."""
    from ..adapters.local.choice import chosen_weights, known_weights

    chosen = chosen_weights()
    rows = [_row(path, path == chosen) for path in known_weights()]
    if as_json:
        click.echo(json_text(rows, indent=2))
        return
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        star = "*" if row["in_use"] else " "
        click.echo(plain(f"{star} {row['name']:<{width}}  {_summary(row)}"))


@model.command()
@click.argument("name_or_path")
def use(name_or_path: str) -> None:
    """Run other weights from now on.

    NAME_OR_PATH is a name from `sill model list`, the beginning of one, or the path of any GGUF file.
    """
    from ..adapters.local.choice import choose

    header = choose(name_or_path)
    words = f"Sill now runs {header.name} (window {header.window:,} tokens)."
    click.echo(plain(words), err=True)


@model.command()
def path() -> None:
    """Print where the weights in use are."""
    from ..adapters.local.choice import chosen_weights

    weights = str(chosen_weights())
    click.echo(plain(weights) if sys.stdout.isatty() else weights)


def _row(path: "Path", in_use: bool) -> dict[str, object]:
    from ..adapters.local.header import name_of, read_header

    row: dict[str, object] = {"name": name_of(path), "path": str(path), "in_use": in_use}
    try:
        header: Header = read_header(path)
    except SillError as error:
        return {**row, "window": None, "size": None, "problem": _problem(path, error)}
    return {**row, "window": header.window, "size": path.stat().st_size, "problem": None}


def _problem(path: "Path", error: SillError) -> str:
    from ..adapters.local.weights import bundled_path

    if path == bundled_path() and not path.exists():
        return "not fetched yet; `sill model pull` does it"
    return error.message


def _summary(row: dict[str, object]) -> str:
    if row["problem"]:
        return str(row["problem"])
    size, window = row["size"], row["window"]
    assert isinstance(size, int) and isinstance(window, int)
    return f"{_megabytes(size)}, window {window:,} tokens, {row['path']}"


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


@contextmanager
def _progress_line() -> Iterator[Callable[[str, int, int], None]]:
    """Shows how far a step is: one line that is rewritten on a terminal, a plain line now and then elsewhere."""
    on_terminal = sys.stderr.isatty()
    last_step, last_shown, written = "", 0.0, False

    def show(step: str, done: int, total: int) -> None:
        nonlocal last_step, last_shown, written
        now = time.monotonic()
        pause = 0.2 if on_terminal else 5.0
        if step == last_step and now - last_shown < pause:
            return
        last_step, last_shown, written = step, now, True
        text = f"{step} SmolLM2-135M-Instruct: {done / 1e6:.0f} of {_megabytes(total)}"
        if on_terminal:
            sys.stderr.write(f"\r\x1b[K{text}")
        else:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    try:
        yield show
    finally:
        if on_terminal and written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
