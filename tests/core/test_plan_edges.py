"""The planner at its edges: what just fits goes in, one token more does not."""

from dataclasses import replace

import pytest

from sill.core import envelopes
from sill.core.messages import Epoch, Message, Sized
from sill.core.plan import Item, Plan, plan_context

from .test_plan import T1, T2, ask, change, offer, recall, room, stamp, summary, turn, whole
from .test_plan_items import looked, omitted, pinned, restored, summed

# In a room of 100 the marks are 90 and 50; system and question take 10.


def planned(turns, offers=(), epoch=None, limits=None, **rest) -> Plan:
    plan = plan_context(limits or room(100), ask(**rest), turns, epoch or Epoch(), offers)
    assert isinstance(plan, Plan)
    return plan


def file_items(plan: Plan) -> list[Item]:
    return [item for item in plan.items if item.kind == "file"]


def said(tokens: int) -> tuple[Sized, ...]:
    return (Sized(Message("tool", "found"), tokens),)


@pytest.mark.parametrize(
    "turns, expected",
    [
        pytest.param([turn("t1", 40), turn("t2", 40)], "t1 t2 |  | 90", id="the high mark is reached"),
        pytest.param([turn("t1", 41), turn("t2", 40)], "t2 |  | 50", id="passed: down to the low one"),
        pytest.param([turn("t1", 50), turn("t2", 41)], "t2 |  | 51", id="but the latest turn stays above it"),
        pytest.param([turn("t1", 30), turn("t2", 90)], "t2 |  | 100", id="up to the edge of the room"),
        pytest.param([turn("t1", 30), turn("t2", 91)], " |  | 10", id="and not beyond"),
        pytest.param([turn("t1", 30), turn("t2", 20), turn("t3", 20), turn("t4", 40)], "t4 |  | 50", id="as many as fit"),
        pytest.param([turn("t1", 30), turn("t2", 21), turn("t3", 20), turn("t4", 20)], "t3 t4 |  | 50", id="the low mark is reached"),
    ],
)  # fmt: skip
def test_turns_up_to_a_mark(turns, expected):
    assert summary(planned(turns)) == expected


@pytest.mark.parametrize(
    "file, turns, expected",
    [
        # Question and file take 31, so that turns may fill half of the 59 up to the high mark.
        pytest.param(21, [turn("t1", 40), turn("t2", 29)], "t2 | a | 60", id="half of what files leave"),
        pytest.param(21, [turn("t1", 31), turn("t2", 9), turn("t3", 20)], "t2 t3 | a | 60", id="just so"),
        pytest.param(21, [turn("t1", 31), turn("t2", 10), turn("t3", 20)], "t3 | a | 51", id="one too many"),
    ],
)  # fmt: skip
def test_large_files_leave_turns_half_of_the_rest(file, turns, expected):
    assert summary(planned(turns, [offer("a", tokens=file)])) == expected


@pytest.mark.parametrize(
    "tokens, expected",
    [
        pytest.param([40, 7], ["sent", "omitted"], id="the first takes all of it"),
        pytest.param([41, 40], ["omitted", "sent"], id="half of what is left below the mark"),
        pytest.param([33, 7], ["sent", "sent"], id="together"),
        pytest.param([33, 8], ["sent", "omitted"], id="one too many"),
    ],
)
def test_pins_may_take_half_of_what_is_left(tokens, expected):
    pins = tuple(pinned(f"s{at}", size) for at, size in enumerate(tokens))
    plan = planned([], pins=pins)

    assert [item.fate for item in plan.items if item.kind == "pin"] == expected


def test_nothing_is_left_for_pins_past_the_high_mark():
    plan = planned([], question=90, pins=(pinned("s1", 0), pinned("s2", 1)))

    assert [item.fate for item in plan.items if item.kind == "pin"] == ["omitted", "omitted"]


@pytest.mark.parametrize(
    "tokens, expected",
    [
        pytest.param(70, False, id="the reserve just fits below the mark"),
        pytest.param(71, True, id="one token too many"),
    ],
)
def test_a_plan_says_whether_the_next_turn_will_evict(tokens, expected):
    assert planned([turn("t1", tokens)]).next_evicts is expected


