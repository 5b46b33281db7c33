"""What `sill doctor` looks at: each check says what it found and, where that is bad, what to do."""

import os
import sqlite3
import stat
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..app import App
from ..core.certificate import Usage
from ..core.request import ChatRequest, WireMessage
from ..errors import SillError
from ..paths import cache_dir, config_dir, data_dir, state_dir
from ..ports import Ended
from ..settings import FILE_NAME, Settings

State = Literal["good", "note", "bad"]
# Long enough for a server to find it in its cache; most keep no shorter beginnings.
_PROBE = "Say yes. " + "The rest of this message is here to be seen twice. " * 24


@dataclass(frozen=True, slots=True)
class Check:
    """``note`` is neither good nor bad; ``todo`` is never empty where it is bad."""

    what: str
    state: State
    text: str
    todo: str = ""


async def examine_model(app: App) -> list[Check]:
    """Endpoint, window, tokenizer, template, price: what is in use and why."""
    at, tokenizer = app.connection, app.tokenizer
    is_told = not at.window_source.startswith("nobody")
    return [
        Check("endpoint", "good", f"{at.base_url}: {at.why}"),
        Check("model", "good", at.model),
        Check(
            "window",
            "good" if is_told else "note",
            f"{at.window:,} tokens ({at.window_source})",
            "" if is_told else "set `window` to the size your model really has",
        ),
        Check(
            "tokenizer",
            "good" if tokenizer.kind == "exact" else "note",
            f"{tokenizer.kind}, {tokenizer.id}: {app.counting}",
            "" if tokenizer.kind != "estimate" else "set `tokenizer` for exact counts",
        ),
        _template(tokenizer.template, tokenizer.kind),
        Check("price", "note" if app.price.startswith("unknown") else "good", app.price),
        *(
            Check("fallback", "note", f"{name}: not asked, {barred}" if barred else name)
            for name, barred in app.fallbacks
        ),
    ]


def _template(template: str | None, kind: str) -> Check:
    if template is not None:
        return Check("template", "good", f"known, {template[:19]}…")
    state: State = "good" if kind == "exact" else "note"
    return Check("template", state, "not told by the endpoint; its overhead is part of the count")


async def examine_answers(app: App) -> list[Check]:
    """Two small requests: is the bill what was predicted, and does the server keep what it has seen?"""
    request = ChatRequest(
        app.model_name, (WireMessage("user", _PROBE),), max_tokens=1, temperature=0
    )
    predicted = await app.chat.counter.count_request(request)
    try:
        first, second = await _usage(app, request), await _usage(app, request)
    except SillError as error:
        todo = error.hint or "look at the server's own log, or choose another endpoint"
        return [Check("answer", "bad", error.message, todo)]
    if first is None or second is None:
        text = "the endpoint answers but does not report its token usage"
        return [Check("answer", "note", text, "predictions cannot be compared with the bill")]
    text = (
        f"predicted {predicted.tokens[0]} prompt tokens ({predicted.kind}), billed {first.prompt}"
    )
    is_wrong = predicted.kind == "exact" and first.prompt != predicted.tokens[0]
    todo = "the count is not exact here; set `tokenizer`, or `probe = true`" if is_wrong else ""
    return [Check("answer", "bad" if is_wrong else "good", text, todo), _cache(second)]


def _cache(again: Usage) -> Check:
    if again.cached is None:
        return Check("cache", "note", "the endpoint does not tell what it kept of a prompt")
    share = again.cached / max(1, again.prompt)
    text = f"{again.cached:,} of {again.prompt:,} prompt tokens were kept from the request before"
    if share >= 0.5:
        return Check("cache", "good", text)
    return Check("cache", "note", text, "long chats are evaluated anew; look for a prompt cache")


async def _usage(app: App, request: ChatRequest) -> Usage | None:
    usage = None
    async for event in (await app.booked(request, "probe")).stream(request):
        if isinstance(event, Ended):
            usage = event.usage
    return usage


