import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.lines import find_snippet, line_splice, split_lines

texts = st.text(st.sampled_from("ab\r\n\ufeff\u2028\x0c"), max_size=20)


@given(texts)
def test_the_lines_make_up_the_text(text):
    lines = split_lines(text)
    bounds = (*lines.starts[1:], len(text)) if len(lines) else ()
    whole = "".join(text[start:end] for start, end in zip(lines.starts, bounds, strict=True))

    assert text[: lines.body] + whole == text
    assert not any("\r" in content or "\n" in content for content in lines.contents)


@pytest.mark.parametrize(
    "text, newline",
    [
        pytest.param("", "\n", id="nothing"),
        pytest.param("a\nb\r\nc\r\n", "\r\n", id="most"),
        pytest.param("a\r\nb\n", "\r\n", id="first wins a tie"),
        pytest.param("a\rb\r", "\r", id="old Macintosh"),
    ],
)
def test_the_usual_newline(text, newline):
    assert split_lines(text).newline == newline


@given(texts, st.data())
def test_an_anchor_is_found_whatever_its_newlines(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    snippet = text[start:end].replace("\r\n", "\n").replace("\r", "\n")
    flat = [
        text[a:b].replace("\r\n", "\n").replace("\r", "\n")
        for a, b in find_snippet(text, snippet, limit=100)
    ]

    # A cut between CR and LF makes a snippet that is not in the text; every other one is found.
    is_split = any(text[at - 1 : at + 1] == "\r\n" for at in (start, end) if at)
    assert is_split or flat
    assert set(flat) <= {snippet}


@given(texts, st.data())
def test_lines_outside_a_splice_keep_their_characters(text, data):
    lines = split_lines(text)
    first = data.draw(st.integers(0, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    added = data.draw(st.lists(st.just("x"), max_size=2))
    start, end, new = line_splice(lines, first, last, added)
    result = text[:start] + new + text[end:]

    assert result.startswith(text[: lines.start(first)])
    assert result.endswith(text[lines.start(last) :])
    assert result.count("x") == len(added)
