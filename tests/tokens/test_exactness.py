"""Each packaged vocabulary against the library that defines it, token by token."""

import os

import pytest
import splintr

from sill.adapters.tokens._vocabularies import _PACKAGED
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
