"""A quotation in an answer is either in a source, word for word, or marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.quotes import check_quotations

SOURCES = {
    "a.md": "# Tea\n\nWater for green tea should be\n**eighty** degrees warm, not hotter.\nIt's a rule.\n",
    "b.md": "Coffee wants ninety-five degrees. It’s an old habit of ours.\n",
}


@pytest.mark.parametrize(
    "answer, expected",
    [
        pytest.param("No quotation at all.", [], id="none"),
        pytest.param('He said "good tea".', [], id="two words are a manner of speaking"),
        pytest.param('"green tea should be eighty degrees"', [("a.md", (3, 4))], id="verbatim over a line break"),
        pytest.param("“Water for green tea should be”", [("a.md", (3, 3))], id="typographic marks"),
        pytest.param("„Coffee wants ninety-five degrees“", [("b.md", (1, 1))], id="German marks"),
        pytest.param("«It's an old habit of ours»", [("b.md", (1, 1))], id="other apostrophe"),
        pytest.param('"Green tea should be ... not hotter"', [("a.md", (3, 4))], id="ellipsis"),
        pytest.param('"not hotter … green tea should be"', [(None, None)], id="parts in the wrong order"),
        pytest.param('"green tea should be ninety degrees"', [(None, None)], id="one word differs"),
        pytest.param('"een tea should be eighty"', [(None, None)], id="half a word"),
        pytest.param("> Water for green tea\n> should be eighty degrees\n> — the note", [("a.md", (3, 4))], id="block quote"),
        pytest.param("> Something that nobody ever wrote", [(None, None)], id="invented block quote"),
        pytest.param('`x = "a string of five words"`', [], id="strings in code are no quotations"),
    ],
)  # fmt: skip
def test_quotations_are_found_in_their_source_or_marked(answer, expected):
    assert [(q.path, q.lines) for q in check_quotations(answer, SOURCES)] == expected


def test_a_quotation_knows_where_it_stands_in_the_answer():
    answer = 'The note says: "Water for green tea should be eighty degrees warm".'

    (quotation,) = check_quotations(answer, SOURCES)

    assert (
        answer[quotation.start : quotation.end]
        == '"Water for green tea should be eighty degrees warm"'
    )


@given(st.integers(0, 11), st.integers(4, 12))
def test_any_run_of_words_of_a_source_is_verified(start, length):
    words = [
        "Water",
        "for",
        "green",
        "tea",
        "should",
        "be",
        "eighty",
        "degrees",
        "warm",
        "not",
        "hotter",
        "It's",
        "a",
        "rule",
    ]
    run = words[start : start + length]
    if len(run) >= 4:
        (quotation,) = check_quotations(f'"{" ".join(run)}"', SOURCES)
        assert quotation.path == "a.md"