@pytest.mark.parametrize(
    "talk, recalls, expected",
    [
        pytest.param(10, [recall(10, "s1")], "t1 | recall s1 | 30", id="all of its share"),
        pytest.param(75, [recall(5, "s1")], "t1 | recall s1 | 90", id="up to the high mark"),
        pytest.param(
            75, [recall(6, "s1"), recall(4, "s2")], "t1 | recall s2 | 89", id="not past it"
        ),
    ],
)
def test_recall_takes_its_share_below_the_mark(talk, recalls, expected):
    assert summary(planned([turn("t1", talk)], recalls=tuple(recalls))) == expected


def test_a_turn_that_leaves_now_can_be_recalled_at_once():
    plan = planned([turn("t1", 75), T2], recalls=(recall(5, "t1"),))

    assert summary(plan) == "t2 | recall t1 | 25"


def test_what_an_eviction_would_spare_does_not_keep_a_file_out():
    turns = [turn("t1", 20, recall(10, "s1"), summed(1, 5))]

    # Past the files' share of 40 the file must leave room for the latest turn: 20 without what it was told.
    assert summary(planned(turns, [offer("a", tokens=60)])) == "t1 | a | 90"
    assert summary(planned(turns, [offer("a", tokens=61)])) == "t1 | a omitted | 47"


def test_a_tool_loop_may_fill_the_room_before_anything_moves():
    turns = [T1, T2]
    found = [summary(planned(turns, rounds=said(tokens))) for tokens in (70, 71)]

    assert found == ["t1 t2 |  | 100", "t2 |  | 91"]


def test_results_of_the_latest_turn_stay_whole_where_it_fits():
    plan = planned([turn("t1", 60), looked("t2", 30, 20)])

    assert (plan.epoch, plan.tokens) == (Epoch(1, "t2"), 40)


def test_an_eviction_keeps_what_an_earlier_one_dropped_and_masked():
    copy = whole("a", "v0", 5)
    epoch = Epoch(2, "t1", frozenset({("t1", 9), ("t2", 0)}), frozenset({("t1", 8), ("t2", 4)}))
    turns = [turn("t1", 40), looked("t2", 30, 20, copy, whole("a", "v1", 6)), turn("t3", 20)]

    plan = planned(turns, [offer("a", "v2", 6)], epoch)

    # Position 0 went in an earlier epoch, 1 is replaced now; a stub of 3 stands for the result at 4.
    dropped, masked = frozenset({("t2", 0), ("t2", 1)}), frozenset({("t2", 4)})
    assert plan.epoch == Epoch(3, "t2", dropped, masked)
    assert summary(plan) == "t2 t3 | a | 49"


# --- Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "offers, expected",
    [
        pytest.param(
            [offer("a", tokens=95, outline=omitted("a", 80, "#"))],
            [Item("file", "a", 80, "omitted", "95 tokens do not fit the 80 left for files; its outline is sent instead", 80)],
            id="an outline that just fits below the mark",
        ),
        pytest.param(
            [offer("a", tokens=95, outline=omitted("a", 81, "#"))],
            [Item("file", "a", 2, "omitted", "95 tokens do not fit the 80 left for files; the model is told", 2)],
            id="one that does not",
        ),
        pytest.param(
            [offer("b", tokens=80), replace(offer("a"), omitted=omitted("a", 10))],
            [
                Item("file", "b", 80, "sent", "not in the window yet", 80),
                Item("file", "a", 10, "omitted", "20 tokens do not fit the 0 left for files; the model is told", 10),
            ],
            id="a name that just fits the room",
        ),
        pytest.param(
            [offer("b", tokens=79), replace(offer("a"), omitted=omitted("a", 12)), offer("c", tokens=1)],
            [
                Item("file", "b", 79, "sent", "not in the window yet", 79),
                Item("file", "a", 0, "omitted", "20 tokens do not fit the 1 left for files; no room even to name it"),
                Item("file", "c", 1, "sent", "not in the window yet", 1),
            ],
            id="not even the name",
        ),
        pytest.param(
            [offer("b", tokens=80), replace(offer("a"), omitted=omitted("a", 5)), offer("c")],
            [
                Item("file", "b", 80, "sent", "not in the window yet", 80),
                Item("file", "a", 5, "omitted", "20 tokens do not fit the 0 left for files; the model is told", 5),
                Item("file", "c", 2, "omitted", "20 tokens do not fit the 0 left for files; the model is told", 2),
            ],
            id="less than nothing is nothing",
        ),
        pytest.param(
            [replace(offer("a"), withheld="linked, and long")],
            [Item("file", "a", 2, "omitted", "linked, and long; the model is told", 2)],
            id="withheld",
        ),
    ],
)  # fmt: skip
def test_files_up_to_a_mark(offers, expected):
    assert file_items(planned([], offers)) == expected


