"""How much of a request a recall is worth, and when the window makes room for it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core import envelopes
from sill.core.budget import Profile, budget
from sill.core.messages import Epoch, Message, Sized, Turn
from sill.core.recall import asks
from sill.core.recall_room import gives_way, leaving, quoted, reserving, slot, worth

# A room of 10,000, the marks at 9,000 and 6,000, 1,500 for recall.
LIMITS = budget(Profile(window=12_000, reply=2_000))


@pytest.mark.parametrize(
    "fixed, gone, expected",
    [
        pytest.param(500, 0, 0, id="nothing has left"),
        pytest.param(500, 1, 1_500, id="its share"),
        pytest.param(500, 6_003, 1_500, id="still"),
        pytest.param(500, 6_401, 1_600, id="a quarter of a long history"),
        pytest.param(500, 90_000, 2_971, id="enough is enough"),
        pytest.param(5_872, 90_000, 2_971, id="the latest turns keep a twentieth"),
        pytest.param(5_873, 90_000, 2_970, id="of what is left"),
        pytest.param(8_999, 90_000, 0, id="too little to share"),
        pytest.param(9_500, 90_000, 0, id="nothing is left"),
    ],
)
def test_a_slot_grows_with_what_has_left(fixed, gone, expected):
    assert slot(LIMITS, fixed, gone) == expected
    assert slot(replace(LIMITS, high=99_999, margin=1_000), fixed, gone) <= expected


@given(
    st.integers(256, 200_000),
    st.integers(0, 50_000),
    st.integers(0, 5_000),
    st.integers(0, 500_000),
)
def test_a_larger_window_never_gives_recall_less(window, more, fixed, gone):
    small, large = (
        budget(Profile(window=size, reply=64), size) for size in (window, window + more)
    )

    assert slot(small, fixed, gone) <= slot(large, fixed, gone)


@pytest.mark.parametrize(
    "tokens, expected",
    [
        pytest.param(0, (9_000, 6_000), id="none"),
        pytest.param(2_000, (7_000, 6_000), id="some"),
        pytest.param(4_000, (5_000, 5_000), id="down to below the low mark"),
        pytest.param(9_001, (0, 0), id="more than there is"),
    ],
)
def test_a_window_leaves_room_below_its_mark(tokens, expected):
    high, low = expected

    assert reserving(LIMITS, tokens) == replace(LIMITS, high=high, low=low)
    narrow = replace(LIMITS, high=99_999, margin=1_000)
    assert reserving(narrow, tokens) == replace(narrow, high=high, low=low)


def turn(id: str, *hidden: Message) -> Turn:
    return Turn(id, tuple(Sized(m, 1) for m in (*hidden, Message("user", id))))


def test_what_has_left_and_what_was_quoted():
    told = [envelopes.recall([id], f"{id} said") for id in ("s1", "s2", "s3", "s4")]
    turns = [
        turn("t1", told[0]),
        turn("t2", told[1], told[2], envelopes.pinned("s5", "s5 said")),
        turn("t3", told[3]),
    ]
    epoch = Epoch(1, "t2", frozenset({("t2", 0)}))

    assert leaving(turns, epoch) == turns[:1]
    assert leaving(turns, Epoch()) == []
    assert quoted(turns, epoch) == f"{told[2].text}\n{told[3].text}"


@pytest.mark.parametrize(
    "chance, asked, expected",
    [
        pytest.param(0.5, False, 1_000, id="likely: all of the slot"),
        pytest.param(0.06, False, 1_000, id="as much as its chance is worth, within the slot"),
        pytest.param(0.1, False, 1_000, id="just likely enough"),
        pytest.param(0.05, True, 900, id="less than the slot"),
        pytest.param(0.05, False, 900, id="a remark of half the chance"),
        pytest.param(0.00334, True, 60, id="just enough to say something"),
        pytest.param(0.0033, True, 0, id="just not"),
        pytest.param(0.04, False, 0, id="small talk: nothing"),
        pytest.param(0.04, True, 720, id="a question is worth what it is"),
        pytest.param(0.001, True, 0, id="too few to say anything"),
    ],
)
def test_a_recall_is_as_long_as_it_is_likely_to_be_needed(chance, asked, expected):
    assert worth(1_000, chance, least=0.1, asked=asked) == expected


def test_all_of_a_large_slot_is_worth_filling_from_the_least_chance_on():
    assert worth(5_000, 0.1, least=0.1, asked=False) == 5_000


@pytest.mark.parametrize(
    "chance, room, expected",
    [
        pytest.param(0.3, 100_000, True, id="a sure sign"),
        pytest.param(0.2, 12_288, False, id="not sure enough for a large prompt"),
        pytest.param(0.2, 8_192, True, id="a smaller one is soon read again"),
        pytest.param(0.075, 6_144, True, id="a quarter of the chance in half of the room"),
        pytest.param(0.074, 6_144, False, id="and no less"),
        pytest.param(0.05, 300, True, id="half of its slot in a tiny one"),
        pytest.param(0.04, 300, False, id="never for what is not worth half of its slot"),
    ],
)
def test_the_window_gives_way_where_that_costs_less_than_it_brings(chance, room, expected):
    assert gives_way(chance, 0.1, 0.3, room) is expected


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("Where is the key?", True, id="a mark"),
        pytest.param("remind me of the plan", True, id="a word"),
        pytest.param("鍵はどこ？", True, id="any script"),
        pytest.param("Thanks, go on.", False, id="a remark"),
    ],
)
def test_a_question_is_told_from_a_remark(text, expected):
    assert asks(text) is expected
