"""Predicted against billed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.drift import HIGHEST, LOWEST, Drift, learn


def test_a_call_billed_as_predicted_changes_no_ratio():
    assert learn(Drift(), 100, 100) == Drift(calls=1, equal=1, predicted=100, billed=100)


def test_misses_are_kept_with_their_worst():
    drift = learn(learn(Drift(), 100, 110), 100, 70)

    assert (drift.calls, drift.equal, drift.most_short, drift.most_over) == (2, 0, 10, 30)
    assert drift.share == 0.9


@pytest.mark.parametrize("predicted, billed", [(0, 5), (5, 0), (-1, 5)])
def test_a_call_without_numbers_teaches_nothing(predicted, billed):
    assert learn(Drift(), predicted, billed) == Drift()


def test_an_estimate_learns_to_be_higher_faster_than_lower():
    short, over = learn(Drift(), 100, 120).ratio, learn(Drift(), 100, 80).ratio

    assert short - 1 > 1 - over > 0


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), max_size=30))
def test_no_lesson_leaves_the_bounds(calls):
    drift = Drift()
    for predicted, billed in calls:
        drift = learn(drift, predicted, billed)

    assert LOWEST <= drift.ratio <= HIGHEST


@given(st.floats(0.6, 1.9))
def test_a_constant_miss_is_learned(truth):
    drift = Drift()
    for _ in range(200):
        drift = learn(drift, round(10_000 * drift.ratio), round(10_000 * truth), drift.ratio)

    assert drift.ratio == pytest.approx(truth, rel=0.02)


@given(st.floats(0.6, 1.9), st.floats(0.6, 1.9))
def test_many_calls_with_one_scale_teach_what_it_should_have_been(truth, scale):
    drift = Drift()
    for _ in range(200):
        drift = learn(drift, round(10_000 * scale), round(10_000 * truth), scale)

    assert drift.ratio == pytest.approx(truth, rel=0.02)


@pytest.mark.parametrize(
    "calls, words",
    [
        pytest.param([], "no bill to compare with yet", id="nothing yet"),
        pytest.param(
            [(10, 10)],
            "1 call, 1 billed to the token",
            id="one",
        ),
        pytest.param(
            [(10, 10), (10, 1_300), (50, 10)],
            "3 calls, 1 billed to the token; mean difference +416.7 tokens, at worst 1,290 too few and 40 too many",
            id="misses",
        ),
    ],
)
def test_words(calls, words):
    drift = Drift()
    for predicted, billed in calls:
        drift = learn(drift, predicted, billed)

    assert drift.words == words


def test_a_row_for_programs():
    drift = learn(learn(learn(Drift(), 10, 10), 10, 1_300), 50, 10)

    assert drift.row() == {
        "calls": 3, "equal": 1, "mean": 416.67, "most_short": 1_290, "most_over": 40,
    }  # fmt: skip