@pytest.mark.parametrize(
    "hidden, offered, expected",
    [
        pytest.param(
            [whole("a")], offer("a", "v2"), Item("file", "a", 40, "sent", "changed", 20),
            id="changed, with no delta to send",
        ),
        pytest.param(
            [whole("a", tokens=10), whole("a", "v2", 10)], offer("a", tokens=10),
            Item("file", "a", 10, "kept", "unchanged since it was sent"),
            id="back again with no way to say so: one eviction shows it alone",
        ),
    ],
)  # fmt: skip
def test_a_file_that_changed(hidden, offered, expected):
    assert file_items(planned([turn("t1", 10, *hidden)], [offered])) == [expected]


def test_a_file_with_the_old_name_of_another_is_told_with_the_news():
    turns = [turn("t1", 10, whole("a", tokens=13))]
    notices = (Sized(envelopes.renamed("a", "b"), 4),)

    plan = planned(turns, [offer("a", "v9", 8), offer("b", tokens=13)], notices=notices)

    assert file_items(plan) == [
        Item("file", "a", 25, "sent", "not in the window yet", 12),
        Item("file", "b", 0, "kept", "unchanged since it was sent"),
    ]
    assert plan.tokens == 45


def test_a_file_that_was_renamed_and_then_deleted():
    turns = [turn("t1", 10, whole("a", tokens=13)), turn("t2", 10, Sized(envelopes.renamed("a", "b"), 4))]  # fmt: skip

    plan = planned(turns, notices=(Sized(envelopes.deleted("b"), 3),))

    assert file_items(plan) == [
        Item("file", "b", 3, "sent", "deleted; the model is told", 3),
        Item("file", "a", 17, "kept", "sent earlier, still in the window"),
    ]
    assert plan.tokens == 50


def test_what_is_named_twice_goes_in_once():
    pins = (pinned("s1", 5), pinned("s2", 6), pinned("s1", 5))
    plan = planned([], [offer("a"), offer("b", tokens=7), offer("a", "v2")], pins=pins)

    assert file_items(plan) == [
        Item("file", "a", 20, "sent", "not in the window yet", 20),
        Item("file", "b", 7, "sent", "not in the window yet", 7),
    ]
    assert [item.name for item in plan.items if item.kind == "pin"] == ["s1", "s2"]
    assert (len(plan.hidden), plan.tokens) == (4, 48)


RENAMED = [
    turn("t1", 70),
    turn("t2", 5, whole("a", tokens=13), whole("c", tokens=5)),
    turn("t3", 5, Sized(envelopes.renamed("a", "b"), 4)),
]


def test_a_renamed_file_that_nobody_offers_leaves_at_an_eviction():
    plan = planned(RENAMED, question=8)

    assert file_items(plan) == [
        Item("file", "c", 5, "kept", "sent earlier, still in the window"),
        Item("file", "b", 0, "evicted", "renamed; the copy in the window bore its old name"),
    ]
    assert (plan.epoch, plan.tokens) == (Epoch(1, "t2", frozenset({("t2", 0), ("t3", 0)})), 28)


def test_a_renamed_file_stays_with_its_name_at_an_eviction_between_tool_rounds():
    plan = planned(RENAMED, rounds=said(5))

    # The copy stands under the name it bore, and so does the word that it bears another one now.
    assert file_items(plan) == [
        Item("file", "c", 5, "kept", "sent earlier, still in the window"),
        Item("file", "b", 0, "kept", "sent earlier, still in the window"),
        Item("file", "a", 17, "kept", "sent earlier, still in the window"),
    ]
    assert (plan.epoch, plan.tokens) == (Epoch(1, "t2"), 47)


