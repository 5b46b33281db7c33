"""How much of a request a recall is worth, and when the window makes room for it."""

import pytest

from sill.core.recall import asks
from sill.core.recall_room import gives_way, worth


@pytest.mark.parametrize(
    "chance, asked, expected",
    [
        pytest.param(0.5, False, 1_000, id="likely: all of the slot"),
        pytest.param(0.06, False, 1_000, id="as much as its chance is worth, within the slot"),
        pytest.param(0.05, True, 900, id="less than the slot"),
        pytest.param(0.04, False, 0, id="small talk: nothing"),
        pytest.param(0.04, True, 720, id="a question is worth what it is"),
        pytest.param(0.001, True, 0, id="too few to say anything"),
    ],
)
def test_a_recall_is_as_long_as_it_is_likely_to_be_needed(chance, asked, expected):
    assert worth(1_000, chance, least=0.1, asked=asked) == expected


@pytest.mark.parametrize(
    "chance, room, expected",
    [
        pytest.param(0.3, 100_000, True, id="a sure sign"),
        pytest.param(0.2, 12_288, False, id="not sure enough for a large prompt"),
        pytest.param(0.2, 4_096, True, id="a small one is soon read again"),
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
