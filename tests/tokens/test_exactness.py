"""Each packaged vocabulary against the library that defines it, token by token."""

import os

import pytest
import splintr

from sill.adapters.tokens._vocabularies import _PACKAGED, TEKKEN_RANKS, _lean_tekken
from sill.adapters.tokens._vocabularies import vocabulary as packaged
from sill.core.families import PROVED

from . import references
from .texts import code_texts, hard_texts

REFERENCES = [
    pytest.param("o200k_base", lambda: references.official("o200k_base"), id="o200k_base"),
    pytest.param("o200k_harmony", lambda: references.official("o200k_base"), id="o200k_harmony"),
    pytest.param("cl100k_base", lambda: references.official("cl100k_base"), id="cl100k_base"),
    pytest.param("llama3", lambda: references.official("llama3"), id="llama3"),
    pytest.param("tekken", references.tekken, id="tekken"),
    pytest.param("deepseek", references.deepseek, id="deepseek"),
]


@pytest.mark.parametrize("vocabulary, reference", REFERENCES)
def test_the_packaged_vocabulary_gives_the_reference_tokens(vocabulary, reference):
    ours, theirs = packaged(vocabulary).encode, reference()

    wrong = [text for text in hard_texts(2_200) if list(ours(text)) != list(theirs(text))]

    assert wrong == []


def test_the_lean_tekken_gives_the_reference_tokens():
    lean = _lean_tekken(splintr.Tokenizer.from_pretrained(_PACKAGED["tekken"]))
    theirs = references.tekken()

    texts = [*hard_texts(2_200), *code_texts()]
    wrong = [
        text
        for text in texts
        if [TEKKEN_RANKS[rank] for rank in lean.encode_ordinary(text)] != list(theirs(text))
        or len(lean.encode_flat(text)) // 4 != len(theirs(text))
    ]

    assert wrong == []


def test_after_many_texts_tekken_counts_lean_and_the_same():
    packaged.cache_clear()
    plain, texts = packaged("tekken"), list(hard_texts(2_200))
    before = [plain.count(text) for text in texts]  # the packaged one, then the lean one

    after = [plain.count(text) for text in texts]

    assert not plain._knows_specials
    assert before == after == [len(plain.encode(text)) for text in texts]


@pytest.mark.long
@pytest.mark.parametrize("vocabulary, reference", REFERENCES)
def test_many_more_texts_give_the_reference_counts(vocabulary, reference):
    ours, theirs = packaged(vocabulary).encode, reference()

    wrong = [text for text in hard_texts(20_000, seed=2) if len(ours(text)) != len(theirs(text))]

    assert wrong == []


@pytest.mark.parametrize("name", sorted(PROVED))
def test_a_count_is_the_number_of_tokens_whatever_is_spelled_in_the_text(name):
    plain = packaged(name)
    specials = splintr.Tokenizer.from_pretrained(_PACKAGED[name]).special_tokens()
    texts = [*hard_texts(600, seed=20), *(f"a {special} b{special}" for special in specials)]
    texts += [text * 40 for text in code_texts()[:40]]

    texts += ["".join(texts[start : start + 120]) for start in range(0, 600, 40)]

    wrong = [text for text in texts if plain.count(text) != len(plain.encode(text))]

    assert wrong == []


def test_a_forked_child_counts_too():
    """Worker threads do not live on in a child; waiting for them would last for ever."""
    text = "\n".join(code_texts()[:5])
    expected = packaged("o200k_base").count(text)
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writer, str(packaged("o200k_base").count(text)).encode())
        os._exit(0)

    counted = int(os.read(reader, 100))
    os.waitpid(child, 0)
    assert counted == expected
