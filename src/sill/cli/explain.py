"""``sill explain``: what a request held, item by item, and why."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from ..app import open_storage
from ..core.certificate import Certificate
from ..core.drift import Drift
from ..core.plan import Item, Plan
from ..core.tools import tools_used
from ..core.usage import breakdown, plan_from_json
from ..engine.drift import drift_of
from ..errors import UsageError
from ..ports import StoredTurn
from ..records import Recorded
from .common import endpoint_options, run_async, settled
from .screen import json_text, plain

_ID = re.compile(r"[0-9a-f]{32}")


@click.command("explain")
@click.argument("turn", required=False)
@click.option(
    "--request",
    "number",
    metavar="N",
    type=click.IntRange(min=1),
    help="The request of a turn with tools, from 1; the last one if it is not given.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--bytes", "as_bytes", is_flag=True, help="Print the exact body that was sent.")
@endpoint_options
def command(
    turn: str | None, number: int | None, as_json: bool, as_bytes: bool, **given: Any
) -> int:
    """Show what a request held: every item, its tokens, and why it was in or out.

    TURN is a turn's id or the beginning of it; without it, or with `last`, the folder's latest turn. A turn with
    tools has several requests: the last one is shown, or the one that --request names.
    """
    found, requests, drift = run_async(_find(turn, given))
    if as_bytes:
        _write_bytes(sent_request(requests, number))
        return 0
    shown = shown_request(found, requests, number)
    if as_json:
        click.echo(json_text(_report(found, shown, drift)))
        return 0
    click.echo(_heading(found, shown))
    if shown.plan:
        asked = found if shown.is_last else replace(found, usage=None)
        click.echo(ledger(plan_from_json(shown.plan), shown.certificate, asked))
    else:
        click.echo("its items were not kept; --bytes prints what was sent")
    click.echo(f"so far    {drift.words}")
    return 0


@dataclass(frozen=True, slots=True)
class Shown:
    """One request of a turn by its number among ``of``: how it was counted, and its plan where that is known."""

    number: int
    of: int
    certificate: Certificate | None
    plan: str

    @property
    def is_last(self) -> bool:
        return self.number == self.of


def shown_request(
    turn: StoredTurn, requests: Sequence[Recorded], number: int | None = None
) -> Shown:
    """The request of that number; else the last one whose plan is known."""
    _check(requests, number)
    if not requests:
        return Shown(1, 1, turn.certificate, turn.plan)
    if number is None:
        planned = (at for at in range(len(requests), 0, -1) if requests[at - 1].plan)
        number = next(planned, len(requests))
    chosen = requests[number - 1]
    # Only of the last one it is known with the turn what it was billed for.
    is_last = number == len(requests)
    certificate = turn.certificate if is_last else chosen.certificate
    return Shown(number, len(requests), certificate, chosen.plan)


def sent_request(requests: Sequence[Recorded], number: int | None) -> bytes:
    """Its exact bytes; of the last one if none is named."""
    _check(requests, number)
    return requests[(number or 0) - 1].request if requests else b""


def _check(requests: Sequence[Recorded], number: int | None) -> None:
    if number is not None and number > max(1, len(requests)):
        raise UsageError(
            f"the turn has no request {number}", hint=f"it has {max(1, len(requests))}"
        )


def _write_bytes(request: bytes) -> None:
    """As they were sent; on a terminal with what would steer it made visible."""
    if sys.stdout.isatty():
        click.echo(plain(request.decode(errors="replace")))
    else:
        sys.stdout.buffer.write(request)
        sys.stdout.buffer.flush()


async def _find(
    turn: str | None, given: dict[str, Any]
) -> tuple[StoredTurn, list[Recorded], Drift]:
    """The turn, its requests, and how its tokenizer has fared at its endpoint."""
    where = settled(given)
    async with open_storage(where.settings) as store:
        if turn is None or turn == "last":
            chat = await store.latest_chat(str(where.folder))
            recent = await store.turns(chat, limit=1) if chat else []
            if not recent:
                raise UsageError(
                    f"no request was sent yet in {where.folder}", hint="ask something first"
                )
            turn = recent[-1].id
        ids = await store.turn_ids(turn)
        if len(ids) > 1 and turn not in ids:
            raise UsageError(f"several turns begin with {turn}", hint=f"for example {ids[0]}")
        found = await store.turn(turn if turn in ids or not ids else ids[0])
        if found is None:
            hint = "`sill chats show` lists a chat's turns"
            raise UsageError(f"there is no turn {turn}", hint=hint)
        tokenizer = found.certificate.tokenizer if found.certificate else ""
        requests = await store.requests(found.id)
        return found, requests, await drift_of(store, found.endpoint, found.model, tokenizer)


def _heading(turn: StoredTurn, shown: Shown) -> str:
    which = f" · request {shown.number} of {shown.of}" if shown.of > 1 else ""
    return plain(f"turn {turn.id} · {turn.status} · {turn.model} at {turn.endpoint}{which}")


def _short(item: Item) -> str:
    """An item's name; turns by the beginning of their ids, which every command takes."""
    if item.kind not in ("turn", "pin", "recall"):
        return item.name
    return ", ".join(id[:8] if _ID.fullmatch(id) else id for id in item.name.split(", "))


