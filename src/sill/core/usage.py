"""A plan for people: how full the window is, by share; and as JSON, to explain the request later."""

import json
from dataclasses import asdict, dataclass
from typing import Literal

from .budget import Budget
from .messages import Epoch
from .plan import Item, Kind, OverBudget, Plan

Share = Literal["system", "tools", "files", "history", "recall"]

_SHARE: dict[Kind, Share] = {
    "system": "system",
    "overhead": "system",
    "tools": "tools",
    "file": "files",
    "turn": "history",
    "question": "history",
    "rounds": "history",
    "recall": "recall",
    "news": "history",
    "summary": "history",
    "pin": "history",
}
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One share: its tokens in the prompt, what it was meant to have, and the part of the room it takes."""

    share: Share
    used: int
    budget: int
    percent: float


@dataclass(frozen=True, slots=True)
class Breakdown:
    """``left`` is free below the room's edge; the reply's reserve is not part of the room."""

    rows: tuple[Row, ...]
    used: int
    room: int
    left: int
    percent: float
    reply: int
    margin: int
    window: int
    next_evicts: bool


def breakdown(plan: Plan) -> Breakdown:
    """Used, budget and percentage of every share. The rows add up to ``used``."""
    budget, room = plan.budget, plan.budget.room
    used: dict[Share, int] = dict.fromkeys(("system", "tools", "files", "history", "recall"), 0)
    for item in plan.items:
        if item.in_prompt:
            used[_SHARE[item.kind]] += item.tokens
    meant: dict[Share, int] = {
        "system": budget.system,
        "tools": budget.tools,
        "files": budget.files,
        "history": budget.history,
        "recall": budget.recall,
    }
    return Breakdown(
        rows=tuple(Row(s, used[s], meant[s], _percent(used[s], room)) for s in used),
        used=plan.tokens,
        room=room,
        left=room - plan.tokens,
        percent=_percent(plan.tokens, room),
        reply=budget.reply,
        margin=budget.margin,
        window=budget.window,
        next_evicts=plan.next_evicts,
    )


def refusal(over: OverBudget) -> str:
    """One sentence that says what is too large and what to do about it."""
    what = {
        "system": "the system prompt",
        "tools": "the tool list",
        "question": "the message",
        "rounds": "what the tools returned",
    }[over.part]
    advice = {
        "system": "choose a shorter prompt template or a larger window",
        "tools": "switch some tools off",
        "question": "shorten it, or put the long text into a file",
        "rounds": "ask for less at a time",
    }[over.part]
    return (
        f"{what} is too long: {over.needed:,} tokens needed, {over.available:,} available; {advice}"
    )


def plan_json(plan: Plan) -> str:
    """The plan without its messages, which are stored with the turn."""
    epoch = plan.epoch
    return json.dumps(
        {
            "version": _VERSION,
            "tokens": plan.tokens,
            "next_evicts": plan.next_evicts,
            "epoch": [epoch.number, epoch.first, sorted(epoch.dropped), sorted(epoch.masked)],
            "budget": asdict(plan.budget),
            "items": [
                [item.kind, item.name, item.tokens, item.fate, item.reason, item.new]
                for item in plan.items
            ],
            **({"tools": plan.tools} if plan.tools else {}),
            **({"shares": dict(plan.shares)} if plan.shares else {}),
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def traced(plan: str, trace: str) -> str:
    """The plan as ``plan_json`` wrote it, with the name that whoever asked has for the turn."""
    if not trace:
        return plan
    fields = {**json.loads(plan), "trace": trace}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def trace_of(plan: str) -> str:
    """What ``traced`` has put in; nothing where it did not."""
    found = json.loads(plan).get("trace", "") if plan else ""
    return found if isinstance(found, str) else ""


def plan_from_json(text: str) -> Plan:
    """What ``plan_json`` wrote; ``hidden`` is empty."""
    fields = json.loads(text)
    if fields["version"] != _VERSION:
        raise ValueError(f"a plan of version {fields['version']}; this program reads {_VERSION}")
    number, first, *places = fields["epoch"]
    return Plan(
        items=tuple(Item(*item) for item in fields["items"]),
        hidden=(),
        epoch=Epoch(
            number, first, *(frozenset((turn, at) for turn, at in some) for some in places)
        ),
        tokens=fields["tokens"],
        budget=Budget(**fields["budget"]),
        next_evicts=fields["next_evicts"],
        tools=tuple(fields.get("tools", ())),
        shares=tuple(fields.get("shares", {}).items()),
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
