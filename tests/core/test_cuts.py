"""Counts of pieces add up wherever a text is cut safely, in every proved vocabulary."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.adapters.tokens._vocabularies import vocabulary as packaged
from sill.core.cuts import blocks, safe_cut
from sill.core.families import PROVED

from ..tokens.texts import hard_texts

texts = st.text(st.sampled_from(" \n\r\tab1.,'东é👍<|>/"), max_size=60)


@pytest.mark.parametrize(
    "text, at, expected",
    [
        pytest.param("ab cd", 2, True, id="before a space"),
        pytest.param("ab cd", 3, False, id="after a space"),
        pytest.param("ab  cd", 3, False, id="inside a run of spaces"),
        pytest.param("ab\ncd", 2, True, id="a newline after a letter"),
        pytest.param("ab;\ncd", 3, False, id="a newline after a mark shares its token"),
        pytest.param("é\nb", 1, False, id="a newline after a letter beyond ASCII is not relied on"),
        pytest.param("ab", 0, True, id="the beginning"),
        pytest.param("ab", 2, True, id="the end"),
        pytest.param("ab\r\n", 2, False, id="not before a carriage return"),
        pytest.param("\x1c a", 1, False, id="a separator counts as space"),
    ],
)
def test_where_a_cut_is_safe(text, at, expected):
    assert (at in cuts_of(text)) is expected


def is_safe(text: str, at: int) -> bool:
    """The rule, letter by letter."""
    before, after = text[at - 1], text[at]
    if after == " ":
        return not before.isspace()
    return after == "\n" and before.isascii() and before.isalnum()


def cuts_of(text: str) -> list[int]:
    """The ends, and what ``safe_cut`` finds one after the other."""
    found, at = {0, len(text)}, safe_cut(text, 0, len(text))
    while at is not None:
        found.add(at)
        at = safe_cut(text, at + 1, len(text))
    return sorted(found)


@given(st.one_of(texts, st.text(max_size=60)))
def test_safe_cuts_are_all_that_the_rule_allows(text):
    within = [at for at in range(1, len(text)) if is_safe(text, at)]

    assert cuts_of(text) == sorted({0, len(text), *within})


@given(texts, st.integers(0, 30), st.integers(0, 30))
def test_a_safe_cut_is_found_by_what_stands_before_the_end(text, start, end):
    end = min(end, len(text))
    within = [at for at in range(max(1, start), end) if is_safe(text, at)]

    assert safe_cut(text, start, end) == (within[0] if within else None)


def test_what_stands_at_the_end_or_after_it_makes_no_cut_safe():
    assert [safe_cut("ab cd ef", 0, end) for end in (2, 3, 8)] == [None, 2, 2]
    assert [safe_cut("ab cd ef", start, 6) for start in (2, 3, 6)] == [2, 5, None]


@pytest.mark.parametrize(
    "text, target, expected",
    [
        pytest.param("", 4, [], id="nothing"),
        pytest.param("ab cd", 4, ["ab cd"], id="no crumb at the end"),
        pytest.param("ab cd e", 4, ["ab cd", " e"], id="one more than a half"),
        pytest.param("abcdefghi jk", 4, ["abcdefghi", " jk"], id="as soon as it is safe"),
        pytest.param("abcdefghijkl", 4, ["abcdefghijkl"], id="no cut at all"),
        pytest.param("abcd e", 4, ["abcd e"], id="a half more is no reason to cut"),
        pytest.param("abcd ef", 4, ["abcd", " ef"], id="more than a half more is"),
        pytest.param("abcdef gh", 6, ["abcdef gh"], id="a third more is none"),
        pytest.param("abcd efg h", 4, ["abcd", " efg h"], id="nor is it later in the text"),
        pytest.param("abcd ef\nghij kl", 4, ["abcd", " ef\nghij", " kl"], id="at the very target"),
    ],
)
def test_blocks(text, target, expected):
    assert blocks(text, target) == expected


def test_blocks_have_some_hundred_characters():
    assert [len(block) for block in blocks("word " * 200)] == [259, 260, 260, 221]


@given(texts, st.integers(1, 20))
def test_blocks_join_to_the_text_and_are_cut_safely(text, target):
    pieces = blocks(text, target)

    ends = [sum(map(len, pieces[:count])) for count in range(len(pieces))]
    assert "".join(pieces) == text
    assert set(ends) <= set(cuts_of(text))
    assert all(pieces)


@pytest.mark.parametrize("vocabulary", sorted(PROVED))
def test_counts_of_blocks_add_up(vocabulary):
    encode, rng = packaged(vocabulary).encode, random.Random(4)

    wrong = [
        text
        for text in hard_texts(1_500, seed=3)
        if sum(len(encode(piece)) for piece in blocks(text, rng.choice((1, 1, 7, 60))))
        != len(encode(text))
    ]

    assert wrong == []
