"""The gist of a conversation in its own sentences."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.core import compact
from sill.core.memory import Memory, utterance

TALK = [
    "We want to repair the roof of the old shed before winter. The weather was nice.",
    "The roof needs new slate on the north side. Slate from Kern costs 40 a piece.",
    "Haha, yes! Good idea.",
    "We decided to use slate for the roof and oak for the door of the shed.",
    "What about lunch? I had soup with bread today at the market hall.",
    "The door of the shed must be oak, because pine rots within a few years.",
]


def memory(said=TALK) -> Memory:
    made = Memory()
    made.add(utterance(f"t{n}", n, 0, "user", text) for n, text in enumerate(said, 1))
    return made


def test_a_gist_has_the_sentences_that_matter_word_for_word_in_their_order():
    found = compact.gist(memory(), frozenset(), 3)

    assert compact.fit(found, [10] * 3, 100).split("\n") == [
        "2 user: The roof needs new slate on the north side.",
        "4 user: We decided to use slate for the roof and oak for the door of the shed.",
        "6 user: The door of the shed must be oak, because pine rots within a few years.",
    ]


def test_what_is_shown_elsewhere_is_not_in_it():
    found = compact.gist(memory(), frozenset({"t4", "t6"}), 10)

    assert {one.line.split(" ")[0] for one in found}.isdisjoint({"4", "6"})


@pytest.mark.parametrize(
    "room, gist, trail",
    [
        pytest.param(1_536, 0, 153, id="a window of 2,048 has none"),
        pytest.param(3_072, 153, 307, id="4,096"),
        pytest.param(12_288, 600, 1_228, id="16,384"),
        pytest.param(100_000, 600, 1_800, id="a large one has no more"),
    ],
)
def test_rooms(room, gist, trail):
    assert (compact.gist_room(room), compact.trail_room(room)) == (gist, trail)


@settings(max_examples=50)
@given(st.lists(st.text(max_size=120), max_size=12), st.integers(0, 8))
def test_a_gist_is_always_the_same_and_quotes(said, most):
    made = memory(said)
    found = compact.gist(made, frozenset(), most)
    spoken = [" ".join(text.split()) for text in said]

    assert found == compact.gist(memory(said), frozenset(), most)
    assert len(found) <= most
    assert all(any(one.line.partition(": ")[2] in text for text in spoken) for one in found)


@pytest.mark.parametrize(
    "text, tokens, room, expected",
    [
        pytest.param("One. Two.", 4, 4, "One. Two.", id="fits"),
        pytest.param("A first one. A second one. A third one.", 12, 9, "A first one. A second one.", id="sentences"),
        pytest.param("no sentence ends anywhere here", 10, 5, "no sentence", id="words"),
    ],
)  # fmt: skip
def test_a_text_is_cut_at_the_end_of_a_sentence(text, tokens, room, expected):
    assert compact.shortened(text, tokens, room) == expected
