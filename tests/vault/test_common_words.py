"""Words that stand in very many texts help to order what a rarer word finds, and cost no time of their own."""

import pytest

from sill.adapters.index import schema
from sill.adapters.index.search import by_words
from sill.adapters.index.sqlite import SqliteWords
from sill.core.query import parse_query


def filled(path, common: int, both: int):
    """Texts with a common word, of which the last ones have a rare one too."""
    connection = schema.connect(path)
    texts = ["common"] * common + ["common rare"] * both
    connection.executemany(
        "INSERT INTO passages (id, file, first, last, title, headings, text, hash)"
        " VALUES (?, 1, 1, 1, '', '', ?, ?)",
        [(number, text, number) for number, text in enumerate(texts, start=1)],
    )
    connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
    return connection


@pytest.mark.parametrize(
    "common, both, question, found",
    [
        pytest.param(50, 2, "common rare", 52, id="in a small vault all are ordered"),
        pytest.param(3_500, 20, "common rare", 20, id="the rare word finds enough"),
        pytest.param(3_500, 2, "common rare", 100, id="the rare word finds too little: the rest follows"),
        pytest.param(30_500, 2, "common rare", 2, id="in a huge vault the rest says nothing"),
        pytest.param(30_500, 2, "common nowhere", 100, id="the rare word is nowhere"),
        pytest.param(30_500, 2, "common", 100, id="there is no rare word"),
    ],
)  # fmt: skip
def test_texts_with_the_rare_word_come_first(tmp_path, common, both, question, found):
    connection = filled(tmp_path / "index.sqlite", common, both)

    ids = by_words(SqliteWords(connection), parse_query(question), None)

    assert len(ids) == found
    if "rare" in question:
        assert set(ids[:both]) == set(range(common + 1, common + both + 1))
    connection.close()
