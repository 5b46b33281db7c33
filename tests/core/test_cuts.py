"""Counts of pieces add up wherever a text is cut safely, in every proved vocabulary."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.adapters.tokens._vocabularies import vocabulary as packaged
from sill.core.cuts import _SAFE, blocks, is_safe
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
    assert is_safe(text, at) is expected


@given(st.one_of(texts, st.text(max_size=60)))
def test_cuts_are_safe_at_the_ends_and_where_blocks_are_cut(text):
    found = {match.start() for match in _SAFE.finditer(text)}

    assert [at for at in range(len(text) + 1) if is_safe(text, at)] == sorted(
        {0, len(text)} | found
    )


@given(texts, st.integers(1, 20))
def test_blocks_join_to_the_text_and_are_cut_safely(text, target):
    pieces = blocks(text, target)

    ends = [sum(map(len, pieces[:count])) for count in range(len(pieces))]
    assert "".join(pieces) == text
    assert all(is_safe(text, end) for end in ends)


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
