"""Words as a search compares them: exactly those of SQLite's full text, which this stands in for elsewhere."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.lexemes import lexemes
from sill.core.porter import stem

SCRIPTS = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x1EA0, 0x1EF9), (0x391, 0x3C9), (0x410, 0x45F), (0x5D0, 0x5EA),
    (0x621, 0x64A), (0x904, 0x939), (0x3041, 0x3093), (0x4E00, 0x4E80), (0xAC00, 0xAC80), (0x300, 0x30F),
]  # fmt: skip
LETTERS = st.one_of(
    *(
        st.characters(min_codepoint=first, max_codepoint=last, exclude_categories=["Cn"])
        for first, last in SCRIPTS
    )
)


@pytest.fixture(scope="module")
def sqlite_words():
    """The words that SQLite makes of a text, in order."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize='porter unicode61 remove_diacritics 2')"
    )
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab (texts, instance)")

    def words(text):
        connection.execute("DELETE FROM texts")
        connection.execute("INSERT INTO texts VALUES (?)", (text,))
        rows = connection.execute("SELECT term FROM vocabulary ORDER BY offset")
        return [term for (term,) in rows]

    yield words
    connection.close()


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("Connected connections, connecting", ["connect"] * 3, id="endings"),
        pytest.param("Crème BRÛLÉE", ["creme", "brule"], id="accents"),
        pytest.param("cre\u0300me", ["creme"], id="accents that stand alone"),
        pytest.param("don't foo_bar 3.14", ["don", "t", "foo", "bar", "3", "14"], id="what parts words"),
        pytest.param("ЁЛКА Σίσυφος", ["ёлка", "σίσυφοσ"], id="other alphabets keep their marks"),
        pytest.param("東京タワー ok", ["東京タワー", "ok"], id="scripts without spaces"),
        pytest.param("... --- _", [], id="nothing"),
    ],
)  # fmt: skip
def test_words_of_a_text(sqlite_words, text, expected):
    assert lexemes(text) == expected == sqlite_words(text)


@given(text=st.text(LETTERS, max_size=60))
def test_they_are_those_of_sqlite_in_every_script(sqlite_words, text):
    assert lexemes(text) == sqlite_words(text)


def test_the_stems_of_a_whole_documentation_are_those_of_sqlite(sqlite_words):
    docs = Path(__file__).parents[2] / "docs"
    text = "\n".join(path.read_text() for path in sorted(docs.rglob("*.md")))

    assert lexemes(text) == sqlite_words(text)


@given(word=st.text(st.sampled_from("aeiouybdlnrstz"), min_size=1, max_size=12))
def test_a_stem_is_never_empty_nor_longer_by_more_than_a_letter(word):
    assert 0 < len(stem(word)) <= len(word) + 1


def test_a_very_long_word_is_cut_and_found_all_the_same():
    assert lexemes("x" * 5_000) == lexemes("x" * 6_000) == ["x" * 500]
