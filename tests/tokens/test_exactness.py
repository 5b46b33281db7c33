"""Each packaged vocabulary against the library that defines it, token by token."""

import pytest

from sill.adapters.tokens._vocabularies import encoder

from . import references
from .texts import hard_texts

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
    ours, theirs = encoder(vocabulary), reference()

    wrong = [text for text in hard_texts(2_200) if list(ours(text)) != list(theirs(text))]

    assert wrong == []


@pytest.mark.long
@pytest.mark.parametrize("vocabulary, reference", REFERENCES)
def test_many_more_texts_give_the_reference_counts(vocabulary, reference):
    ours, theirs = encoder(vocabulary), reference()

    wrong = [text for text in hard_texts(20_000, seed=2) if len(ours(text)) != len(theirs(text))]

    assert wrong == []
