"""Which request of a turn is explained."""

import asyncio
from dataclasses import replace

import pytest

from sill.cli.explain import Shown, ledger, sent_request, shown_request
from sill.core.budget import Profile, budget
from sill.core.certificate import Certificate
from sill.core.messages import Epoch
from sill.core.plan import Item, Plan
from sill.core.usage import plan_from_json
from sill.errors import UsageError
from sill.ports import StoredTurn
from sill.records import Recorded
from tests.engine.test_rounds import ask, calls, make_chat

COUNTED = [Certificate("exact", "words", tokens) for tokens in (10, 20, 30)]
BILLED = replace(COUNTED[2], actual=31)
TURN = StoredTurn("t", "c", "complete", (), certificate=BILLED, plan="third")
REQUESTS = [
    Recorded(counted, plan.encode(), plan)
    for counted, plan in zip(COUNTED, ("first", "second", "third"), strict=True)
]
# A program that was killed, before every request had its plan: the turn keeps the first one's.
KILLED = [REQUESTS[0], *(replace(one, plan="") for one in REQUESTS[1:])]


@pytest.mark.parametrize(
    "requests, number, expected",
    [
        pytest.param(REQUESTS, None, Shown(3, 3, BILLED, "third"), id="the last one"),
        pytest.param(REQUESTS, 1, Shown(1, 3, COUNTED[0], "first"), id="the first one"),
        pytest.param(REQUESTS, 2, Shown(2, 3, COUNTED[1], "second"), id="one between"),
        pytest.param(KILLED, None, Shown(1, 3, COUNTED[0], "first"), id="the last that is known"),
        pytest.param(KILLED, 2, Shown(2, 3, COUNTED[1], ""), id="one whose plan is not known"),
        pytest.param([], None, Shown(1, 1, BILLED, "third"), id="a turn without any"),
        pytest.param(
            REQUESTS[:1], None, Shown(1, 1, BILLED, "first"), id="a turn without tool rounds"
        ),
    ],
)
def test_the_request_that_is_explained_is_the_one_its_numbers_are_of(requests, number, expected):
    assert shown_request(TURN, requests, number) == expected


@pytest.mark.parametrize("number, expected", [(None, b"third"), (1, b"first"), (3, b"third")])
def test_the_bytes_of_any_request_of_a_turn_are_printed(number, expected):
    assert sent_request(REQUESTS, number) == expected


@pytest.mark.parametrize("explain", [sent_request, lambda *them: shown_request(TURN, *them)])
def test_a_request_that_a_turn_does_not_have_is_a_mistake(explain):
    with pytest.raises(UsageError, match="no request 4"):
        explain(REQUESTS, 4)


def test_every_round_of_a_turn_with_tools_is_explained_by_its_own_plan():
    read = {"read": lambda _: "x"}
    chat = make_chat(
        calls(("read", {"path": "a"})), calls(("read", {"path": "b"})), ["done"], tools=read
    )

    async def run():
        started, *_, finished = await ask(chat, "go")
        turn, requests = await chat.store.turn("turn-1"), await chat.store.requests("turn-1")
        shown = [shown_request(turn, requests, number) for number in (1, 2, 3)]
        return started, finished, [plan_from_json(one.plan) for one in shown], shown

    started, finished, plans, shown = asyncio.run(run())

    assert [plan.items for plan in (plans[0], plans[-1])] == [
        started.plan.items,
        finished.plan.items,
    ]
    predicted = [one.certificate.predicted for one in shown]
    assert predicted == sorted(set(predicted))
    assert [any(item.kind == "rounds" for item in plan.items) for plan in plans] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    "item, expected",
    [
        pytest.param(
            Item("turn", "0af" + "1" * 29, 5, "kept"), "kept      5  0af11111", id="a turn"
        ),
        pytest.param(
            Item("recall", f"{'a' * 32}, {'b' * 32}", 9, "recalled", "why"),
            "recalled  9  aaaaaaaa, bbbbbbbb  why",
            id="several",
        ),
        pytest.param(
            Item("recall", "2 remembered facts", 9, "sent"),
            "sent      9  2 remembered facts",
            id="what is no turn",
        ),
        pytest.param(
            Item("file", "c" * 32, 9, "sent"),
            f"sent      9  {'c' * 32}",
            id="a file of such a name",
        ),
    ],
)
def test_turns_are_named_by_the_beginning_of_their_ids(item, expected):
    plan = Plan((item,), (), Epoch(), 9, budget(Profile(window=100, reply=10)), False)

    assert ledger(plan, None).split("\n")[0] == expected
