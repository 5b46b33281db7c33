"""Nothing a model, a file or a name says can steer the terminal."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sill.cli.screen import Pieces, json_text, plain


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param(
            "plain text, ünïcödé 世界", "plain text, ünïcödé 世界", id="ordinary text stays"
        ),
        pytest.param("two\nlines\tand a tab", "two\nlines\tand a tab", id="newline and tab stay"),
        pytest.param("\x1b[31mred\x1b[0m", "␛[31mred␛[0m", id="escape sequences become visible"),
        pytest.param("a\x07\x08b", "a␇␈b", id="bell and backspace"),
        pytest.param("a\rb", "a␍b", id="carriage return cannot overwrite a line"),
        pytest.param("\x7f\x9b31m", "␡<U+009B>31m", id="delete and C1"),
        pytest.param("abc\u202edef", "abc<U+202E>def", id="bidi override"),
        pytest.param("pass\u200bword", "pass<U+200B>word", id="zero width"),
        pytest.param("\U000e0041", "<U+E0041>", id="tag characters"),
        pytest.param("👩\u200d🔬", "👩\u200d🔬", id="joined emoji stay joined"),
        pytest.param(
            "می\u200cخواهم", "می\u200cخواهم", id="a joiner between letters of such a script stays"
        ),
        pytest.param(
            "pay\u200dpal", "pay<U+200D>pal", id="a joiner between Latin letters does not"
        ),
        pytest.param("\ud800", "<U+D800>", id="lone surrogate"),
    ],
)
def test_plain(text, expected):
    assert plain(text) == expected


@settings(max_examples=5000)
@given(st.text(st.characters(codec=None)))
def test_no_control_bytes_come_out(text):
    shown = plain(text)

    assert not any(ord(c) < 0x20 and c not in "\n\t" for c in shown)
    assert not any(0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in shown)


@settings(max_examples=500)
@given(
    st.lists(st.text(st.sampled_from("ab\u200d\u200c👩🔬\u202e\x1b世"), max_size=4), max_size=12)
)
def test_pieces_are_as_safe_as_the_whole(pieces):
    shown = Pieces()

    assert "".join([*map(shown.add, pieces), shown.end()]) == plain("".join(pieces))


@settings(max_examples=1000)
@given(st.text(st.characters(codec=None)))
def test_json_is_safe_to_print_and_means_the_same(text):
    shown = json_text({"text": text})

    assert json.loads(shown) == {"text": text}
    assert plain(shown) == shown
