"""What is typed into a search box means what people expect, whatever it is."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.query import Query, full_text_expression, parse_query, terms


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("", Query(), id="nothing"),
        pytest.param("green tea", Query(words=("green", "tea")), id="words"),
        pytest.param('"green tea" hot', Query(words=("hot",), phrases=("green tea",)), id="phrase"),
        pytest.param('"never closed', Query(phrases=("never closed",)), id="half a phrase"),
        pytest.param("tea -green", Query(words=("tea",), without=("green",)), id="without"),
        pytest.param('-"green tea"', Query(without=("green tea",)), id="without a phrase"),
        pytest.param("tea OR coffee", Query(words=("tea", "coffee")), id="or"),
        pytest.param("path:a/b file:x tag:#Y/z", Query(paths=("a/b",), files=("x",), tags=("y/z",)), id="filters"),
        pytest.param('path:"two words"', Query(paths=("two words",)), id="filter with a space"),
        pytest.param("-", Query(words=("-",)), id="a lone minus"),
        pytest.param("well-known x", Query(words=("well-known", "x")), id="a hyphen is no minus"),
    ],
)  # fmt: skip
def test_queries_are_taken_apart(text, expected):
    assert parse_query(text) == expected


@pytest.mark.parametrize(
    "words, expected",
    [
        pytest.param(("What", "is", "the", "Price"), ["price"], id="common words go"),
        pytest.param(("to", "be", "or", "not"), ["to", "be", "or", "not"], id="unless there are no others"),
        pytest.param(("a-b", "A"), ["b"], id="parts of words, once"),
    ],
)  # fmt: skip
def test_the_words_worth_looking_for(words, expected):
    assert terms(words) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("green tea", '("green" OR "tea")', id="any word"),
        pytest.param('"green tea" hot', '("green tea") AND ("hot" OR "green tea")', id="phrase and words"),
        pytest.param("tea -hot", '("tea") NOT ("hot")', id="without"),
        pytest.param("-hot", "", id="only without"),
        pytest.param("...", "", id="no word at all"),
    ],
)  # fmt: skip
def test_full_text_expressions(text, expected):
    assert full_text_expression(parse_query(text)) == expected


def test_some_words_can_be_made_a_condition():
    expression = full_text_expression(parse_query("price of timber marenko"), ["marenko"])

    assert expression == '(("marenko")) AND ("price" OR "timber" OR "marenko" OR ("marenko"))'


@given(st.text(max_size=40))
def test_no_query_is_a_syntax_error(text):
    expression = full_text_expression(parse_query(text))
    if expression:
        table = sqlite3.connect(":memory:")
        table.execute("CREATE VIRTUAL TABLE t USING fts5 (x)")
        assert table.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)).fetchall() == []
