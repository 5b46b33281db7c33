"""``sill chats``: list, read, find, name, keep and remove what was said."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from ..app import open_storage
from ..app.meanings import meant
from ..engine.proposals import touched_files
from ..errors import UsageError
from ..ports import Store, StoredTurn
from ..records import ChatInfo, StoredProposal
from .common import run_async, settled
from .screen import json_text, plain

F = TypeVar("F", bound=Callable[..., Any])

DAY_MS = 86_400_000
SHORT_ID = 8
_OPTIONS = [
    click.option("--db", "database", metavar="PATH", help="Where chats are kept."),
    click.option(
        "--vault",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Folder the chats are about; default: the current one.",
    ),
]
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_everywhere = click.option("--everywhere", is_flag=True, help="Chats of all folders.")
_yes = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


def storage_options(function: F) -> F:
    """Add the options that choose a database and a folder, as one dictionary named ``given``."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@click.group("chats", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List, read, find, name, export and remove chats.

    CHAT is a chat's id or the beginning of it; `last` is the folder's latest chat.
    """


@command.command("list")
@click.option("--all", "everything", is_flag=True, help="Archived chats too.")
@_everywhere
@_json
@storage_options
def list_command(everything: bool, everywhere: bool, as_json: bool, **given: Any) -> None:
    """List the folder's chats: pinned ones first, then the last used."""

    async def work(store: Store, workspace: str) -> list[tuple[ChatInfo, str]]:
        found = await store.chats(None if everywhere else workspace)
        shown = [info for info in found if everything or not info.archived]
        return [(info, info.title or await first_words(store, info)) for info in shown]

    rows = _run(given, work)
    if as_json:
        click.echo(json_text([asdict(info) for info, _ in rows]))
    for info, title in [] if as_json else rows:
        marks = ("pinned " if info.pinned else "") + ("archived " if info.archived else "")
        turns = f"{info.turns} turn{'' if info.turns == 1 else 's'}"
        click.echo(
            f"{info.id[:SHORT_ID]}  {when(info.used_ms)}  {turns:>10}  {marks}{_line(title)}"
        )


@command.command("show")
@click.argument("chat")
@_json
@storage_options
def show_command(chat: str, as_json: bool, **given: Any) -> None:
    """Print what was said in a chat."""

    async def work(store: Store, workspace: str) -> tuple[list[StoredTurn], list[StoredProposal]]:
        id = (await find_chat(store, workspace, chat)).id
        return await store.turns(id), await store.proposals(id)

    turns, proposals = _run(given, work)
    if as_json:
        shown = [_turn_json(turn, [p for p in proposals if p.turn == turn.id]) for turn in turns]
        click.echo(json_text(shown))
    for turn in [] if as_json else turns:
        click.echo(f"-- {turn.id[:SHORT_ID]} · {when(turn.started_ms)} · {turn.status}")
        for message in turn.messages:
            if message.is_talk:
                name = "you" if message.role == "user" else turn.model
                click.echo(f"{plain(name)}: {plain(message.text)}")
        for proposal in proposals:
            if proposal.turn == turn.id:
                click.echo(f"edit {proposal.id[:SHORT_ID]}: {plain(_fate(proposal))}")


@command.command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=int, default=20, show_default=True)
@click.option("--meaning", is_flag=True, help="By what was meant instead of the words.")
@_everywhere
@_json
@storage_options
def search_command(
    words: tuple[str, ...], limit: int, everywhere: bool, as_json: bool, **given: Any
) -> None:
    """Find the turns in which all WORDS were said; quote a phrase to keep its words together."""
    asked = " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)
    by_meaning = given.pop("meaning")

    async def work(store: Store, workspace: str) -> list[dict[str, Any]]:
        inside = None if everywhere else workspace
        if by_meaning:
            found = await meant(store, settled(given).settings, " ".join(words), inside, limit)
        else:
            found = await store.search(asked, inside, limit)
        return [asdict(hit) for hit in found]

    hits = _run(given, work)
    if as_json:
        click.echo(json_text(hits))
    for hit in [] if as_json else hits:
        head = (
            f"{hit['chat'][:SHORT_ID]}  {when(hit['started_ms'])}  {_line(hit['title'])}".rstrip()
        )
        click.echo(f"{head}\n    {_line(hit['excerpt'], 160)}")
    if not hits and not as_json:
        click.echo("nothing found", err=True)
        sys.exit(1)


@command.command("rename")
@click.argument("chat")
@click.argument("title")
@storage_options
def rename_command(chat: str, title: str, **given: Any) -> None:
    """Give a chat another title."""
    _change(given, chat, title=title)


def _flag_command(name: str, help: str, **change: bool) -> None:
    @command.command(name, help=help)
    @click.argument("chat")
    @storage_options
    def flag_command(chat: str, **given: Any) -> None:
        _change(given, chat, **change)


_flag_command("pin", "Keep a chat at the top, and out of `prune`.", pinned=True)
_flag_command("unpin", "Let a chat go with the others again.", pinned=False)
_flag_command("archive", "Put a chat away; it is still found by search.", archived=True)
_flag_command("unarchive", "Take a chat out of the archive.", archived=False)


@command.command("delete")
@click.argument("chats", nargs=-1, required=True, metavar="CHAT...")
@_yes
@storage_options
def delete_command(chats: tuple[str, ...], yes: bool, **given: Any) -> None:
    """Remove chats for good, and every text that no other chat uses."""

    async def choose(store: Store, workspace: str) -> list[ChatInfo]:
        return [await find_chat(store, workspace, chat) for chat in chats]

    async def work(store: Store, workspace: str) -> None:
        for info in chosen:
            await store.delete_chat(info.id)
        await store.compact()

    chosen = _run(given, choose)
    names = ", ".join(f"{info.id[:SHORT_ID]} {_line(info.title)}".strip() for info in chosen)
    if not yes:
        click.confirm(f"Delete {names}? There is no way back", abort=True, err=True)
    _run(given, work)
    click.echo(f"deleted {names}")


