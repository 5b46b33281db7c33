"""After an edit only what changed is counted again, and the sum is that of a full count."""

import random
from itertools import accumulate, chain, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.adapters.tokens._vocabularies import vocabulary as packaged
from sill.core import recount as recounting
from sill.core.cuts import is_safe
from sill.core.families import PROVED
from sill.core.recount import NOTHING, STRETCH, Counted, recount, whole

from ..tokens.texts import code_texts, hard_texts

texts = st.text(st.sampled_from(" \n\r\tab1.,'东é👍<|>/"), max_size=60)
words = st.lists(st.sampled_from(["ab", "c", "1", "é", "东京", "\n", "\n\n", ".", "👍", "x y"]), max_size=60)  # fmt: skip
large = st.one_of(texts, words.map(" ".join))


def learned(known: Counted, text: str, count=len) -> Counted:
    """``text`` counted by what is known, as the engine does it."""
    draft = recount(known, text)
    return draft.counted({block: count(block) for block in draft.new})


def blocks_of(known: Counted) -> list[Counted]:
    return list(chain.from_iterable(stretch.parts for stretch in known.parts))


def cuts_of(known: Counted) -> list[int]:
    return list(accumulate(len(block.text) for block in blocks_of(known)))


@pytest.fixture
def small(monkeypatch):
    """Blocks and stretches of a few characters, so that a short text has many of them."""
    monkeypatch.setattr(recounting, "STRETCH", 24)
    monkeypatch.setattr(recounting, "blocks", lambda text: small_blocks(text))


def small_blocks(text: str) -> list[str]:
    from sill.core.cuts import blocks

    return blocks(text, 5)


def is_sound(known: Counted, text: str) -> bool:
    """All levels hold the same text, every cut is safe, and sums are the sums of their parts."""
    cuts = cuts_of(known)
    return (
        known.text == text
        and "".join(stretch.text for stretch in known.parts) == text
        and all("".join(b.text for b in s.parts) == s.text for s in known.parts)
        and all(s.total == sum(block.total for block in s.parts) for s in known.parts)
        and known.total == sum(stretch.total for stretch in known.parts)
        and all(left < right for left, right in pairwise([0, *cuts]))
        and all(is_safe(text, cut) for cut in cuts)
    )


edits = st.tuples(st.floats(0, 1), st.integers(0, 9), texts)


@pytest.mark.usefixtures("small")
@settings(max_examples=800, deadline=None)
@given(large, st.lists(st.lists(edits, min_size=1, max_size=3), max_size=6))
def test_after_any_edits_all_parts_are_those_of_the_text(text, rounds):
    def count(block: str) -> int:
        return 7 * len(block) + sum(map(ord, block))  # adds up, and tells blocks apart

    known = learned(NOTHING, text, count)
    assert is_sound(known, text)
    for some in rounds:
        for where, gone, new in some:
            at = int(where * len(text))
            text = text[:at] + new + text[at + gone :]
        known = learned(known, text, count)

        assert is_sound(known, text)
        assert known.total == count(text)


@pytest.mark.usefixtures("small")
@settings(max_examples=500, deadline=None)
@given(large, large)
def test_what_is_known_may_be_any_other_text(one, other):
    assert is_sound(learned(learned(NOTHING, one), other), other)


@pytest.mark.usefixtures("small")
@settings(max_examples=300, deadline=None)
@given(large)
def test_of_a_text_that_did_not_change_nothing_is_new(text):
    known = learned(NOTHING, text)

    assert recount(known, text).new == []
    assert learned(known, text) == known


LINES = [f"line {number} of a long note" for number in range(4_000)]
NOTE = "\n".join(LINES)


def edited(*changes: tuple[int, str]) -> str:
    lines = list(LINES)
    for number, line in changes:
        lines[number] = line
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text, most",
    [
        pytest.param(edited((2_000, "another line")), 700, id="one line"),
        pytest.param(edited((0, "another line")), 700, id="the first line"),
        pytest.param(edited((3_999, "another line")), 700, id="the last line"),
        pytest.param(edited((2_000, "line\nand one more")), 700, id="a line more"),
        pytest.param(edited((1, "lineX1 of a long note"), (3_000, "longer " * 3)), 1_400, id="a fingerprint and a line"),
        pytest.param(edited((100, "a"), (200, "b")), 4_000, id="two lines near each other"),
        pytest.param("\n".join(LINES[:2_000] + LINES[3_000:]), 700, id="a part that was deleted"),
        pytest.param(NOTE + "\nmore", 700, id="appended"),
        pytest.param("more\n" + NOTE, 700, id="put before"),
        pytest.param("→" + NOTE, 700, id="a letter that makes all of them wide"),
    ],
)  # fmt: skip
def test_an_edit_recounts_little(text, most):
    draft = recount(learned(NOTHING, NOTE), text)

    assert draft.counted({block: len(block) for block in draft.new}).total == len(text)
    assert sum(map(len, draft.new)) <= most
    assert draft.is_mostly_known


def test_a_text_does_not_fall_into_crumbs():
    rng, text, known = random.Random(3), NOTE, learned(NOTHING, NOTE)
    for number in range(300):
        at = text.index("\n", rng.randrange(len(text) - 100))
        text = f"{text[:at]}\n  edited = {number}{text[at:]}"
        known = learned(known, text)

    assert len(known.parts) <= 2 * len(text) // STRETCH
    assert max(len(stretch.text) for stretch in known.parts) <= 2 * STRETCH


def test_a_text_of_which_only_the_sum_is_known_is_counted_anew_after_an_edit():
    known, text = whole(NOTE, 5), edited((2_000, "another line"))
    draft = recount(known, text)

    assert (known.total, recount(known, NOTE).new) == (5, [])
    assert "".join(draft.new) == text
    assert not draft.is_mostly_known


@pytest.mark.parametrize("vocabulary", sorted(PROVED))
def test_a_recount_after_an_edit_is_exact(vocabulary):
    encode, rng = packaged(vocabulary).encode, random.Random(5)

    def count(block: str) -> int:
        return len(encode(block))

    text = "\n".join([*hard_texts(60, seed=6), *code_texts()[:2]])
    known = learned(NOTHING, text, count)
    for _ in range(60):
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randrange(len(text))
            new = rng.choice((" x", "\n", "y z", "", "é", "  ", "\r\n", "东", "'s"))
            text = text[:at] + new + text[at + rng.randrange(4) :]
        known = learned(known, text, count)

        assert known.total == count(text)
