"""Words that stand in very many texts help to order what a rarer word finds, and cost no time of their own."""

import pytest

from sill.adapters.index import schema, write
from sill.adapters.index.index import place_of
from sill.adapters.index.postgres.write import Writer
from sill.adapters.index.rows import FileRows
from sill.adapters.index.search import by_words
from sill.adapters.index.sqlite import SqlitePlace
from sill.core.query import parse_query


def filled(tmp_path, database, texts):
    """One passage for each text, numbered from 1."""
    root = tmp_path / "vault"
    root.mkdir(exist_ok=True)
    place = place_of(root, database)
    rows = tuple((1, 1, "", "", text, number) for number, text in enumerate(texts))
    file = FileRows("all.md", ("all.md", "markdown", 1, 1, 1, "", "", "", ""), rows)
    if isinstance(place, SqlitePlace):
        with schema.writing(place.connection):
            write.take_in(place.connection, [file])
    else:
        with place.connection.writing() as pen, pen.transaction():
            Writer(pen)._take_in([file])
    return place


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
def test_texts_with_the_rare_word_come_first(tmp_path, databases, common, both, question, found):
    place = filled(tmp_path, databases("index"), ["common"] * common + ["common rare"] * both)

    with place.using():
        ids = by_words(place.words, parse_query(question), None)

    assert len(ids) == found
    if "rare" in question:
        assert set(ids[:both]) == set(range(common + 1, common + both + 1))
    place.close()