@command.command("prune")
@click.option("--days", type=click.IntRange(min=0), required=True, help="Unused for that long.")
@_yes
@storage_options
def prune_command(days: int, yes: bool, **given: Any) -> None:
    """Remove the chats of all folders that nobody used for so long; pinned ones stay."""
    before = time.time_ns() // 1_000_000 - days * DAY_MS

    async def choose(store: Store, workspace: str) -> int:
        return sum(c.used_ms < before and not c.pinned for c in await store.chats())

    async def work(store: Store, workspace: str) -> int:
        gone = await store.prune(before)
        await store.compact()
        return len(gone)

    old = _run(given, choose)
    if old and not yes:
        click.confirm(f"Delete {old} chats? There is no way back", abort=True, err=True)
    click.echo(f"deleted {_run(given, work) if old else 0} chats")


@command.command("export")
@click.argument("chat")
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json"]),
    default="markdown",
    show_default=True,
    help="JSON holds everything and imports back.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@storage_options
def export_command(chat: str, form: str, output: Path | None, **given: Any) -> None:
    """Write a chat as Markdown to read, or as JSON to import elsewhere."""
    from ..adapters.store.export import to_json
    from ..adapters.store.markdown import to_markdown

    async def work(store: Store, workspace: str) -> str:
        copied = await store.copy_chat((await find_chat(store, workspace, chat)).id)
        return to_json(copied) if form == "json" else to_markdown(copied)

    text = _run(given, work)
    if output is None:
        # Control characters are made visible on a terminal and kept in a file or a pipe.
        click.echo(plain(text) if sys.stdout.isatty() else text)
        return
    try:
        with output.open("x", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text + "\n")
    except FileExistsError as error:
        raise UsageError(f"{output} is there already", hint="name a new file") from error
    except OSError as error:
        raise UsageError(f"{output}: {error.strerror}", hint="name another place") from error


@command.command("import")
@click.argument("file", type=click.File("r", encoding="utf-8"))
@storage_options
def import_command(file: Any, **given: Any) -> None:
    """Take in a chat that was exported as JSON; `-` reads standard input."""
    from ..adapters.store.export import from_json

    copied = from_json(file.read())

    async def work(store: Store, workspace: str) -> None:
        await store.add_copy(copied)

    _run(given, work)
    info = copied.info
    click.echo(f"{info.id[:SHORT_ID]}  {info.turns} turns  {_line(info.title)}".rstrip())


# --- Shared --------------------------------------------------------------------------------------


async def find_chat(store: Store, workspace: str, name: str) -> ChatInfo:
    """The one chat that is meant: ``last``, an id, or the beginning of exactly one id."""
    if name == "last":
        latest = await store.latest_chat(workspace)
        if latest is None:
            raise UsageError("there is no chat in this folder yet", hint="`sill chat` begins one")
        name = latest
    if not name:
        raise UsageError("which chat?", hint="`sill chats list` shows them")
    found = [info for info in await store.chats() if info.id.startswith(name)]
    match [info for info in found if info.id == name] or found:
        case [info]:
            return info
        case []:
            raise UsageError(f"there is no chat {name}", hint="`sill chats list` shows them")
        case _:
            raise UsageError(f"{len(found)} chats begin with {name}", hint="give more of the id")


def _run(given: dict[str, Any], work: Callable[[Store, str], Any]) -> Any:
    async def go() -> Any:
        where = settled(given)
        async with open_storage(where.settings) as store:
            return await work(store, str(where.folder))

    return run_async(go())


def _change(given: dict[str, Any], chat: str, **change: Any) -> None:
    async def work(store: Store, workspace: str) -> None:
        await store.change_chat((await find_chat(store, workspace, chat)).id, **change)

    _run(given, work)


async def first_words(store: Store, info: ChatInfo) -> str:
    """A chat without a title is known by its last question."""
    for turn in await store.turns(info.id, limit=1):
        for message in turn.messages:
            if message.role == "user" and message.carries is None:
                return message.text
    return ""


def _fate(proposal: StoredProposal) -> str:
    """What became of a proposal, by whom and when, and which files it is about."""
    by = f" by {proposal.decided_by}" if proposal.decided_by else ""
    moment = f", {when(proposal.decided_ms)}" if proposal.decided_ms is not None else ""
    return f"{proposal.status}{by}{moment}: {', '.join(touched_files(proposal.body))}"


def _turn_json(turn: StoredTurn, proposals: Sequence[StoredProposal]) -> dict[str, Any]:
    return {
        "id": turn.id,
        "parent": turn.parent,
        "status": turn.status,
        "model": turn.model,
        "started_ms": turn.started_ms,
        "took_ms": turn.took_ms,
        "messages": [
            {"role": message.role, "text": message.text}
            for message in turn.messages
            if message.is_talk
        ],
        "proposals": [
            {
                "id": proposal.id,
                "status": proposal.status,
                "files": list(touched_files(proposal.body)),
                "created_ms": proposal.created_ms,
                "decided_ms": proposal.decided_ms,
                "decided_by": proposal.decided_by,
            }
            for proposal in proposals
        ],
    }


def when(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).strftime("%Y-%m-%d %H:%M")


def _line(text: str, length: int = 60) -> str:
    line = plain(" ".join(text.split()))
    return line if len(line) <= length else line[: length - 1] + "…"
