from dataclasses import replace

import pytest

from sill.core.budget import PROFILES, budget
from sill.core.messages import Epoch, Message, Sized
from sill.core.plan import Ask, Item, OverBudget, Plan
from sill.core.usage import (
    Breakdown,
    Row,
    breakdown,
    plan_from_json,
    plan_json,
    refusal,
    trace_of,
    traced,
)

BUDGET = budget(PROFILES["chat_ops"], 4_096)
PLAN = Plan(
    items=(
        Item("system", "system prompt", 200, "kept", "always whole"),
        Item("overhead", "chat template", 3, "kept"),
        Item("file", "é.md", 500, "sent", "not in the window yet", 500),
        Item("file", "big.md", 40, "omitted", "too large", 40),
        Item("turn", "t1", 900, "evicted", "oldest first"),
        Item("turn", "t2", 300, "kept"),
        Item("recall", "t1", 57, "recalled", "bears on the question", 57),
        Item("question", "question", 100, "sent", "always whole", 100),
        Item("reply", "reply", 1_024, "reserved"),
    ),
    hidden=(),
    epoch=Epoch(2, "t2", frozenset({("t2", 1), ("t2", 0)})),
    tokens=1_200,
    budget=BUDGET,
    next_evicts=False,
)


def test_a_breakdown_adds_up():
    assert breakdown(PLAN) == Breakdown(
        rows=(
            Row("system", 203, 460, 6.6),
            Row("tools", 0, 307, 0.0),
            Row("files", 540, 1_228, 17.6),
            Row("history", 400, 614, 13.0),
            Row("recall", 57, 460, 1.9),
        ),
        used=1_200,
        room=3_072,
        left=1_872,
        percent=39.1,
        reply=1_024,
        margin=0,
        window=4_096,
        next_evicts=False,
    )


def test_a_plan_comes_back_from_its_json():
    chosen = replace(PLAN, tools=("read", "search"), shares=(("files", 0.6), ("recall", 0.1)))

    assert plan_from_json(plan_json(PLAN)) == PLAN
    assert plan_from_json(plan_json(chosen)) == chosen


def test_a_plan_is_stored_in_few_bytes():
    text = plan_json(PLAN)

    assert '["file","é.md",500,"sent","not in the window yet",500]' in text
    assert [field in text for field in ('"tools":[', '"shares":{"')] == [False, False]


def test_a_plan_carries_the_name_that_whoever_asked_has_for_the_turn():
    plan = plan_json(PLAN)
    named = traced(plan, "é-1")

    assert (trace_of(named), plan_from_json(named)) == ("é-1", PLAN)
    assert named == plan[:-1] + ',"trace":"é-1"}'
    assert (traced(plan, ""), trace_of(plan), trace_of("")) == (plan, "", "")
    assert trace_of('{"trace":3}') == ""


def test_nothing_is_a_part_of_no_room():
    assert breakdown(replace(PLAN, budget=budget(PROFILES["chat"], 0))).percent == 0.0


def test_a_plan_of_another_version_is_not_guessed_at():
    with pytest.raises(ValueError, match="version 9"):
        plan_from_json(plan_json(PLAN).replace('"version":1', '"version":9'))


@pytest.mark.parametrize(
    "part, expected",
    [
        ("question", "the message is too long: 9,000 tokens needed, 3,072 available; shorten it,"
                     " or put the long text into a file"),
        ("system", "the system prompt is too long: 9,000 tokens needed, 3,072 available; choose a"
                   " shorter prompt template or a larger window"),
        ("tools", "the tool list is too long: 9,000 tokens needed, 3,072 available; switch some tools off"),
        ("rounds", "what the tools returned is too long: 9,000 tokens needed, 3,072 available; ask for"
                   " less at a time"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_do(part, expected):
    assert refusal(OverBudget(9_000, 3_072, part, ())) == expected


def test_what_is_fixed_is_everything_that_must_go_in():
    asked = Ask(
        Sized(Message("system", "s"), 1),
        Sized(Message("user", "q"), 2),
        tools=4,
        overhead=8,
        recalls=(Sized(Message("assistant", "r"), 100),),
        sent=(Sized(Message("assistant", "f"), 16),),
        rounds=(Sized(Message("tool", "t"), 32),),
    )

    assert asked.fixed == 63
