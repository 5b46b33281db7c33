"""``sill replay``: a turn again, planned and priced for any model, and sent if asked."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import click

from ..app import App
from ..core.cost import dollars, worst_case
from ..engine.events import Delta, Event, Finished, Notice, Refused
from ..engine.prepare import Prepared, Question
from ..engine.replay import question_of
from ..errors import UsageError
from ..ports import Store, StoredTurn
from .ask import conclude
from .common import endpoint_options, opened, run_async
from .explain import ledger
from .screen import Pieces, json_text, plain


@click.command("replay")
@click.argument("turn")
@click.option("--send", is_flag=True, help="Ask it again; the answer becomes a branch of its chat.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@endpoint_options
def command(turn: str, send: bool, as_json: bool, **given: Any) -> int:
    """Plan and price a turn of the past for the chosen model, with the files as they were.

    TURN is a turn's id, the beginning of it, or `last`. Nothing is sent without --send.
    """
    return run_async(_replay(turn, send, as_json, given))


async def _replay(name: str, send: bool, as_json: bool, given: dict[str, Any]) -> int:
    async with opened(given) as app:
        turn = await (_last_turn(app) if name == "last" else find_turn(app.store, name))
        chat = app.chat
        history = await app.store.history_at(turn.id)
        question = await question_of(turn, history, chat.sizer)
        ready = await chat.plan(turn.chat, replace(question, instead_of=turn.id))
        if isinstance(ready, Refused):
            return conclude(ready)
        report = _report(app, turn, ready)
        if as_json:
            click.echo(json_text(report))
        else:
            click.echo(plain(f"turn {turn.id} · {turn.model} → {app.model_name}"))
            click.echo(ledger(ready.plan, ready.certificate))
            if report["was"] is not None:
                click.echo(f"was       {report['was']:,} tokens for {plain(turn.model)}")
            click.echo(f"costs     at most {dollars(report['at_most'])}")
        return await _send(app, turn, question) if send else 0


async def _last_turn(app: App) -> StoredTurn:
    chat = await app.latest_chat()
    turns = await app.store.turns(chat, limit=1) if chat is not None else []
    if not turns:
        raise UsageError("nothing was asked yet in this folder", hint="ask something first")
    return turns[-1]


async def find_turn(store: Store, name: str) -> StoredTurn:
    """The one turn that is meant: its id, or the beginning of exactly one."""
    ids = [name] if await store.turn(name) else await store.turn_ids(name)
    match ids:
        case [id]:
            found = await store.turn(id)
            assert found is not None
            return found
        case []:
            raise UsageError(f"there is no turn {name}", hint="`sill chats show last` names them")
        case _:
            raise UsageError(f"several turns begin with {name}", hint="give more of the id")


def _report(app: App, turn: StoredTurn, ready: Prepared) -> dict[str, Any]:
    """``at_most`` in billionths of a dollar; None is unknown."""
    predicted = ready.certificate.predicted
    price = app.chat.till.price if app.chat.till else None
    reply = ready.request.max_tokens
    return {
        "turn": turn.id,
        "model": app.model_name,
        "predicted": predicted,
        "kind": ready.certificate.kind,
        "was": turn.certificate.predicted if turn.certificate else None,
        "was_model": turn.model,
        "room": ready.plan.budget.room,
        "reply": reply,
        "at_most": None if price is None else worst_case(predicted, reply, price),
    }


async def _send(app: App, turn: StoredTurn, question: Question) -> int:
    """Beside the turn, not behind it: the chat goes on afterwards from where it was."""
    way = (await app.store.history(turn.chat)).turns
    await app.store.branch(turn.chat, turn.parent)
    try:
        return conclude(await _shown(app.ask(turn.chat, question)))
    finally:
        await app.store.branch(turn.chat, way[-1].id if way else None)


async def _shown(events: AsyncIterator[Event]) -> Finished | Refused:
    """Print the answer as it comes; how it ended."""
    outcome: Finished | Refused | None = None
    pieces = Pieces()
    async for event in events:
        match event:
            case Delta(text=text):
                click.echo(pieces.add(text), nl=False)
            case Notice(text=text):
                click.echo(f"sill: {plain(text)}", err=True)
            case Finished() | Refused():
                outcome = event
    click.echo(pieces.end())
    assert outcome is not None
    return outcome
