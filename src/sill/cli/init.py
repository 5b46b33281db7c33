"""``sill init``: at most three questions, and a settings file."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ..errors import ProviderError, UsageError
from ..paths import config_dir, state_dir
from ..settings import FILE_NAME
from .common import run_async
from .screen import plain

LOCAL = "local"
OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Choice:
    """One model that could answer. A key belongs into the user's own settings, not into a folder."""

    base_url: str
    model: str = ""
    about: str = ""
    api_key: str = ""


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.option("--base-url", metavar="URL", help="Endpoint, or `local` for the bundled model.")
@click.option("-m", "--model", default="", metavar="NAME", help="Model at that endpoint.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: take what was found.")
def command(folder: Path | None, base_url: str | None, model: str, yes: bool) -> int:
    """Set Sill up for FOLDER: which folder, which model, ready?

    Model servers on this machine are found by themselves; any other endpoint is named by its address,
    or by an OpenAI key. Writes `sill.toml` into the folder. A key is written to the user's own settings,
    which only you can read, never into the folder.
    """
    asks = not yes and sys.stdin.isatty()
    folder = folder or (_ask_folder() if asks else Path.cwd())
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder", hint="make it first")
    if (folder / FILE_NAME).exists():
        raise UsageError(f"{folder / FILE_NAME} is there already", hint="edit it, or remove it")
    found = run_async(look_around()) if base_url is None else [Choice(base_url, model)]
    chosen = _ask_model(found) if asks and base_url is None else found[0]
    if model:
        chosen = Choice(chosen.base_url, model, chosen.about, chosen.api_key)
    chosen = run_async(with_model(chosen))
    project, own = written(chosen)
    click.echo(f"\n{folder / FILE_NAME}\n{plain(project)}", err=True)
    if own:
        click.echo(f"and your key to {config_dir() / FILE_NAME}", err=True)
    if asks and not click.confirm("Write this?", default=True, err=True):
        click.echo("sill: nothing was written", err=True)
        return 1
    _write(folder / FILE_NAME, project, own)
    click.echo("Ready. `sill` in that folder opens a chat; `sill doctor` checks it.", err=True)
    return 0


def _ask_folder() -> Path:
    named: Path = click.prompt(
        "Folder of your notes", default=Path.cwd(), type=click.Path(path_type=Path), err=True
    )
    return named.expanduser()


def _ask_model(found: Sequence[Choice]) -> Choice:
    click.echo("\nWho should answer?", err=True)
    for number, one in enumerate(found, 1):
        click.echo(f"  {number}  {plain(one.about or one.base_url)}", err=True)
    click.echo("  …  or the address of an endpoint, or an OpenAI key", err=True)
    while True:
        choice = read_choice(str(click.prompt("Model", default="1", err=True)), found)
        if choice is not None:
            return choice
        click.echo(f"a number up to {len(found)}, an address, or a key", err=True)


def read_choice(answer: str, found: Sequence[Choice]) -> Choice | None:
    """A number of the list, an address, an address and a key, or a key alone."""
    words = answer.split()
    match words:
        case [number] if number.isdecimal():
            return found[int(number) - 1] if 0 < int(number) <= len(found) else None
        case [key] if key.startswith("sk-"):
            return Choice(OPENAI, api_key=key)
        case [url, *rest] if "://" in url and len(rest) <= 1:
            return Choice(url, api_key=rest[0] if rest else "")
        case ["local"]:
            return Choice(LOCAL)
        case _:
            return None


async def look_around() -> list[Choice]:
    """What could answer here, best first: what the environment names, servers, the bundled model."""
    from ..adapters.models.scan import find_local_endpoints

    found = []
    if url := os.environ.get("SILL_BASE_URL") or os.environ.get("OPENAI_BASE_URL"):
        found.append(Choice(url, about=f"{url}, as your environment says"))
    elif os.environ.get("OPENAI_API_KEY"):
        found.append(Choice(OPENAI, about=f"{OPENAI}, with the key of your environment"))
    for one in await find_local_endpoints():
        if one.state == "ready":
            model = one.models[0] if one.models else ""
            about = f"{one.server} at {one.base_url}{': ' + model if model else ''}"
            found.append(Choice(one.base_url, model, about))
    return [*found, Choice(LOCAL, about="the small model that comes with Sill")]


async def with_model(choice: Choice) -> Choice:
    """Its first model, if none was named and the endpoint tells; an endpoint that fails is told of."""
    from ..adapters.models.discover import discover

    if choice.base_url == LOCAL or choice.model:
        return choice
    key = choice.api_key or os.environ.get("SILL_API_KEY") or os.environ.get("OPENAI_API_KEY")
    try:
        models = (await discover(choice.base_url, key)).models
    except ProviderError as error:
        click.echo(f"sill: {plain(str(error))}", err=True)
        return choice
    return Choice(choice.base_url, models[0] if models else "", choice.about, choice.api_key)


def written(choice: Choice) -> tuple[str, str]:
    """The folder's settings, and what goes into the user's own: an address with its key."""
    model = f"model = {_quoted(choice.model)}\n" if choice.model else ""
    address = f"base_url = {_quoted(choice.base_url)}\n"
    if choice.api_key:
        key = f"api_key = {_quoted(choice.api_key)}\n"
        return model or "# See your own settings for the endpoint.\n", address + key
    return address + model, ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _write(project_file: Path, project: str, own: str) -> None:
    """The user's file first: without it, the folder's would be of no use."""
    from ..trust import trust

    if own:
        _write_own(config_dir() / FILE_NAME, own)
    with project_file.open("x", encoding="utf-8") as file:
        file.write(project)
    # Who has just chosen an address here need not be asked about it again.
    trust(project_file.absolute(), state_dir() / "trusted.json")


def _write_own(path: Path, own: str) -> None:
    """Add to the user's settings; names that are set there already are not set twice."""
    import tomllib

    before = path.read_text(encoding="utf-8") if path.exists() else ""
    clash = [name for name in ("base_url", "api_key") if name in tomllib.loads(before)]
    if clash:
        hint = "change it there, then run `sill init` again"
        raise UsageError(f"{path} sets `{clash[0]}` already", hint=hint)
    # Names of the file itself must stand before its first table.
    path.touch(mode=0o600, exist_ok=True)
    path.chmod(0o600)
    path.write_text(own + before, encoding="utf-8")