def test_deltas_and_copies_of_files_that_were_sent_count_once_between_tool_rounds():
    turns = [turn("t1", 40), turn("t2", 10, whole("a", tokens=13), restored("x", "v1", 2))]
    told = (change("a", "v1", "v2", 5), whole("b", tokens=7))

    plan = planned(turns, sent=told, rounds=said(20))

    assert file_items(plan) == [
        Item("file", "a", 18, "kept", "sent earlier, still in the window"),
        Item("file", "b", 7, "kept", "sent earlier, still in the window"),
    ]
    assert (plan.epoch, plan.tokens) == (Epoch(1, "t2", frozenset({("t2", 1)})), 65)


def test_a_file_that_cannot_even_be_named_does_not_cost_an_epoch():
    turns = [turn("t1", 5, whole("x", "v0", 1), whole("x", "v1", 1))]
    offers = [offer("b", tokens=70), replace(offer("a"), omitted=omitted("a", 21))]

    plan = planned(turns, offers)

    assert file_items(plan)[1].reason.endswith("no room even to name it")
    assert (plan.epoch, plan.tokens) == (Epoch(), 87)


@pytest.mark.parametrize(
    "tokens, expected",
    [
        pytest.param((10, 1), ["a"], id="the first takes all of it"),
        pytest.param((11, 10), ["b"], id="a quarter of what is left below the low mark"),
        pytest.param((6, 4), ["a", "b"], id="together"),
        pytest.param((6, 5), ["a"], id="one too many"),
    ],
)
def test_files_that_are_gone_are_told_at_an_eviction_within_a_quarter(tokens, expected):
    turns = [turn("t1", 70, whole("a", tokens=5), whole("b", tokens=5)), T2]
    notices = tuple(
        Sized(envelopes.deleted(path), size) for path, size in zip("ab", tokens, strict=True)
    )

    plan = planned(turns, notices=notices)

    assert [item.name for item in file_items(plan)] == expected
    told = sum(size for path, size in zip("ab", tokens, strict=True) if path in expected)
    assert (plan.epoch, plan.tokens) == (Epoch(1, "t2"), 20 + told)


@pytest.mark.parametrize(
    "offers, expected",
    [
        pytest.param([], "t2 |  | 20", id="nobody offers it under its new name"),
        pytest.param([offer("c", tokens=5)], "t2 | c | 25", id="nobody offers it, but another"),
        pytest.param([offer("b", tokens=5)], "t2 | a renamed, b | 28", id="it is sent"),
        pytest.param([offer("b", tokens=99)], "t2 | a renamed, b omitted | 25", id="it is named"),
        pytest.param(
            [replace(offer("b", tokens=99), omitted=omitted("b", 88))], "t2 |  | 20", id="there is no room to name it",
        ),
    ],
)  # fmt: skip
def test_a_new_name_is_told_at_an_eviction_where_the_request_says_what_it_stands_for(
    offers, expected
):
    turns = [turn("t1", 70, whole("a", tokens=5)), T2]

    plan = planned(turns, offers, notices=(Sized(envelopes.renamed("a", "b"), 3),))

    assert summary(plan) == expected


@pytest.mark.parametrize(
    "known, offered, expected",
    [
        pytest.param(whole("b", "v1", 6), offer("b", "v1", 6), "t2 |  | 26", id="the same text under the same name"),
        pytest.param(whole("b", "v0", 6), offer("b", "v1", 9, delta=change("b", "v0", "v1", 1)), "t2 | b' | 27", id="and changed a little"),
        pytest.param(omitted("b"), offer("b", tokens=99), "t2 |  | 22", id="too large, and known to be"),
        pytest.param(whole("b", "v0", 6), offer("b", "v1", 5), "t2 | x renamed, b | 28", id="another text: sent anew"),
    ],
)  # fmt: skip
def test_a_rename_is_not_told_at_an_eviction_where_an_older_copy_stands_for_the_new_name(
    known, offered, expected
):
    turns = [turn("t1", 70), turn("t2", 10, known)]

    plan = planned(turns, [offered], told=(Sized(envelopes.renamed("x", "b"), 3),))

    assert summary(plan) == expected


def test_a_notice_of_another_state_does_not_count_as_told():
    known = Sized(envelopes.omitted(stamp("a", "v0")), 2)

    plan = planned([turn("t1", 30, known), turn("t2", 55)], [offer("a", tokens=99)])

    assert summary(plan) == "t2 | a omitted | 67"
