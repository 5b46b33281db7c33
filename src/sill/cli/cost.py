"""``sill cost``: what the calls of all chats cost, and how well they were predicted."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import click

from ..app import open_storage
from ..core.cost import Price, Rates, dollars
from ..engine.costs import Compared, Report, Sums, compare, report
from ..errors import UsageError
from ..records import StoredAttempt
from .common import run_async, settled
from .money import in_dollars
from .screen import json_text, plain

_SPAN = re.compile(r"(\d+)\s*(h|d|w)")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}
_Applied = tuple[str, str, Price | None, int | None]  # model, endpoint, price, since when


@click.command("cost")
@click.option("--detail", is_flag=True, help="One line for every call to a model.")
@click.option(
    "--since", metavar="WHEN", help="A day such as 2026-03-01, or a span such as 24h, 7d, 2w."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--db", "database", metavar="PATH", help="Where chats are kept.")
def command(detail: bool, since: str | None, as_json: bool, **given: Any) -> int:
    """Show what calls to models cost, over all chats, by day, model and category.

    Predicted and billed prompt tokens are compared for each request; those that differ by more than
    10 % are marked and counted.
    """
    from_ms = moment(since, datetime.now()) if since else 0

    async def read() -> list[StoredAttempt]:
        async with open_storage(settled(given).settings) as store:
            return await store.attempts(from_ms)

    rows = run_async(read())
    if as_json:
        click.echo(json_text(as_object(rows, detail=detail)))
    else:
        click.echo(as_text(rows, detail=detail))
    return 0


def moment(since: str, now: datetime) -> int:
    """Milliseconds since 1970 of a day's first moment, or of so long ago."""
    if span := _SPAN.fullmatch(since.strip()):
        then = now - timedelta(hours=int(span[1]) * _HOURS[span[2]])
    else:
        try:
            then = datetime.fromisoformat(since.strip())
        except ValueError:
            raise UsageError(
                f"--since {since}: neither a day nor a span", hint="2026-03-01, 24h, 7d or 2w"
            ) from None
    return round(then.timestamp() * 1000)


def as_text(rows: Sequence[StoredAttempt], *, detail: bool) -> str:
    if not rows:
        return "nothing was sent yet"
    added = report(rows, _day)
    lines = _lines(rows) if detail else _groups(added)
    prices = _prices(rows) if detail else []
    return "\n".join([*_columns(lines), *prices, *_summary(added.total)])


def _groups(added: Report) -> list[list[str]]:
    head = ["day", "model", "category", "calls", "prompt", "cached", "reply", "cost"]
    body = [[*map(plain, key), *_numbers(sums)] for key, sums in added.groups]
    return [head, *body, ["total", "", "", *_numbers(added.total)]]


def _numbers(sums: Sums) -> list[str]:
    tokens = (sums.calls, sums.prompt, sums.cached, sums.completion)
    return [*(f"{number:,}" for number in tokens), shown_cost(sums)]


def shown_cost(sums: Sums) -> str:
    if sums.priceless == sums.calls:
        return "unknown"
    more = f" to {dollars(sums.cost + sums.open)}" if sums.open else ""
    return dollars(sums.cost) + more + (" and unknown" if sums.priceless else "")


def _lines(rows: Sequence[StoredAttempt]) -> list[list[str]]:
    head = [
        "time",
        "model",
        "category",
        "outcome",
        "predicted",
        "billed",
        "",
        "reply",
        "cost",
        "price",
    ]
    numbers = _numbered(rows)
    return [head, *([*_line(row), _number(row, numbers)] for row in rows)]


def _line(row: StoredAttempt) -> list[str]:
    settled_as, predicted = row.settlement, row.attempt.predicted
    usage = settled_as.usage if settled_as else None
    cost = settled_as.cost if settled_as else None
    most = f"up to {dollars(row.attempt.reserved)}" if row.attempt.reserved else "unknown"
    return [
        f"{datetime.fromtimestamp(row.started_ms / 1000):%Y-%m-%d %H:%M:%S}",
        plain(row.attempt.model),
        row.attempt.category,
        settled_as.outcome if settled_as else "open",
        "?" if predicted is None else f"{predicted:,}",
        "?" if usage is None else f"{usage.prompt:,}",
        _mark(compare(row)),
        "?" if usage is None else f"{usage.completion:,}",
        most if cost is None else dollars(cost),
    ]


def _numbered(rows: Sequence[StoredAttempt]) -> dict[_Applied, int]:
    """Every price that was applied, and the number it is referred to by."""
    applied = dict.fromkeys(_applied(row) for row in rows if row.attempt.price is not None)
    return {one: number for number, one in enumerate(applied, 1)}


