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


def asked(arguments: str) -> str:
    """What a stub names of the call's arguments."""
    calls = called(arguments).carries
    assert isinstance(calls, ToolCalls)
    return masks.stub(answered(LONG), calls.calls[0]).text.removeprefix("[").partition(": 600")[0]


@pytest.mark.parametrize(
    "arguments, expected",
    [
        pytest.param("[1, 2]", "read_document", id="no fields"),
        pytest.param('{"q": "a\\n  b"}', "read_document a b", id="on one line"),
        pytest.param('{"q": ["é", 1, null]}', 'read_document ["é", 1, null]', id="other values as JSON"),
        pytest.param('{"q": "' + "x" * 160 + '"}', "read_document " + "x" * 160, id="long"),
        pytest.param('{"q": "' + "x" * 161 + '"}', "read_document " + "x" * 159 + "…", id="too long"),
    ],
)  # fmt: skip
def test_a_stub_names_the_arguments(arguments, expected):
    assert asked(arguments) == expected


def test_each_stub_stands_for_its_own_result():
    first, second = ToolCall("c1", "read", '{"path": "a"}'), ToolCall("c2", "read", '{"path": "b"}')
    results = [Message("tool", LONG, ToolResult(id, "read")) for id in ("c2", "c1", "lost")]
    just = Message("tool", "x" * 400, ToolResult("c1", "read"))
    short = Message("tool", "x" * 399, ToolResult("c1", "read"))
    messages = [
        Message("user", "read them"),
        Message("assistant", "", ToolCalls((first,))),
        Message("assistant", "", ToolCalls((second,))),
        *results,
        short,
        just,
    ]

    assert masks.stubs(messages) == [
        (3, masks.stub(results[0], second)),
        (4, masks.stub(results[1], first)),
        (5, masks.stub(results[2], None)),
        (7, masks.stub(just, first)),
    ]
    assert masks.stub(results[2], None) == Message(
        "tool", f"[read: 600 characters, {STATE}; call it again to see it]", results[2].carries
    )


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
