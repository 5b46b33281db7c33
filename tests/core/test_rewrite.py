"""A proposal in its reader's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.edits import Edited, Scope
from sill.core.ops import Delete, Replace, Whole
from sill.core.proposal import Proposal, outcome, preview, propose
from sill.core.rewrite import new_side, rewrite

BASE = "".join(f"line {n}\n" for n in range(30))
AFTER = BASE.replace("line 2\n", "line two\n").replace("line 20\n", "line twenty\n")


def proposed(before: str | None, after: str) -> Proposal:
    made = propose("", [Replace("a.md", Whole(), after)], Scope({"a.md": before}))
    assert isinstance(made, Proposal)
    return made


def result(proposal: Proposal) -> str | None:
    edited = outcome(proposal)
    assert isinstance(edited, Edited)
    return edited.changes["a.md"].after


@pytest.mark.parametrize(
    "chosen, rewritten, expected",
    [
        pytest.param({0: None, 1: None}, {}, AFTER, id="as they are"),
        pytest.param({0: None}, {}, BASE.replace("line 2\n", "line two\n"), id="one of them"),
        pytest.param(
            {0: "two", 1: None},
            {"two": ("line two", "my own line")},
            AFTER.replace("line two", "my own line"),
            id="one in other words, one as it is",
        ),
        pytest.param(
            {1: "twenty"},
            {"twenty": ("line twenty\n", "a\nb\nc\n")},
            BASE.replace("line 20\n", "a\nb\nc\n"),
            id="more lines than before",
        ),
    ],
)
def test_rewrite(chosen, rewritten, expected):
    shown = preview(proposed(BASE, AFTER))
    own = {
        ("a.md", number): new_side(shown.files[0].hunks[number]).replace(*rewritten[name])
        for number, name in chosen.items()
        if name
    }

    assert result(rewrite(shown, {"a.md": list(chosen)}, own)) == expected


def test_a_new_file_in_other_words():
    shown = preview(proposed(None, "Hello.\n"))

    assert result(rewrite(shown, {"a.md": [0]}, {("a.md", 0): "Good day.\n"})) == "Good day.\n"


def test_what_was_not_chosen_is_left_out_whatever_was_written():
    shown = preview(proposed(BASE, AFTER))

    kept = rewrite(shown, {"a.md": [0]}, {("a.md", 1): "nonsense"})
    assert result(kept) == BASE.replace("line 2\n", "line two\n")


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=20).map("".join)


@given(lines, lines)
def test_a_hunk_that_is_rewritten_as_it_was_is_the_hunk(before, after):
    made = proposed(before, after)
    shown = preview(made)
    for file in shown.files:
        numbers = [hunk.number for hunk in file.hunks]
        own = {(file.path, hunk.number): new_side(hunk) for hunk in file.hunks}

        assert result(rewrite(shown, {file.path: numbers}, own)) == after


def test_a_file_that_goes_is_taken_as_a_whole():
    made = propose("", [Delete("a.md", Whole())], Scope({"a.md": BASE}))
    shown = preview(made)

    assert result(rewrite(shown, {"a.md": [0]}, {})) is None