def ledger(plan: Plan, certificate: Certificate | None, turn: StoredTurn | None = None) -> str:
    """The plan as a table for people."""
    rows = [(item.fate, f"{item.tokens:,}", _short(item), item.reason) for item in plan.items]
    number = max(len(row[1]) for row in rows)
    name = min(36, max(len(row[2]) for row in rows))
    lines = [
        f"{fate:9} {tokens:>{number}}  {plain(what):{name}}  {plain(why)}".rstrip()
        for fate, tokens, what, why in rows
    ]
    room = plan.budget.room
    part = plan.tokens / max(1, room)
    lines.append(f"{'total':9} {plan.tokens:>{number},}  of {room:,} tokens of room ({part:.0%})")
    lines += [
        f"{'share':9} {row.used:>{number},}  of {row.budget:,} meant for {row.share} ({row.percent:g} %)"
        for row in breakdown(plan).rows
        if row.used
    ]
    if turn is not None:
        lines += [f"{'tool':9} {plain(used)}" for used in tools_used(turn.messages)]
    if certificate is not None:
        lines += _counted(certificate)
    if turn is not None and turn.usage is not None and turn.usage.cached is not None:
        cached, prompt = turn.usage.cached, turn.usage.prompt
        lines.append(f"cached    {cached:,} of {prompt:,} prompt tokens were not evaluated again")
    if plan.next_evicts:
        lines.append("next      a long answer to this lets the next message start a new epoch")
    return "\n".join(lines)


def _counted(certificate: Certificate) -> list[str]:
    billed = "not reported" if certificate.actual is None else f"{certificate.actual:,}"
    return [
        f"counted   {certificate.predicted:,} before sending ({certificate.kind}), billed {billed}",
        f"          by {plain(certificate.tokenizer)}",
    ]


def _report(turn: StoredTurn, shown: Shown, drift: Drift) -> dict[str, Any]:
    certificate, usage = shown.certificate, turn.usage if shown.is_last else None
    return {
        "turn": turn.id,
        "chat": turn.chat,
        "status": turn.status,
        "model": turn.model,
        "endpoint": turn.endpoint,
        "request": {"number": shown.number, "of": shown.of},
        "plan": _plan(shown.plan) if shown.plan else None,
        "tools": tools_used(turn.messages),
        "certificate": certificate
        and {
            "kind": certificate.kind,
            "tokenizer": certificate.tokenizer,
            "template": certificate.template,
            "predicted": certificate.predicted,
            "actual": certificate.actual,
            "drift": drift.row(),
        },
        "usage": usage
        and {"prompt": usage.prompt, "cached": usage.cached, "completion": usage.completion},
    }


def _plan(text: str) -> dict[str, Any]:
    plan = plan_from_json(text)
    shown = breakdown(plan)
    return {
        "items": [
            {
                "kind": item.kind,
                "name": item.name,
                "tokens": item.tokens,
                "fate": item.fate,
                "reason": item.reason,
                "new": item.new,
            }
            for item in plan.items
        ],
        "tokens": plan.tokens,
        "room": plan.budget.room,
        "window": plan.budget.window,
        "reply": plan.budget.reply,
        "epoch": plan.epoch.number,
        "next_evicts": plan.next_evicts,
        "left": shown.left,
        "shares": {
            row.share: {"used": row.used, "budget": row.budget, "percent": row.percent}
            for row in shown.rows
        },
    }