def examine_storage(database: str) -> list[Check]:
    """The database, and whether only its owner can read it."""
    if "://" in database:
        return [Check("database", "good", database)]
    path = Path(database)
    text = f"{database} (SQLite {sqlite3.sqlite_version})"
    if not os.access(path, os.W_OK):
        return [Check("database", "bad", text, f"it cannot be written: chmod u+w {path}")]
    return [Check("database", "good", f"{text}, {path.stat().st_size / 1e6:,.1f} MB")]


def examine_index(folder: Path, settings: Settings) -> Check:
    """What is there for searching, and where; nothing is made anew."""
    from ..app.vault import index_place

    url = index_place(settings)
    try:
        return _examine_file(folder) if url is None else _examine_shared(folder, url)
    except SillError as error:
        return Check("index", "bad", error.message, error.hint or "")


def _examine_file(folder: Path) -> Check:
    from ..adapters.vault.index import database_for

    database = database_for(folder)
    if not database.exists():
        return Check("index", "note", "none yet", "the first `sill search` makes it")
    if not _is_sound(database):
        return Check("index", "note", f"{database} is damaged", "the next search makes it anew")
    return _examine_status(folder, database)


def _examine_shared(folder: Path, url: str) -> Check:
    from ..adapters.index.postgres.place import PostgresPlace

    place = PostgresPlace(url, folder)
    try:
        if not place.is_there():
            todo = "the first `sill search` makes it"
            return Check("index", "note", f"none yet in {place.name}", todo)
    finally:
        place.close()
    return _examine_status(folder, url)


def _examine_status(folder: Path, database: Path | str) -> Check:
    from ..adapters.index.index import Index

    index = Index(folder, database)
    try:
        status = index.status()
    finally:
        index.close()
    text = f"{status.files:,} files, {status.passages:,} passages; {status.bytes / 1e6:,.1f} MB"
    text += f"; {status.place}"
    if status.problems:
        todo = f"`sill status` names {len(status.problems):,} files that cannot be read"
        return Check("index", "note", text, todo)
    return Check("index", "good", text)


async def examine_servers(settings: Settings, folder: Path) -> list[Check]:
    """Whether each server of tools that the settings name can be started, and what it offers."""
    if not settings.mcp_servers():
        return []
    from ..app.servers import mcp_tools

    box = mcp_tools(settings, folder, ())
    if box is None:
        return []
    try:
        await box.tools()
        return [
            Check(
                "tools",
                "bad" if one.problem else "good",
                f"{one.name}: {one.problem or f'{len(await one.tools()):,} tools'}",
                f"mend `mcpServers.{one.name}`, or set its `enabled = false`"
                if one.problem
                else "",
            )
            for one in box.servers
        ]
    finally:
        await box.close()


def _is_sound(database: Path) -> bool:
    """Looked at without writing: whoever opens an index for use mends it."""
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("PRAGMA schema_version").fetchone()[0])
    except sqlite3.Error:
        return False


def examine_permissions(folder: Path) -> list[Check]:
    """Own directories and settings are for their owner alone; the folder can be written to."""
    checks = []
    for path in (config_dir(), data_dir(), state_dir(), cache_dir()):
        checks += _private(path)
    settings = config_dir() / FILE_NAME
    if settings.exists():
        checks += _private(settings)
    if not os.access(folder, os.W_OK):
        checks.append(Check("permission", "note", f"{folder} is read-only", "edits are refused"))
    return checks or [Check("permission", "good", "settings, chats and history are yours alone")]


def _private(path: Path) -> list[Check]:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077 == 0:
        return []
    text = f"{path} can be read by others ({mode:o})"
    # A settings file may hold a key; a directory shows only names if what is in it is private.
    state: State = "bad" if path.is_file() else "note"
    return [Check("permission", state, text, f"chmod go-rwx {path}")]
