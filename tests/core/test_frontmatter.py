"""Properties of a note; what cannot be read is left out, never an error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.frontmatter import Properties, inline_tags, properties


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("# no front matter", Properties(), id="none"),
        pytest.param("---\ntitle: A\n", Properties(), id="never closed"),
        pytest.param(" ---\ntitle: A\n---\n", Properties(), id="not at the first byte"),
        pytest.param("---\ntitle: A b # c\n---\n", Properties(title="A b"), id="title and comment"),
        pytest.param('---\ntitle: "A: #b"\n---\n', Properties(title="A: #b"), id="quotes"),
        pytest.param("---\ntitle: 'it''s'\n---\n", Properties(title="it's"), id="single quotes"),
        pytest.param("---\ntitle: A\r\n---\r\n", Properties(title="A"), id="Windows line ends"),
        pytest.param(
            "---\naliases: [One, 'Two, 3', \"Four\"]\n---\n",
            Properties(aliases=("One", "Two, 3", "Four")),
            id="list in brackets",
        ),
        pytest.param(
            "---\naliases:\n  - One\n  - 'Two'\n-  Three\n---\n",
            Properties(aliases=("One", "Two", "Three")),
            id="list with dashes",
        ),
        pytest.param("---\naliases: One\n---\n", Properties(aliases=("One",)), id="one alias"),
        pytest.param("---\nalias: One\n---\n", Properties(), id="the singular form is no property"),
        pytest.param("---\ntags: [a/B, '#c']\n---\n", Properties(tags=("a/b", "c")), id="tags"),
        pytest.param("---\ntags: a, b\n---\n", Properties(tags=("a", "b")), id="tags in a line"),
        pytest.param("---\nsummary: S\n---\n", Properties(summary="S"), id="summary"),
        pytest.param("---\ndescription: D\n---\n", Properties(summary="D"), id="description"),
        pytest.param(
            "---\nsummary: >-\n  two\n  lines\ntitle: T\n---\n",
            Properties(title="T", summary="two lines"),
            id="folded text",
        ),
        pytest.param("---\ntitle:\naliases:\n---\n", Properties(), id="empty values"),
        pytest.param("---\n{[}:\n\t- : :\ntitle: T\n---\n", Properties(title="T"), id="bad YAML"),
        pytest.param(
            "---\naliases: [a, [b, c]\n---\n", Properties(aliases=("a",)), id="half a list"
        ),
    ],
)
def test_properties(text, expected):
    assert properties(text) == expected


@given(st.text(alphabet="---\n:[]'\"#ab ,|>", max_size=60))
def test_no_front_matter_is_an_error(text):
    assert isinstance(properties("---\n" + text + "\n---\n"), Properties)


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("#a and #B/c", ("a", "b/c"), id="plain and nested"),
        pytest.param("#123 #1a", ("1a",), id="one character is no digit"),
        pytest.param("# heading", (), id="heading"),
        pytest.param("x#a `#b` (#c)", ("c",), id="inside a word, in code, in parentheses"),
    ],
)
def test_inline_tags(text, expected):
    assert inline_tags(text) == expected
