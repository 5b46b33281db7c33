"""After an edit only what changed is counted again, and the sum is that of a full count."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.adapters.tokens._vocabularies import vocabulary as packaged
from sill.core import recount as recounting
from sill.core.families import PROVED
from sill.core.recount import changed

from ..tokens.texts import code_texts, hard_texts

texts = st.text(st.sampled_from(" \n\r\tab1.,'东é👍<|>/"), max_size=60)
words = st.lists(st.sampled_from(["ab", "c", "1", "é", "东京", "\n", "\n\n", ".", "👍", "x y"]), max_size=60)  # fmt: skip
same = st.tuples(st.sampled_from(["ab ", "ab\n", "a", " ", "东 ", "x y\r\n"]), st.integers(0, 30))
large = st.one_of(texts, words.map(" ".join), same.map(lambda one: one[0] * one[1]))

_TOKENS = re.compile(r" ?[^\W\d]+| ?\d{1,3}| ?[^\s\w]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def toy(text: str) -> int:
    """As tokenizers cut: adds up where a cut is safe, and hardly elsewhere; and tells texts of a length apart."""
    return 1_000_000 * len(_TOKENS.findall(text)) + sum(map(ord, text))


def told_by(windows: list[str], total: int, count=toy) -> int:
    """The sum of the new text, as the engine comes to it."""
    return total - sum(map(count, windows[::2])) + sum(map(count, windows[1::2]))


@pytest.fixture
def small(monkeypatch):
    """Comparing a few characters at a time, so that a short text is like a long one."""
    for name, size in (("STRETCH", 24), ("FINE", 6), ("PROBE", 3), ("NEAR", 2), ("BACK", 4)):
        monkeypatch.setattr(recounting, name, size)


edits = st.tuples(st.floats(0, 1), st.integers(0, 9), texts)


def with_edits(text: str, some) -> str:
    for where, gone, new in some:
        at = int(where * len(text))
        text = text[:at] + new + text[at + gone :]
    return text


@pytest.mark.usefixtures("small")
@settings(max_examples=1_000, deadline=None)
@given(large, st.lists(st.lists(edits, min_size=1, max_size=3), max_size=6))
def test_after_any_edits_the_sum_is_that_of_the_text(text, rounds):
    total = toy(text)
    for some in rounds:
        new = with_edits(text, some)
        total, text = told_by(changed(text, new), total), new

        assert total == toy(text)


@pytest.mark.usefixtures("small")
@settings(max_examples=500, deadline=None)
@given(large, large)
def test_what_was_known_may_be_any_other_text(one, other):
    assert told_by(changed(one, other), toy(one)) == toy(other)


@pytest.mark.usefixtures("small")
@settings(max_examples=300, deadline=None)
@given(large)
def test_of_a_text_that_did_not_change_nothing_is_counted(text):
    assert changed(text, text) == []


@settings(max_examples=200, deadline=None)
@given(large, st.lists(edits, max_size=3), st.integers(1, 400))
def test_long_texts_are_told_like_short_ones(text, some, times):
    old = (text + "a line of its own\n") * times

    assert told_by(changed(old, with_edits(old, some)), toy(old)) == toy(with_edits(old, some))


LINES = [f"line {number} of a long note" for number in range(4_000)]
NOTE = "\n".join(LINES)
MIDDLE = NOTE.index("line 2000")


def edited(*changes: tuple[int, str]) -> str:
    lines = list(LINES)
    for number, line in changes:
        lines[number] = line
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text, most",
    [
        pytest.param(edited((2_000, "another line")), 200, id="one line"),
        pytest.param(edited((2_000, "LINE 2000 OF A LONG NOTE")), 200, id="a line of the same length"),
        pytest.param(edited((0, "another line")), 200, id="the first line"),
        pytest.param(edited((3_999, "another line")), 200, id="the last line"),
        pytest.param(edited((2_000, "line\nand one more")), 200, id="a line more"),
        pytest.param(NOTE[:MIDDLE] + "x" + NOTE[MIDDLE:], 150, id="a letter"),
        pytest.param(NOTE[:MIDDLE] + NOTE[MIDDLE + 1 :], 150, id="a letter less"),
        pytest.param(edited((1, "lineX1 of a long note"), (3_000, "longer " * 3)), 400, id="a fingerprint and a line"),
        pytest.param(edited((1, "lineX1 of a long note"), (3_000, "line 3000 of a long novel"[:24])), 400, id="two of the same length"),
        pytest.param(edited((100, "a"), (2_000, "and b"), (3_900, "or c")), 600, id="three lines far from each other"),
        pytest.param(edited((100, "a"), (200, "b")), 400, id="two lines near each other"),
        pytest.param("\n".join(LINES[:2_000] + LINES[3_000:]), 25_200, id="a part that was deleted"),
        pytest.param("\n".join(LINES[300:]), 7_300, id="a beginning that was deleted"),
        pytest.param("\n".join(LINES[:3_700]), 7_700, id="an end that was deleted"),
        pytest.param(NOTE.replace("line 20", "word 20"), 12_000, id="a word that was renamed in a hundred lines"),
        pytest.param(NOTE[:MIDDLE] + "new words\n" * 500 + NOTE[MIDDLE:], 5_200, id="much that was put in"),
        pytest.param(NOTE + "\nmore", 100, id="appended"),
        pytest.param("more\n" + NOTE, 100, id="put before"),
        pytest.param("→" + NOTE, 100, id="a letter that makes all of them wide"),
    ],
)  # fmt: skip
def test_an_edit_recounts_little(text, most):
    there, back = changed(NOTE, text), changed(text, NOTE)

    assert told_by(there, toy(NOTE)) == toy(text)
    assert told_by(back, toy(text)) == toy(NOTE)
    assert sum(map(len, there)) <= most
    assert sum(map(len, back)) <= most


def test_of_a_text_that_is_gone_all_is_counted():
    assert changed("one two", "") == ["one two", ""]
    assert changed("", "one two") == ["", "one two"]


def test_a_text_without_a_cut_is_one_window():
    assert changed("a" * 20_000, "a" * 20_001) == ["a" * 20_000, "a" * 20_001]


PLANES = [chr(plane * 0x10000 + 0x1234) for plane in range(17)] + [
    "é",
    "\x85",
    "\u3000",
    "\ud800",
    "e\u0301",
]
PUT_IN = (" x", "\n", "y z", "", "  ", "\r\n", "'s", "<|endoftext|>", "\t", *PLANES)  # fmt: skip


@pytest.mark.parametrize("vocabulary", sorted(PROVED))
def test_a_recount_after_an_edit_is_exact(vocabulary):
    encode, rng = packaged(vocabulary).encode, random.Random(5)

    def count(block: str) -> int:
        return len(encode(block.encode("utf-8", "replace").decode()))

    text = "\n".join([*hard_texts(60, seed=6), *code_texts()[:2]])
    total = count(text)
    for number in range(120):
        new = text
        for _ in range(rng.choice((1, 1, 2, 3))):
            at = rng.choice(
                (rng.randrange(len(new)), 0, len(new), new.find(" ", rng.randrange(len(new))))
            )
            new = new[:at] + rng.choice(PUT_IN) + new[at + rng.randrange(4) :]
        if number % 40 == 20:
            new = new[: len(new) // 2] + "".join(hard_texts(30, seed=number)) + new[len(new) // 2 :]
        if number % 40 == 30:
            new = new[: len(new) // 3] + new[len(new) // 2 :]
        total, text = told_by(changed(text, new), total, count), new

        assert total == count(text)
