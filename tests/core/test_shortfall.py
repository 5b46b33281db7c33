import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.certificate import Certificate, Usage
from sill.core.shortfall import Shortfall, find_shortfall


def certified(kind, predicted):
    return Certificate(kind, "t", predicted)


@pytest.mark.parametrize(
    "kind, predicted, usage, found",
    [
        pytest.param("exact", 9000, Usage(9000, 1, 0), None, id="nothing missing"),
        pytest.param("exact", 9000, Usage(9004, 1, 0), None, id="more than counted"),
        pytest.param("exact", 9000, Usage(8999, 1, 40), Shortfall(9000, 8999, True), id="one token"),
        pytest.param("exact", 9000, Usage(8999, 1), None, id="one token, cache unknown"),
        pytest.param("exact", 9000, Usage(7650, 1), None, id="just 0.85"),
        pytest.param("exact", 9000, Usage(7649, 1), Shortfall(9000, 7649, False), id="under 0.85"),
        pytest.param("exact", 9000, Usage(2051, 1), Shortfall(9000, 2051, False), id="as Ollama does"),
        pytest.param("bound", 9000, Usage(8000, 1, 0), None, id="a bound may be too high"),
        pytest.param("bound", 9000, Usage(4096, 1, 0), Shortfall(9000, 4096, False), id="a bound, far off"),
        pytest.param("bound", 40, Usage(20, 1, 0), None, id="a bound on a short prompt"),
        pytest.param("estimate", 9000, Usage(5000, 1, 0), None, id="an estimate may be far off"),
        pytest.param("estimate", 9000, Usage(2051, 1), Shortfall(9000, 2051, False), id="an estimate"),
        pytest.param("exact", 9000, None, None, id="the server said nothing"),
    ],
)  # fmt: skip
def test_missing_prompt_tokens_are_noticed(kind, predicted, usage, found):
    assert find_shortfall(certified(kind, predicted), usage) == found


@given(st.integers(1, 10**6), st.integers(0, 400), st.none() | st.just(0))
def test_a_server_that_reads_everything_is_never_suspected(predicted, more, cached):
    assert find_shortfall(certified("exact", predicted), Usage(predicted + more, 1, cached)) is None


def test_it_is_said_in_words_with_the_remedy():
    found = Shortfall(9000, 2051, False)

    assert found.words == (
        "the server seems to have dropped part of the prompt: 9,000 tokens were sent, it read 2,051"
    )
    assert "OLLAMA_CONTEXT_LENGTH" in found.remedy
