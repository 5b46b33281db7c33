"""One-line stubs for old tool results, and what an eviction does with them."""

import pytest

from sill.core import ledger, masks
from sill.core.budget import Profile, budget
from sill.core.messages import (
    Epoch,
    Message,
    Sized,
    Summary,
    ToolCall,
    ToolCalls,
    ToolResult,
    Turn,
    fingerprint,
)
from sill.core.plan import Ask, Plan, plan_context

LONG = "line of a note\n" * 40
STATE = fingerprint(LONG)[:19]


def called(arguments: str) -> Message:
    return Message("assistant", "", ToolCalls((ToolCall("c1", "read_document", arguments),)))


def answered(text: str) -> Message:
    return Message("tool", text, ToolResult("c1", "read_document"))


@pytest.mark.parametrize(
    "arguments, text, expected",
    [
        pytest.param(
            '{"path": "notes/a.md", "start_line": 81}',
            LONG,
            f"[read_document notes/a.md, 81: 600 characters, {STATE}; call it again to see it]",
            id="names the call, the size and the state",
        ),
        pytest.param("{}", "short", None, id="a short result stays"),
        pytest.param(
            "not JSON",
            LONG,
            f"[read_document: 600 characters, {STATE}; call it again to see it]",
            id="arguments nobody can read are left out",
        ),
    ],
)  # fmt: skip
def test_a_stub_stands_for_a_long_result(arguments, text, expected):
    messages = [
        Message("user", "read it"),
        called(arguments),
        answered(text),
        Message("assistant", "done"),
    ]

    found = [(at, stub.text) for at, stub in masks.stubs(messages)]

    assert found == ([(2, expected)] if expected else [])


def turn(id: str, *, result: int = 0, summary: int = 0) -> Turn:
    """A turn of 10 tokens, a tool result that a stub of 2 can stand for, and a summary."""
    before = (Sized(Message("assistant", "sum", Summary("t0", 1)), summary),) if summary else ()
    question = (Sized(Message("user", id), 5),)
    tools = (Sized(called("{}"), 1), Sized(answered(LONG), result)) if result else ()
    at = len(before) + 2
    stub = Sized(masks.stub(answered(LONG), None), 2)
    messages = (*before, *question, *tools, Sized(Message("assistant", "ok"), 5))
    return Turn(id, messages, ((at, stub),) if result else ())


def planned(room: int, *turns: Turn, epoch: Epoch | None = None) -> Plan:
    limits = budget(Profile(window=room, reply=0, high=0.9, low=0.6))
    ask = Ask(Sized(Message("system", ""), 0), Sized(Message("user", "?"), 10))
    plan = plan_context(limits, ask, turns, epoch or Epoch(), ())
    assert isinstance(plan, Plan)
    return plan


@pytest.mark.parametrize(
    "turns, first, masked, dropped, tokens",
    [
        pytest.param(
            [turn("a", result=60), turn("b"), turn("c")], "a", {("a", 2)}, set(), 43,
            id="old results go before whole turns",
        ),
        pytest.param(
            [turn("a", result=60), turn("b", result=20)], "a", {("a", 2)}, set(), 54,
            id="those of the latest turn stay",
        ),
        pytest.param(
            [turn("a"), turn("b", result=90)], "a", {("b", 2)}, set(), 33,
            id="unless it could not stay otherwise",
        ),
        pytest.param(
            [turn("a", result=60), turn("b", summary=20), turn("c")], "a", {("a", 2)}, {("b", 0)}, 43,
            id="a summary is replaced",
        ),
    ],
)  # fmt: skip
def test_an_eviction_masks_first(turns, first, masked, dropped, tokens):
    plan = planned(100, *turns)

    assert plan.epoch == Epoch(1, first, frozenset(dropped), frozenset(masked))
    assert plan.tokens == tokens


def test_what_was_masked_stays_masked_while_its_turn_is_shown():
    turns = [turn("a", result=60), turn("b"), turn("c")]
    epoch = Epoch(1, "a", frozenset(), frozenset({("a", 2)}))
    plan = planned(200, *turns, epoch=epoch)
    shown = ledger.shown(turns[0], epoch)

    assert plan.epoch == epoch
    assert shown[2].text.startswith("[read_document: ")
    assert [item.reason for item in plan.items if item.kind == "turn"] == [
        "old tool results as one-line stubs",
        "",
        "",
    ]
