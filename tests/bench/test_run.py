"""What `make bench` runs, what it leaves out, and what becomes of what was measured."""

import argparse
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import run as bench
from _figures import FIGURES, Figure, Measured

BENCH = Path(bench.__file__).parent
HERE = bench.Machine("2 cores", 0.1)


def options(**given) -> argparse.Namespace:
    nothing = {"only": None, "quick": False, "recall": None, "docs": None, "bills": None}
    return argparse.Namespace(**{**nothing, **given})


def test_without_conversations_recall_is_left_out_and_that_is_told(capsys):
    names = [command.bench for command in bench.chosen(options())]

    assert "recall" not in names
    assert "*** recall IS LEFT OUT: --recall names no conversations ***" in capsys.readouterr().out


def test_conversations_are_gone_through_with_three_budgets():
    found = bench.chosen(options(recall=Path("talks.json"), only=["recall"]))

    assert [(c.part, c.arguments[1], c.arguments[-1]) for c in found] == [
        (str(budget), "talks.json", str(budget)) for budget in (2048, 4096, 8192)
    ]


def test_every_benchmark_with_a_figure_is_run():
    run = {command.bench for command in bench.chosen(options(recall=Path("talks.json")))}
    has_browser = any(map(bench.shutil.which, bench.BROWSERS))

    assert {figure.bench for figure in FIGURES} - run == (set() if has_browser else {"page"})
    assert [name for name in run if not (BENCH / f"{name}.py").exists()] == []


LOW = Figure("b", "low", ("x",), "lower", "ms", against="peer", bound=5)


@pytest.mark.parametrize(
    ("theirs", "cells"),
    [
        pytest.param(10.0, ["10 ms", "4"], id="a number"),
        pytest.param("could not be installed", ["could not be installed", ""], id="words"),
        pytest.param(None, ["", ""], id="nothing"),
    ],
)
def test_a_row_says_what_the_other_got_or_why_not(theirs, cells):
    row = bench.row(Measured(LOW, 2.5, theirs))

    assert row == ["b", "low", "2.5 ms", "peer", *cells, "≤ 5 ms", "yes"]


def test_what_goes_into_the_table_is_told_at_once():
    report = {"2048": {"evidence_recall": 0.5, "baselines": {"BM25": 0.25}}}
    [line] = [line for line in bench.figures("recall", report) if "BM25 2" in line]

    told = "evidence in a prompt of 2,048 tokens: 50.0 %; BM25 25.0 %; 2 times better"
    assert line.split("; meant")[0] == told


@pytest.mark.parametrize(
    ("machine", "before", "keys"),
    [
        pytest.param(HERE, "2 cores", {"k"}, id="the same machine, quiet both times"),
        pytest.param(HERE, "8 cores", set(), id="another machine"),
        pytest.param(bench.Machine("2 cores", 99.0), "2 cores", set(), id="busy now"),
    ],
)
def test_ratios_of_times_are_compared_only_between_quiet_runs_of_one_machine(machine, before, keys):
    assert bench.quiet_both(machine, {"about": {"machine": before}, "quiet": ["k"]}) == keys


def test_what_was_not_run_stays_in_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(bench, "TABLE", tmp_path / "table.json")
    old, new = FIGURES[0], FIGURES[1]
    before = {"figures": {old.key: 0.5, "gone": 1}, "theirs": {}, "quiet": [old.key, "gone"]}

    bench.write([Measured(new, 0.75)], before, HERE)

    table = json.loads((tmp_path / "table.json").read_text())
    assert table["figures"] == {old.key: 0.5, new.key: 0.75}
    assert table["quiet"] == sorted([old.key, new.key])
    assert "| 50.0 % |" in (tmp_path / "page.md").read_text()


def test_a_benchmark_is_shown_as_it_comes_and_its_report_is_kept_apart(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(bench, "HERE", tmp_path)
    (tmp_path / "good.py").write_text("print('a table')\nprint('{\"x\":\\n 1}')\n")
    (tmp_path / "bad.py").write_text("print('half')\nraise SystemExit(3)\n")

    reports, failed = bench.run_all([bench.Command("good"), bench.Command("bad", part="p")])

    shown = capsys.readouterr()
    assert (reports, failed) == ({"good": {"x": 1}}, ["bad p"])
    assert "== good (1 of 2)\na table\n== good: " in shown.out
    assert "bad p ended with code 3" in shown.err
