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
        pytest.param(2_999, 0, 299, id="too small to say anything"),
        pytest.param(3_000, 150, 300, id="just enough"),
        pytest.param(3_072, 153, 307, id="4,096"),
        pytest.param(12_288, 600, 1_228, id="16,384"),
        pytest.param(100_000, 600, 1_800, id="a large one has no more"),
    ],
)
def test_rooms(room, gist, trail):
    assert (compact.gist_room(room), compact.trail_room(room)) == (gist, trail)


def gist(*said: str, most: int = 9) -> list[str]:
    return [one.line for one in compact.gist(memory(said), frozenset(), most)]


PIPES = "The copper pipes in the cellar leak near the boiler."


@pytest.mark.parametrize(
    "said, first",
    [
        pytest.param([PIPES, PIPES.replace("leak", "must")], 2, id="what settles something"),
        pytest.param([PIPES[:-1] + "?", PIPES], 2, id="no question"),
        pytest.param([PIPES, PIPES], 2, id="of two equal ones the later"),
    ],
)
def test_what_says_more_comes_first(said, first):
    assert gist(*said)[0].startswith(f"{first} user: ")


def test_one_utterance_gives_two_sentences_at_most():
    long = "Copper pipes leak in the cellar. Oak doors rot in the garden. Slate roofs break in the storm."
    short = "Glass panes crack in the winter."

    assert sorted(line.split()[0] for line in gist(long, short)) == ["1", "1", "2"]


@pytest.mark.parametrize(
    "sentence, expected",
    [
        pytest.param("abcde fghij klmn op.", 1, id="twenty characters"),
        pytest.param("abcde fghij klmn o.", 0, id="nineteen"),
        pytest.param("pipes pipes pipes pipes.", 0, id="two words at most"),
        pytest.param("alpha beta gamma " + "d" * 222 + ".", 1, id="as long as may be"),
        pytest.param("alpha beta gamma " + "d" * 223 + ".", 0, id="too long"),
    ],
)
def test_a_sentence_is_neither_too_short_nor_too_long(sentence, expected):
    assert len(gist(sentence)) == expected


def test_sentences_that_fit_stand_in_their_order():
    lines = [compact.Sentence(2, 0, "c"), compact.Sentence(1, 1, "b"), compact.Sentence(1, 0, "a")]

    assert compact.fit(lines, [5, 9, 5], 10) == "a\nc"
    assert compact.fit(lines, [5, 5, 5], 10) == "b\nc"
    assert compact.fit(lines, [5, 5, 5], 4) == ""


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
        pytest.param("Go! Then come back to the house", 8, 1, "Go!", id="an exclamation"),
        pytest.param("Why not? Then come back to the house", 12, 3, "Why not?", id="a question"),
        pytest.param("one line\nThen come back to the house", 12, 3, "one line", id="a line"),
        pytest.param("A. Then come back to the house soon", 8, 4, "A. Then come", id="not too early"),
        pytest.param("words", 0, -1, "", id="nothing at all"),
    ],
)  # fmt: skip
def test_a_text_is_cut_at_the_end_of_a_sentence(text, tokens, room, expected):
    assert compact.shortened(text, tokens, room) == expected
