"""Counts are taken once: in memory, from the store, and by blocks after an edit."""

import asyncio
import random

import pytest

from sill.adapters.tokens import counter_for
from sill.core import envelopes
from sill.core.certificate import Counts, Tokenizer
from sill.core.messages import FileStamp, fingerprint
from sill.engine.sizes import LARGE, WINDOWS, Growing, Large, Recent, Remembered
from sill.testing import MemoryStore, WordCounter

from ..tokens.texts import code_texts, hard_texts

LONG = "some words " * 30  # long enough for the store


def run(remembered, *texts):
    return asyncio.run(remembered.count(texts))


def test_a_text_is_counted_once():
    counter = WordCounter()
    remembered = Remembered(counter)

    first = run(remembered, "one two", "three", "one two")
    second = run(remembered, "three", "one two")

    assert first == Counts((2, 1, 2), "exact")
    assert second == Counts((1, 2), "exact")
    assert counter.counted == ["one two", "three"]


def test_no_texts_cost_no_call():
    counter = WordCounter()

    assert run(Remembered(counter)) == Counts((), "exact")
    assert counter.counted == []


def test_counts_come_back_from_the_store():
    store = MemoryStore()
    run(Remembered(WordCounter(), store), LONG)
    counter = WordCounter()

    counts = run(Remembered(counter, store), LONG, "new words")

    assert counts == Counts((60, 2), "exact")
    assert counter.counted == ["new words"]


def test_short_texts_and_texts_that_are_not_unicode_stay_out_of_the_store():
    store = MemoryStore()
    run(Remembered(WordCounter(), store), "short", LONG + "\ud800", LONG)

    names = [fingerprint("short"), fingerprint(LONG)]
    assert asyncio.run(store.known_counts("words", names)) == {fingerprint(LONG): 60}


class Failing(WordCounter):
    """Exact by itself, but only an estimate comes back this time."""

    async def count(self, texts):
        return Counts((await super().count(texts)).tokens, "estimate")


def test_a_fallback_is_not_remembered():
    counter, store = Failing(), MemoryStore()
    remembered = Remembered(counter, store)

    counts = [run(remembered, LONG), run(remembered, LONG)]

    assert counts == [Counts((60,), "estimate")] * 2
    assert counter.counted == [LONG, LONG]
    assert asyncio.run(store.known_counts("words", [fingerprint(LONG)])) == {}


class Guessing(WordCounter):
    tokenizer = Tokenizer("guess", "estimate", margin=0.1)

    async def count(self, texts):
        return Counts((await super().count(texts)).tokens, "estimate")


def test_estimates_stay_in_memory_and_out_of_the_store():
    counter, store = Guessing(), MemoryStore()
    remembered = Remembered(counter, store)
    run(remembered, LONG)
    run(remembered, LONG)

    assert counter.counted == [LONG]
    assert asyncio.run(store.known_counts("guess", [fingerprint(LONG)])) == {}


@pytest.mark.parametrize(
    "model", ["gpt-5", "gpt-4", "devstral-small-2", "llama-3.1-8b", "deepseek-chat"]
)
def test_edits_of_a_large_text_are_counted_exactly(model):
    async def edit_many():
        chosen = await counter_for(model)
        remembered = Remembered(chosen.counter, cuts=chosen.cuts)
        rng, text = random.Random(8), "\n".join([*hard_texts(120, seed=9), *code_texts()[:6]])
        for _ in range(40):
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(("\nnew line\n", " ", "", "é", "\n")) + text[at + 3 :]
            assert await remembered.count([text]) == await chosen.counter.count([text])

    asyncio.run(edit_many())


def test_an_edit_of_a_large_text_recounts_only_what_changed():
    counter = WordCounter()
    remembered = Remembered(counter, cuts=True)
    lines = [f"line {number} of a long note" for number in range(2_000)]
    run(remembered, "\n".join(lines))
    counter.counted.clear()
    lines[1_000] = "line that was edited by hand"

    counts = run(remembered, "\n".join(lines))

    assert counts == Counts((12_000,), "exact")
    assert sum(map(len, counter.counted)) < 300


