"""Commands that choose who answers, and how."""

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...errors import UsageError
from ..screen import plain, say
from .session import Given, Session
from .table import Command

if TYPE_CHECKING:
    from pathlib import Path

    from ...app import App
    from ...core.budget import Budget
    from ...settings import Scalar


async def model(session: Session, given: Given) -> None:
    """Show or change the model. The chat goes on; what is in the window is counted anew for the other one."""
    app = await session.app()
    if not given.text:
        _describe(app)
        return
    flags = await asyncio.to_thread(_flags_for, app, given.text)
    app = await session.desk.switch(**flags)
    session.started = None
    await session.refresh_meter()
    session.models = await endpoint_models(session, app)
    say(f"from now on {app.description}")
    if session.meter.used:
        counted = f"{session.meter.used:,} tokens ({session.meter.kind})"
        say(f"  this chat is {counted} for it", dim=True)


def _describe(app: "App") -> None:
    say(app.description)
    say(f"  {app.connection.why}; tokens: {app.counting}", dim=True)
    say(f"  price: {app.price}", dim=True)


def _flags_for(app: "App", name: str) -> "dict[str, Scalar | None]":
    """A local model by its weights; any other name is a model at the endpoint that is in use."""
    if name == "local":
        return {"base_url": "local", "profile.chat.base_url": "local"}
    for weights in _local():
        if _name_of(weights) == name:
            return {
                "base_url": "local",
                "profile.chat.base_url": "local",
                "local_model": str(weights),
            }
    if app.connection.kind == "local":
        raise UsageError(f"there is no local model {name}", hint=":models lists them")
    return {"model": name, "profile.chat.model": name}


def _local() -> "list[Path]":
    from ...adapters.local.choice import known_weights

    return [path for path in known_weights() if path.is_file()]


def _name_of(path: "Path") -> str:
    from ...adapters.local.header import name_of

    return name_of(path)


async def models(session: Session, given: Given) -> None:
    """The endpoint's models, then those on this machine; a star marks the one in use."""
    app = await session.app()
    here = app.model_name
    for name in await endpoint_models(session, app):
        say(f"{'*' if name == here else ' '} {name}  at {app.connection.shown_at}")
    for weights in await asyncio.to_thread(_local):
        name = _name_of(weights)
        if name != here or app.connection.kind != "local":
            say(f"  {name}  on this machine, {weights.stat().st_size / 1e6:,.0f} MB")
    for name, barred in app.fallbacks:
        say(f"  {name}  fallback{': ' + barred if barred else ''}", dim=True)


async def endpoint_models(session: Session, app: "App") -> list[str]:
    """What the endpoint lists; the one in use where it does not tell, or must not be asked."""
    from ...adapters.models.discover import discover
    from ...errors import ProviderError

    there = app.connection
    may_ask = session.desk.where.settings.get("probe", bool) is not False
    if there.kind == "local" or not may_ask:
        return [there.model]
    try:
        listed = (await discover(there.base_url, there.api_key)).models
    except ProviderError:
        listed = ()
    return list(dict.fromkeys([there.model, *listed]))


async def profile(session: Session, given: Given) -> None:
    """Show the numbers the chat is planned with, or change them for as long as the program runs."""
    if given.text:
        flags = dict(_setting(session, word) for word in given.words)
        await session.desk.switch(**flags)
        await session.refresh_meter()
    app = await session.app()
    call, budget = app.chat.call, app.chat.call.budget
    say(f"model        {app.model_name}")
    say(f"window       {call.window:,} tokens")
    say(f"prompt       {budget.room:,} of them, and {_reply(budget)} for the reply")
    say(f"temperature  {call.profile.temperature:g}")
    say(f"layout       {call.layout}")
    for name in ("system", "tools", "files", "history", "recall"):
        say(f"share        {name} {getattr(budget, name):,} tokens")
    for key, text, source in session.desk.where.settings.shown():
        if key.startswith("profile.chat.") and source != "default":
            say(f"set          {key.removeprefix('profile.chat.')} = {text}  ({source})", dim=True)


def _reply(budget: "Budget") -> str:
    if budget.reply_most <= budget.reply:
        return f"{budget.reply:,}"
    return f"at least {budget.reply:,}, up to {budget.reply_most:,},"


def _setting(session: Session, word: str) -> "tuple[str, Scalar | None]":
    from ...settings import TABLE

    name, equals, text = word.partition("=")
    spec = TABLE.get(f"profile.chat.{name}")
    if not equals or spec is None or name in ("base_url", "api_key"):
        raise UsageError(
            f"{plain(word)}: no setting of a profile", hint="for example :profile temperature=0.2"
        )
    try:
        value: Scalar = text == "true" if spec.kind is bool else spec.kind(text)
    except ValueError:
        raise UsageError(f"{plain(word)}: that is no {spec.kind.__name__}") from None
    return f"profile.chat.{name}", value


def _names(session: Session, typed: str) -> Iterable[str]:
    """Completion may not wait for the network: what is known without asking."""
    app = session.desk.ready
    listed = session.models or ([app.model_name] if app else [])
    return dict.fromkeys([*listed, *map(_name_of, _local()), "local"])


def _settings(session: Session, typed: str) -> Iterable[str]:
    from ...settings import TABLE

    done, _, _ = typed.rpartition(" ")
    names = [key.removeprefix("profile.chat.") for key in TABLE if key.startswith("profile.chat.")]
    lead = f"{done} " if done else ""
    return [f"{lead}{name}=" for name in names if name not in ("base_url", "api_key")]


COMMANDS = (
    Command("model", "[NAME]", "show the model, or go on with another one", model, (), _names),
    Command("models", "", "the models of the endpoint and of this machine", models),
    Command(
        "profile",
        "[NAME=VALUE…]",
        "window, reply, shares, temperature; for this chat",
        profile,
        (),
        _settings,
    ),
)
