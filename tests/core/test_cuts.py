"""Counts of pieces add up wherever a text is cut safely, in every proved vocabulary."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.adapters.tokens._vocabularies import vocabulary as packaged
from sill.core.cuts import Shared, blocks, is_safe, shared
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


@settings(max_examples=300)
@given(texts, texts, texts, texts, st.integers(1, 9))
def test_an_edit_leaves_known_pieces_around_a_middle_that_is_cut_safely(
    head, old, new, tail, target
):
    pieces = blocks(head + old + tail, target)
    text = head + new + tail

    same = shared("".join(pieces), [*map(len, pieces)], text)

    before = "".join(pieces[: same.before])
    after = "".join(pieces[len(pieces) - same.after :])
    assert before + same.middle + after == text
    assert is_safe(text, len(before))
    assert is_safe(text, len(text) - len(after))


@pytest.mark.parametrize(
    "pieces, text, expected",
    [
        pytest.param(["ab", " cd", " ef"], "ab xx ef", Shared(1, 1, " xx"), id="in the middle"),
        pytest.param(["ab", " cd"], "ab cd", Shared(2, 0, ""), id="nothing changed"),
        pytest.param(["ab", " cd"], "ab cd ef", Shared(2, 0, " ef"), id="appended"),
        pytest.param(["ab", " cd"], "abx cd", Shared(0, 1, "abx"), id="a piece that grew"),
        pytest.param([], "ab", Shared(0, 0, "ab"), id="nothing known"),
        pytest.param(
            ["ab", " ab", " ab"], "ab ab", Shared(2, 0, ""), id="pieces are not used twice"
        ),
    ],
)
def test_what_an_edit_leaves(pieces, text, expected):
    assert shared("".join(pieces), [*map(len, pieces)], text) == expected


@pytest.mark.parametrize("vocabulary", sorted(PROVED))
def test_a_recount_after_an_edit_is_exact(vocabulary):
    encode, rng = packaged(vocabulary).encode, random.Random(5)
    text = "".join(hard_texts(60, seed=6))
    for _ in range(60):
        old, pieces = text, blocks(text, 50)
        counts = [len(encode(piece)) for piece in pieces]
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice((" x", "\n", "y z", "", "é")) + text[at + rng.randrange(4) :]
        same = shared(old, [*map(len, pieces)], text)
        known = sum(counts[: same.before]) + sum(counts[len(counts) - same.after :])

        assert known + len(encode(same.middle)) == len(encode(text))
