"""Fusing rankings, spreading along links, fitting into a budget."""

from hypothesis import given
from hypothesis import strategies as st

from sill.core.rank import Ranking, fit, fuse, one_per, spread


def keys(*rankings: Ranking) -> list[int]:
    return [ranked.key for ranked in fuse(rankings)]


def test_one_ranking_keeps_its_order():
    assert keys(Ranking("text", (3, 1, 2))) == [3, 1, 2]


def test_what_both_rankings_like_comes_first():
    assert keys(Ranking("text", (1, 2, 3)), Ranking("meaning", (4, 2, 5))) == [2, 1, 4, 3, 5]


def test_a_result_says_why_it_is_there():
    (first, *_) = fuse([Ranking("text", (7,)), Ranking("links", (8, 7))])

    assert (first.key, dict(first.places)) == (7, {"text": 1, "links": 2})


@given(st.lists(st.permutations(range(6)), min_size=1, max_size=3))
def test_fusing_equal_rankings_changes_nothing(orders):
    order = tuple(orders[0])

    assert keys(Ranking("text", order), Ranking("meaning", order)) == list(order)


def test_what_two_shares_point_to_gets_both():
    assert spread([("xyzw", 1.0), ("y", 1.0)]) == {"x": 0.5, "y": 1.5, "z": 0.5, "w": 0.5}


def test_a_hub_says_little_about_each_of_its_links():
    worth = spread([(range(500), 1.0), (["note"], 0.5)])

    assert worth["note"] > worth[0]


def test_one_of_each_group():
    assert one_per(["a1", "a2", "b1", "a3"], lambda item: item[0]) == ["a1", "b1"]


def test_what_is_too_large_is_passed_over():
    assert fit([5, 9, 4, 1], lambda size: size, 10) == [5, 4, 1]


@given(st.lists(st.integers(0, 500)), st.integers(0, 4000))
def test_what_fits_never_exceeds_the_budget(sizes, budget):
    kept = fit(sizes, lambda size: size, budget)

    assert sum(kept) <= budget
