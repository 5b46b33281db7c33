"""In which texts a term stands: what is kept small is counted the same."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sill.core.memory import Postings

texts = st.lists(st.lists(st.sampled_from("abcdef")), max_size=8)


@given(texts)
def test_counts_are_those_of_the_texts(given_texts):
    postings = Postings()
    for place, found in enumerate(given_texts):
        postings.add(place, found)

    counted = {
        term: {place: n for place, found in enumerate(given_texts) if (n := Counter(found)[term])}
        for term in "abcdef"
    }
    assert {term: dict(postings.counts(term)) for term in "abcdef"} == counted
    assert postings.lengths == [len(found) for found in given_texts]