def _number(row: StoredAttempt, numbers: dict[_Applied, int]) -> str:
    return "?" if row.attempt.price is None else f"[{numbers[_applied(row)]}]"


def _applied(row: StoredAttempt) -> _Applied:
    return row.attempt.model, row.attempt.endpoint, row.attempt.price, row.price_since_ms


def _prices(rows: Sequence[StoredAttempt]) -> list[str]:
    lines = []
    for (model, endpoint, price, since), number in _numbered(rows).items():
        assert price is not None
        used = "" if since is None else f"; applied since {_day(since)}"
        lines.append(
            f"[{number}] {plain(model)} at {plain(endpoint)}: {_told(price)} ({plain(price.source)}){used}"
        )
    return lines


def _told(price: Price) -> str:
    tiers = (f"; above {start:,} prompt tokens {_rates(rates)}" for start, rates in price.tiers)
    return f"{_rates(price.rates)} per million tokens{''.join(tiers)}"


def _rates(rates: Rates) -> str:
    named = (
        ("prompt", rates.prompt),
        ("cached", rates.cached),
        ("cache write", rates.cache_write),
        ("reply", rates.completion),
    )
    return ", ".join(f"{name} {dollars(rate)}" for name, rate in named if rate is not None)


def _mark(found: Compared | None) -> str:
    return f"{found.off:+.0%}" if found is not None and found.is_wrong else ""


def _summary(total: Sums) -> list[str]:
    lines = []
    if total.compared:
        lines.append(
            f"predictions: {total.compared - total.wrong:,} of {total.compared:,} requests within"
            f" 10 % of the bill, {total.wrong:,} further off"
        )
    if total.unknown:
        lines.append(
            f"cut off before they were billed: {total.unknown:,}, at most {dollars(total.open)}"
        )
    if total.priceless:
        lines.append(
            f"to models whose price is not known: {total.priceless:,}; set it under [prices] in the settings"
        )
    return lines


_TEXT_COLUMNS = {"day", "time", "model", "category", "outcome"}


def _columns(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    is_text = [title in _TEXT_COLUMNS for title in rows[0]]
    return [
        "  ".join(
            f"{cell:{'<' if left else '>'}{width}}"
            for cell, width, left in zip(row, widths, is_text, strict=True)
        ).rstrip()
        for row in rows
    ]


def as_object(rows: Sequence[StoredAttempt], *, detail: bool) -> dict[str, Any]:
    """The documented JSON object; costs are in dollars."""
    added = report(rows, _day)
    shown: dict[str, Any] = {
        "groups": [
            {"day": day, "model": model, "category": category, **_as_json(sums)}
            for (day, model, category), sums in added.groups
        ],
        "total": _as_json(added.total),
    }
    if detail:
        shown["calls"] = [_call(row) for row in rows]
    return shown


def _as_json(sums: Sums) -> dict[str, Any]:
    numbers = asdict(sums)
    all_unknown = sums.calls > 0 and sums.priceless == sums.calls
    return {
        **numbers,
        "cost": None if all_unknown else in_dollars(sums.cost),
        "open": in_dollars(sums.open),
    }


def _call(row: StoredAttempt) -> dict[str, Any]:
    attempt, ended = row.attempt, row.settlement
    usage, found = ended.usage if ended else None, compare(row)
    return {
        "started_ms": row.started_ms,
        "chat": attempt.chat or None,
        "turn": attempt.turn or None,
        "category": attempt.category,
        "model": attempt.model,
        "endpoint": attempt.endpoint,
        "outcome": ended.outcome if ended else "open",
        "status": ended.status if ended else None,
        "predicted": attempt.predicted,
        "prompt": usage.prompt if usage else None,
        "cached": usage.cached if usage else None,
        "completion": usage.completion if usage else None,
        "wrong": found.is_wrong if found else None,
        "reserved": in_dollars(attempt.reserved),
        "cost": in_dollars(ended.cost if ended else None),
        "price": None if attempt.price is None else _price(attempt.price, row.price_since_ms),
    }


def _price(price: Price, since_ms: int | None) -> dict[str, Any]:
    tiers = [{"above": start, **_rates_object(rates)} for start, rates in price.tiers]
    return {
        **_rates_object(price.rates),
        "tiers": tiers,
        "source": price.source,
        "since_ms": since_ms,
    }


def _rates_object(rates: Rates) -> dict[str, Any]:
    """In dollars per million tokens."""
    return {
        "prompt": in_dollars(rates.prompt),
        "completion": in_dollars(rates.completion),
        "cached": in_dollars(rates.cached),
        "cache_write": in_dollars(rates.cache_write),
    }


def _day(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000):%Y-%m-%d}"
