"""A person decides what clashes: the result is what they chose, and nothing else of the document moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.clashes import Choice, decided
from sill.core.edits import Change, Edited
from sill.core.proposal import outcome, rebase

BASE = "1\n2\n3\n4\n5\n6\n7\n"
MINE = "m\n2\n3\n4\n5\n6\n7\n"
THEIRS = "t\n2\n3\n4\n5\n6\nt\n"


def result(base, mine, theirs, *choices):
    """The document after the merge; False where it is taken away."""
    merge = rebase("", {"a.md": Change(base, theirs)}, {"a.md": mine})
    proposal = decided(merge, {"a.md": choices})
    edited = outcome(proposal)
    assert isinstance(edited, Edited), edited
    change = edited.changes.get("a.md")
    return mine if change is None else change.after


@pytest.mark.parametrize(
    "choice, first",
    [
        pytest.param(Choice("mine"), "m\n", id="the file's"),
        pytest.param(Choice("theirs"), "t\n", id="the proposal's"),
        pytest.param(Choice("both"), "m\nt\n", id="both, the file's first"),
        pytest.param(Choice("text", "by\nhand"), "by\nhand\n", id="by hand, the line is ended"),
        pytest.param(Choice("text", ""), "", id="by hand, nothing"),
    ],
)
def test_a_clash_becomes_what_was_chosen_and_the_rest_is_merged(choice, first):
    assert result(BASE, MINE, THEIRS, choice) == first + "2\n3\n4\n5\n6\nt\n"


def test_a_clash_that_nobody_chose_for_stays_as_the_file_has_it():
    assert result(BASE, MINE, THEIRS) == "m\n2\n3\n4\n5\n6\nt\n"


@pytest.mark.parametrize(
    "base, mine, theirs, choice, expected",
    [
        pytest.param("1\r\n2\r\n", "m\r\n2\r\n", "t\r\n2\r\n", Choice("text", "a\nb"), "a\r\nb\r\n2\r\n", id="the file's line ends"),
        pytest.param("1", "m", "t", Choice("both"), "m\nt", id="a last line without an ending"),
        pytest.param("1", "m", "t", Choice("text", "h"), "h", id="by hand, still without one"),
        pytest.param("1\n", "m\n", "t\n", Choice("text", "h"), "h\n", id="by hand, still with one"),
        pytest.param("\ufeff1\n2\n", "\ufeffm\n2\n", "\ufefft\n2\n", Choice("theirs"), "\ufefft\n2\n", id="a byte order mark"),
        pytest.param("1\n", "1\nm\n", "1\nt\n", Choice("both"), "1\nm\nt\n", id="both added at the end"),
    ],
)  # fmt: skip
def test_line_ends_stay_as_the_document_has_them(base, mine, theirs, choice, expected):
    assert result(base, mine, theirs, choice) == expected


@pytest.mark.parametrize(
    "base, mine, theirs, choice, expected",
    [
        pytest.param("1\n", None, "t\n", Choice("mine"), None, id="gone, and stays gone"),
        pytest.param("1\n", None, "t\n", Choice("theirs"), "t\n", id="gone, and made again"),
        pytest.param("1\n", None, "t\n", Choice("both"), "t\n", id="gone: both is the proposal's"),
        pytest.param("1\n", None, "t\n", Choice("text", "h\n"), "h\n", id="gone, by hand"),
        pytest.param("1\n", "m\n", None, Choice("mine"), "m\n", id="to be removed, but kept"),
        pytest.param("1\n", "m\n", None, Choice("theirs"), None, id="removed all the same"),
        pytest.param("1\n", "m\n", None, Choice("both"), "m\n", id="removed: both is the file"),
        pytest.param(None, "m\n", "t\n", Choice("mine"), "m\n", id="made by both, the file's"),
        pytest.param(None, "m\n", "t\n", Choice("theirs"), "t\n", id="made by both, the proposal's"),
        pytest.param(None, "m", "t\n", Choice("both"), "m\nt\n", id="made by both, both"),
    ],
)  # fmt: skip
def test_a_document_that_one_side_made_or_removed(base, mine, theirs, choice, expected):
    assert result(base, mine, theirs, choice) == expected


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\r\n"]), max_size=10).map("".join)
many = [Choice("theirs")] * 12


@given(lines, lines, lines)
def test_keeping_the_file_at_every_clash_is_the_merge_without_them(base, mine, theirs):
    merge = rebase("", {"a.md": Change(base, theirs)}, {"a.md": mine})

    assert decided(merge, {}) == merge.proposal


@given(lines, lines, lines)
def test_it_does_not_matter_which_side_is_merged_into_the_other(base, mine, theirs):
    assert result(base, mine, theirs, *many) == result(base, theirs, mine)


@given(lines, lines, st.sampled_from(["mine", "theirs", "both"]))
def test_where_only_one_side_changed_there_is_nothing_to_choose(base, theirs, take):
    assert result(base, base, theirs, *[Choice(take)] * 12) == theirs
