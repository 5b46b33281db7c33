"""``sill replay`` with a real server: the same plan, a price, and a branch when it is sent."""

import json

import pytest

from sill.cli.main import run
from sill.cli.replay import command as replay

pytestmark = pytest.mark.slow


@pytest.fixture
def asked(chosen, monkeypatch):
    """A chat of two turns about a note, in this process's environment; their ids."""
    for name, value in chosen.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(chosen.folder)
    (chosen.folder / "boats.md").write_text("Boats float.\n" * 20)
    first = json.loads(chosen.sill("ask", "--json", "--file", "boats.md", "What floats?").stdout)
    (chosen.folder / "boats.md").write_text("Boats sink.\n" * 20)
    second = json.loads(chosen.sill("ask", "--json", "-c", "--file", "boats.md", "And now?").stdout)
    return first, second


def test_a_turn_is_planned_again_as_it_was(asked, capsys):
    first, second = asked
    for answer, name in ((first, first["turn"][:12]), (second, second["turn"]), (second, "last")):
        assert run(replay, [name, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)

        assert report["predicted"] == report["was"] == answer["certificate"]["predicted"]
        assert (report["turn"], report["at_most"]) == (answer["turn"], 0)


def test_a_turn_that_is_sent_again_becomes_a_branch(asked, chosen, capsys):
    first, second = asked

    # The two-layer model talks until its reply is full: 1 is what a cut answer exits with.
    assert run(replay, [first["turn"], "--send"]) in (0, 1)
    assert "costs     at most $0.00" in capsys.readouterr().out
    third = json.loads(chosen.sill("ask", "--json", "-c", "Still there?").stdout)
    shown = {
        turn: json.loads(chosen.sill("explain", "--json", turn).stdout)
        for turn in (first["turn"], second["turn"], third["turn"])
    }
    names = [item["name"] for item in shown[third["turn"]]["plan"]["items"]]
    assert [turn for turn in (first["turn"], second["turn"]) if turn in names] == [
        first["turn"],
        second["turn"],
    ]


def test_a_turn_that_is_not_there(chosen, asked, capsys):
    assert run(replay, ["0000zzzz"]) == 2
    assert "there is no turn 0000zzzz" in capsys.readouterr().err
