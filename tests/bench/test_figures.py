"""The table of benchmarks: figures are found in reports, and only held ones can fail a run."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from _figures import FIGURES, Figure, Measured, measured, reason, value, worse

REPORT = {
    "rows": [{"rate": 50, "ms": 2.5}, {"rate": 0, "ms": 9}],
    "deep": {"er": 3},
    "peer": "could not be installed",
}
LOW = Figure("b", "low", ("x",), "lower")
HIGH = Figure("b", "high", ("x",), "higher")
LOOSE = Figure("b", "loose", ("x",), "lower", held="never")
QUIET = Figure("b", "quiet", ("x",), "lower", held="quiet")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        pytest.param(("deep", "er"), 3.0, id="by keys"),
        pytest.param(("rows", {"rate": 50}, "ms"), 2.5, id="a row by its values"),
        pytest.param(("rows", {"rate": 7}, "ms"), None, id="no such row"),
        pytest.param(("deep", "none"), None, id="no such key"),
        pytest.param(("deep",), None, id="not a number"),
    ],
)
def test_a_figure_is_found_by_its_path(path, found):
    assert value(REPORT, path) == found


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param(("peer",), "could not be installed", id="instead of the number"),
        pytest.param(("peer", "ms"), "could not be installed", id="instead of the whole report"),
        pytest.param(("deep", "er"), None, id="there is a number"),
        pytest.param(("none", "ms"), None, id="nobody says why"),
    ],
)
def test_a_peer_that_has_no_figure_says_why(path, words):
    assert reason(REPORT, path) == words


@pytest.mark.parametrize(
    ("figure", "ours", "was", "is_worse"),
    [
        pytest.param(LOW, 110, 100, False, id="a tenth is not too much"),
        pytest.param(LOW, 111, 100, True, id="more than a tenth is"),
        pytest.param(LOW, 50, 100, False, id="less is better"),
        pytest.param(HIGH, 89, 100, True, id="less is worse where more is better"),
        pytest.param(HIGH, 200, 100, False, id="more is better"),
        pytest.param(LOOSE, 900, 100, False, id="what depends on the machine's load is shown only"),
        pytest.param(QUIET, 900, 100, False, id="a ratio of times on a busy machine"),
        pytest.param(LOW, 3, 0, True, id="nothing was lost before"),
        pytest.param(LOW, 0, 0, False, id="and nothing is lost now"),
    ],
)
def test_only_a_held_figure_that_lost_more_than_a_tenth_is_worse(figure, ours, was, is_worse):
    assert bool(worse([Measured(figure, ours)], {figure.key: was})) == is_worse


def test_a_ratio_of_times_is_held_where_both_runs_were_quiet():
    assert len(worse([Measured(QUIET, 900)], {QUIET.key: 100}, {QUIET.key})) == 1


def test_a_figure_without_a_history_is_not_worse():
    assert worse([Measured(LOW, 5)], {}) == []


@pytest.mark.parametrize(
    ("figure", "ours", "theirs", "ratio"),
    [
        pytest.param(LOW, 2, 10, 5.0, id="a fifth of the time"),
        pytest.param(HIGH, 10, 2, 5.0, id="five times the speed"),
        pytest.param(LOW, 2, None, None, id="nobody to compare with"),
        pytest.param(LOW, 2, "failed", None, id="the other failed"),
    ],
)
def test_above_one_is_better_than_the_other(figure, ours, theirs, ratio):
    assert Measured(figure, ours, theirs).ratio == ratio


def test_every_figure_has_a_benchmark_and_a_name_of_its_own():
    bench = Path(__file__).resolve().parents[2] / "bench"

    assert [f.key for f in FIGURES if not (bench / f"{f.bench}.py").exists()] == []
    assert len({f.key for f in FIGURES}) == len(FIGURES)


def test_a_report_that_is_missing_leaves_its_figures_out():
    assert list(measured({})) == []
