"""Growing Markdown: what is finished is finished, and nothing is lost or shown twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.cli.repl.blocks import split, tail


@pytest.mark.parametrize(
    "text, finished, rest",
    [
        pytest.param("", [], "", id="nothing"),
        pytest.param("One.", [], "One.", id="a paragraph may go on"),
        pytest.param("One.\n\n", [], "One.\n\n", id="what follows a blank line is not known yet"),
        pytest.param("One.\n\nT", ["One."], "T", id="the next block has begun"),
        pytest.param("- a\n\n  b\n\n- c", ["- a\n\n  b"], "- c", id="what is indented stays with its item"),
        pytest.param("```\na\n\nb\n", [], "```\na\n\nb\n", id="a blank line in a fence ends nothing"),
        pytest.param("```\na\n\n```\n\nb", ["```\na\n\n```"], "b", id="a closed fence is a block"),
        pytest.param("~~~\n```\n\nx\n", [], "~~~\n```\n\nx\n", id="another mark does not close it"),
        pytest.param("a ``` b\n\nc", ["a ``` b"], "c", id="marks within a line are no fence"),
        pytest.param("\n\nOne.\n\nTwo", ["One."], "Two", id="blank lines before the text"),
    ],
)  # fmt: skip
def test_split(text, finished, rest):
    assert ([block.strip("\n") for block in split(text)[0] if block.strip()], split(text)[1]) == (
        finished,
        rest,
    )


@given(st.text(st.sampled_from("ab \n`-#"), max_size=80))
def test_blocks_and_rest_hold_every_line(text):
    finished, rest = split(text)
    shown = [line for block in [*finished, rest] for line in block.split("\n") if line.strip()]

    assert shown == [line for line in text.split("\n") if line.strip()]


@given(st.text(st.sampled_from("ab \n`-#"), max_size=60), st.integers(1, 59))
def test_what_is_finished_stays_finished_when_more_comes(text, at):
    early, rest = split(text[:at])
    late = split(text)[0]

    assert [*early, *split(rest + text[at:])[0]] == late


@pytest.mark.parametrize(
    "text, most, expected",
    [
        pytest.param("a\nb\nc\n", 5, "a\nb\nc\n", id="short enough"),
        pytest.param("a\nb\nc\n", 2, "b\nc\n", id="the last lines"),
        pytest.param("```py\na\nb\nc\n", 2, "```py\nb\nc\n", id="cut within a fence, the fence is opened again"),
        pytest.param("```\na\n```\nb\nc\n", 2, "b\nc\n", id="a fence that was closed is not"),
    ],
)  # fmt: skip
def test_tail(text, most, expected):
    assert tail(text, most) == expected
