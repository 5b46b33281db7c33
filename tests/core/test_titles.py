import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.titles import LONGEST, title_from_model, title_of


@pytest.mark.parametrize(
    "question, title",
    [
        pytest.param("Why is the oven cold?", "Why is the oven cold?", id="a question as it is"),
        pytest.param("hi, could you please tell me how beans grow", "How beans grow", id="no preamble"),
        pytest.param("# Plan\n\nfor the shed", "Plan", id="a heading is said without its marks"),
        pytest.param("```py\nx = 1\n```\nwhy does this fail?", "Why does this fail?", id="code is passed over"),
        pytest.param("```py\nx = 1\n```", "X = 1", id="unless there is nothing else"),
        pytest.param("see [[Garden/Slugs|slugs]] and **act**", "See slugs and act", id="links by what they show"),
        pytest.param("Look at the chart", "Look at the chart", id="no preamble inside a word"),
        pytest.param("hello", "Hello", id="a greeting alone is a title"),
        pytest.param("  \n\t", "", id="nothing"),
        pytest.param(
            "what did we decide about the north wall of the shed and its door last spring",
            "What did we decide about the north wall of the shed and its…",
            id="cut at a word",
        ),
        pytest.param("バラはいつ植える？", "バラはいつ植える？", id="any script"),
    ],
)  # fmt: skip
def test_a_title_is_the_first_line_that_says_something(question, title):
    assert title_of(question) == title


@pytest.mark.parametrize(
    "answer, title",
    [
        pytest.param('"Cold ovens"', "Cold ovens", id="quotation marks"),
        pytest.param("\n**Title:** Cold ovens.\nIt is about…", "Cold ovens", id="a label and a full stop"),
        pytest.param("…", "", id="nothing said"),
    ],
)  # fmt: skip
def test_a_title_is_found_in_what_a_model_answers(answer, title):
    assert title_from_model(answer) == title


@given(st.text())
def test_a_title_is_one_short_line(text):
    for title in (title_of(text), title_from_model(text)):
        assert len(title) <= LONGEST + 2  # a letter may become two when it is made a capital
        assert title.splitlines() in ([], [title])
