"""A passage is shown where it speaks of what was asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.glimpse import glimpse, parted, stems

OVEN = "# Oven\n\nIt was built in May. The dome cracked in frost.\n\n- [ ] mend the *dome*\n"


@pytest.mark.parametrize(
    "passage, question, most, expected",
    [
        pytest.param(OVEN, "who built it", 200, "It was built in May. The dome cracked in frost. mend the dome",
                     id="from the beginning"),
        pytest.param(OVEN, "cracks in the dome", 30, "… The dome cracked in frost.", id="from where the words are"),
        pytest.param(OVEN, "zebra", 22, "It was built in May.", id="no word of it: the beginning"),
        pytest.param(OVEN, "", 22, "It was built in May.", id="nothing asked"),
        pytest.param("## Only a heading\n", "heading", 50, "## Only a heading", id="a heading alone"),
        pytest.param("```py\nprint(1)\n```\n", "print", 50, "print(1)", id="code without its fence"),
        pytest.param("see [[Bread oven#Care|the oven]] now", "care", 50, "see the oven now", id="links as they are shown"),
        pytest.param("1. First. It is.\n2. Second", "second", 50, "… Second", id="an item without its number"),
        pytest.param("| a | b |\n|---|--:|\n| c | d |\n", "a", 50, "| a | b | | c | d |", id="a table without its rule"),
        pytest.param("", "x", 50, "", id="nothing"),
        pytest.param("one " * 40, "one", 20, "one one one one one…", id="cut at a word"),
    ],
)  # fmt: skip
def test_the_glimpse_begins_where_the_words_are(passage, question, most, expected):
    assert glimpse(passage, question, most) == expected


@given(st.text(max_size=400), st.text(max_size=40), st.integers(10, 200))
def test_a_glimpse_is_one_line_of_at_most_so_many_characters(passage, question, most):
    shown = glimpse(passage, question, most)

    assert len(shown) <= most
    assert "\n" not in shown


@pytest.mark.parametrize(
    "text, question, expected",
    [
        pytest.param("The dome cracked.", "cracks", [("The dome ", False), ("cracked", True), (".", False)],
                     id="another form of the word"),
        pytest.param("Dome", "dome", [("Dome", True)], id="all of it"),
        pytest.param("nothing here", "zebra", [("nothing here", False)], id="none of it"),
        pytest.param("the dome", "the dome", [("the ", False), ("dome", True)], id="common words are not marked"),
        pytest.param("", "x", [], id="nothing"),
    ],
)  # fmt: skip
def test_the_words_that_were_asked_for_are_marked(text, question, expected):
    assert parted(text, stems(question)) == expected


@given(st.text(max_size=200), st.text(max_size=40))
def test_the_pieces_are_the_text(text, question):
    assert "".join(piece for piece, _ in parted(text, stems(question))) == text