NOTE = "\n".join(f"line {number} of a long note" for number in range(2_000))


class Tiring(WordCounter):
    """Counts whole texts, but of what is short only an estimate comes back."""

    async def count(self, texts):
        counts = await super().count(texts)
        return counts if len(texts[0]) >= LARGE else Counts((9,) * len(texts), "estimate")


def test_an_edit_is_counted_as_a_whole_when_what_changed_is_only_estimated():
    counter = Tiring()
    remembered = Remembered(counter, cuts=True)
    run(remembered, NOTE)
    counter.counted.clear()
    edited = NOTE.replace("line 1000 of", "line of")

    assert run(remembered, edited) == Counts((11_999,), "exact")
    assert counter.counted[-1:] == [edited]


def test_a_text_that_changed_all_over_is_counted_as_a_whole():
    counter = WordCounter()
    remembered = Remembered(counter, cuts=True)
    run(remembered, NOTE)
    counter.counted.clear()
    edited = NOTE.replace("of a", "of one") + NOTE[-600:]

    assert run(remembered, edited) == Counts((len(edited.split()),), "exact")
    assert counter.counted == [edited]


def test_what_changed_is_counted_up_to_a_size_and_the_rest_as_whole_texts():
    counter = WordCounter()
    remembered = Remembered(counter, cuts=True)
    notes = [f"{name} {NOTE}{NOTE}{NOTE} {name}" * 2 for name in ("one", "two", "three")]
    new = "some new words " * (WINDOWS // 40)
    edited = [note[:90_000] + new + note[90_000:] for note in notes]
    run(remembered, *notes)
    counter.counted.clear()

    counts = run(remembered, *edited)

    assert counts == Counts(tuple(len(text.split()) for text in edited), "exact")
    assert counter.counted[-1] == edited[2]
    assert edited[0] not in counter.counted and edited[1] not in counter.counted


def test_several_edited_texts_are_counted_in_one_batch():
    counter = WordCounter()
    remembered = Remembered(counter, cuts=True)
    notes = [f"{name} {NOTE} {name}" for name in ("one", "two", "three")]
    edited = [note.replace("line 1000 of", f"{number} of") for number, note in enumerate(notes)]
    run(remembered, *notes)
    counter.counted.clear()

    counts = run(remembered, edited[0], "short", notes[1], edited[2], edited[0])

    assert counts == Counts((12_001, 1, 12_002, 12_001, 12_001), "exact")
    assert sum(map(len, counter.counted)) < 1_000


def test_an_edit_of_a_text_whose_count_came_from_the_store_recounts_only_what_changed():
    store = MemoryStore()
    run(Remembered(WordCounter(), store, cuts=True), NOTE)
    counter = WordCounter()
    remembered = Remembered(counter, store, cuts=True)
    run(remembered, NOTE)
    run(remembered, NOTE.replace("line 1000 of", "line of"))

    assert sum(map(len, counter.counted)) < 300


@pytest.mark.parametrize(
    "edited",
    [
        pytest.param(lambda note: note + "\nmore", id="at its end"),
        pytest.param(lambda note: "more\n" + note, id="at its beginning"),
    ],
)
def test_a_large_text_is_found_again_after_an_edit(edited):
    counter = WordCounter()
    remembered = Remembered(counter, cuts=True)
    run(remembered, NOTE)
    counter.counted.clear()

    assert run(remembered, edited(NOTE)) == Counts((len(edited(NOTE).split()),), "exact")
    assert sum(map(len, counter.counted)) < 600


def test_an_edit_of_one_of_many_files_that_begin_alike_recounts_only_what_changed():
    counter = WordCounter()
    remembered = Remembered(counter, cuts=True)
    notes = [f"{'the same licence ' * 60}{NOTE} file {name}" for name in ("one", "two", "three")]
    run(remembered, *notes)
    counter.counted.clear()

    run(remembered, notes[0].replace("line 1000 of", "line of"))

    assert sum(map(len, counter.counted)) < 300


def test_an_edit_of_a_large_text_is_counted_without_the_store():
    counter, store = WordCounter(), MemoryStore()
    remembered = Remembered(counter, store, cuts=True)
    note = "\n".join(f"line {number} of a long note" for number in range(2_000))
    edited = note.replace("line 1000 of", "line of")
    run(remembered, note)

    assert run(remembered, edited) == Counts((11_999,), "exact")
    stored = asyncio.run(store.known_counts("words", [fingerprint(note), fingerprint(edited)]))
    assert stored == {fingerprint(note): 12_000}


def test_a_file_that_is_sent_again_after_an_edit_is_recounted_in_two_places():
    counter = WordCounter()
    remembered = Remembered(counter, cuts=True)
    lines = [f"line {number} of a long note" for number in range(4_000)]
    for number in (0, 20, 2_000, 3_999):
        lines[number] = f"line that was edited by hand, the {number}th"
        text = "\n".join(lines)
        sent = envelopes.state(FileStamp("notes/a.md", fingerprint(text)), text).text
        counter.counted.clear()

        assert run(remembered, sent) == Counts((len(sent.split()),), "exact")
        assert number == 0 or sum(map(len, counter.counted)) < 2_000


def test_memory_is_bounded_and_keeps_what_was_used_last():
    recent = Recent(limit=300)
    recent.put("a" * 100, 1)
    recent.put("b" * 50, 2)
    assert recent.get("a" * 100) == 1
    recent.put("c" * 50, 3)

    assert [recent.get("a" * 100), recent.get("b" * 50), recent.get("c" * 50)] == [1, None, 3]


def test_large_texts_are_forgotten_when_others_were_used_since():
    large = Large(limit=6_000)
    for letter in "abcd":
        large.put(letter * 900, 1)
    assert large.near("a" * 900) == ("a" * 900, 1)
    for letter in "ef":
        large.put(letter * 900, 1)

    found = [letter for letter in "abcdef" if large.near(letter * 900) is not None]
    assert found == ["a", "d", "e", "f"]


def test_a_text_that_is_larger_than_the_memory_is_not_kept():
    large = Large(limit=2_000)
    large.put("a" * 900, 1)
    large.put("b" * 1_001, 2)

    assert large.near("b" * 1_001) is None
    assert large.near("a" * 900) == ("a" * 900, 1)


def test_large_texts_that_begin_and_end_alike_are_told_apart():
    counter = WordCounter()
    remembered = Remembered(counter, cuts=True)
    ends = "the same words " * 300
    texts = [f"{ends}{middle}{ends}" for middle in ("one ", "two words ", "three words here ")]

    counts = [run(remembered, text).tokens[0] for text in texts * 2]

    assert counts == [1801, 1802, 1803] * 2


@pytest.mark.parametrize("model", ["gpt-5", "devstral-small-2", "unheard-of"])
def test_a_growing_text_counts_like_the_whole(model):
    async def grow():
        chosen = await counter_for(model)
        growing, whole = Growing(chosen.counter, cuts=chosen.cuts), ""
        for piece in hard_texts(150, seed=10):
            growing.add(piece)
            whole += piece
            assert await growing.tokens() == await chosen.counter.count([whole])

    asyncio.run(grow())


def test_a_growing_text_does_not_count_its_beginning_again():
    counter = WordCounter()
    growing = Growing(counter, cuts=True)

    async def grow():
        for _ in range(200):
            growing.add("ten words are added to the reply again and again ")
            await growing.tokens()
        return await growing.tokens()

    counts = asyncio.run(grow())

    assert counts == Counts((2_000,), "exact")
    assert sum(len(text) for text in counter.counted[-3:]) < 1_000
