"""Words that mean about the same are close, and bring up what was said with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.kin import kin
from sill.core.lexicon import CODE_BYTES, NO_WORDS, Code, Lexicon, closeness
from sill.core.memory import Memory, utterance
from sill.core.recall import query, rank
from sill.core.stems import stem
from sill.lexicon import load, packed, parsed

ABOVE, BELOW, NEITHER = b"\xff" * 32 + b"\0" * 32, b"\0" * 32 + b"\xff" * 32, b"\0" * 64
HALF = b"\xff" * 16 + b"\0" * 48


def code_of(stored: bytes) -> Code | None:
    return Lexicon({"word": 0}, stored).code("word")


@pytest.mark.parametrize(
    "one, other, expected",
    [
        pytest.param(ABOVE, ABOVE, 1.0, id="the same"),
        pytest.param(ABOVE, BELOW, -1.0, id="the opposite"),
        pytest.param(ABOVE, HALF, 0.5**0.5, id="half of it"),
        pytest.param(HALF, b"\0" * 16 + b"\xff" * 16 + b"\0" * 32, 0.0, id="nothing in common"),
        pytest.param(ABOVE, NEITHER, 0.0, id="says nothing"),
    ],
)
def test_codes_are_as_close_as_their_directions(one, other, expected):
    (found,) = closeness(code_of(one), [code_of(other)])

    assert found == pytest.approx(expected)


codes = st.binary(min_size=CODE_BYTES // 2, max_size=CODE_BYTES // 2).flatmap(
    lambda above: st.binary(min_size=CODE_BYTES // 2, max_size=CODE_BYTES // 2).map(
        lambda below: above + bytes(b & ~a for a, b in zip(above, below, strict=True))
    )
)


@given(codes, codes)
def test_closeness_is_the_cosine_of_what_lies_above_and_below(one, other):
    def directions(stored: bytes) -> list[int]:
        bits = [byte >> shift & 1 for byte in stored for shift in range(7, -1, -1)]
        return [a - b for a, b in zip(bits[:256], bits[256:], strict=True)]

    left, right = directions(one), directions(other)
    norm = (sum(map(abs, left)) * sum(map(abs, right))) ** 0.5
    product = sum(a * b for a, b in zip(left, right, strict=True))

    (found,) = closeness(code_of(one), [code_of(other)])
    assert found == pytest.approx(product / norm if norm else 0.0)
    assert closeness(code_of(one), [None]) == [0.0]


def test_a_table_is_read_as_it_was_written():
    found = parsed(packed(["b", "a"], ABOVE + HALF))

    assert (found.code("b"), found.code("a"), found.code("c")) == (
        code_of(ABOVE),
        code_of(HALF),
        None,
    )


@pytest.mark.parametrize(
    "word, closer, than",
    [
        pytest.param("doctor", "physician", "banana", id="the same"),
        pytest.param("childhood", "kid", "invoice", id="of the same time"),
        pytest.param("colleague", "employee", "lake", id="other words for people"),
        pytest.param("vacation", "trip", "keyboard", id="about the same"),
    ],
)
def test_the_shipped_table_knows_what_words_mean(word, closer, than):
    table = load()
    one, near, far = (table.code(stem(each)) for each in (word, closer, than))

    to_near, to_far = closeness(one, [near, far])
    assert to_near > to_far + 0.2


TALK = (
    "We fired the oven with beech.",
    "I went to karate on Monday.",
    "The invoice came late.",
    "Ann: what do your employees say?",
    "Bob: They like the new desks.",
)


def remember(lexicon) -> Memory:
    memory = Memory(lexicon)
    memory.add(
        utterance(f"t{at}", at, at * 7_200_000, "user", text) for at, text in enumerate(TALK[:3])
    )
    memory.add(utterance(f"t{at}", at, 99_000_000, "user", TALK[at]) for at in (3, 4))
    return memory


@pytest.mark.parametrize(
    "word, known",
    [
        pytest.param("kick", True, id="a word"),
        pytest.param("kickbox", True, id="made of two"),
        pytest.param("kickxqz", False, id="half of it is no word"),
        pytest.param("xqz", False, id="no word"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_a_word_is_known_or_made_of_two_that_are(word, known):
    assert (load().code(word) is not None) is known


def test_a_word_of_two_is_close_to_both():
    table = load()
    made = table.code("kickbox")

    assert min(closeness(made, [table.code("kick"), table.code("box")])) > 0.4


def test_what_was_said_in_other_words_is_found():
    asked = query("Which martial arts do I practise?")

    assert rank(remember(load()), asked)[0].place == 1


def test_an_answer_is_as_close_as_what_it_answers():
    alone, with_last = kin(remember(load()), {stem("colleagues"): 1.0})

    assert with_last[4] == alone[3] > alone[4]
    assert with_last[:4] == alone[:4]


def test_without_a_table_the_same_words_count():
    alone, with_last = kin(remember(NO_WORDS), {"invoic": 1.0, "beech": 3.0, "unknown": 1.0})

    assert [bool(one) for one in alone] == [True, False, True, False, False]
    assert alone[0] > alone[2] and with_last == alone
    assert kin(remember(NO_WORDS), {}) == ([0.0] * 5, [0.0] * 5)
