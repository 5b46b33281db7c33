"""Past some number of vectors only their codes are kept; the closest are found all the same."""

import numpy
import pytest

from sill.adapters.index import schema, vectors
from sill.adapters.index.codes import Codes
from sill.adapters.index.vectors import Vectors

DIMENSIONS = 100  # not a multiple of 64


def grouped(count: int, groups: int, seed: int) -> numpy.ndarray:
    """Vectors of length 1 around some centres, as those of texts are, off the middle."""
    centres = numpy.random.default_rng(0).standard_normal((groups, DIMENSIONS)) + 0.5
    chance = numpy.random.default_rng(seed)
    rows = centres[chance.integers(0, groups, count)]
    rows = rows + 0.7 * chance.standard_normal((count, DIMENSIONS))
    return (rows / numpy.linalg.norm(rows, axis=1, keepdims=True)).astype("float32")


@pytest.fixture
def stored(tmp_path):
    """A database with a passage for each of 6,000 vectors."""
    connection = schema.connect(tmp_path / "index.sqlite")
    rows = grouped(6_000, 60, seed=1)
    connection.execute(
        "INSERT INTO files (id, path, kind, size, mtime, inode) VALUES (1,'a','',0,0,0)"
    )
    connection.executemany(
        "INSERT INTO passages (id, file, first, last, title, headings, text, hash)"
        " VALUES (?, 1, 1, 1, '', '', '', ?)",
        [(number, -number * 7) for number in range(1, len(rows) + 1)],
    )
    kept = [(-number * 7, row) for number, row in enumerate(rows, 1)]
    vectors.keep(connection, "m", kept)
    yield connection, rows
    connection.close()


def test_codes_find_what_comparing_everything_finds(stored):
    connection, _ = stored
    whole, coded = Vectors("m"), Vectors("m", all_at_once=1_000)
    questions = grouped(20, 60, seed=2)

    found = [
        len(
            whole.nearest(connection, question, 50).keys()
            & coded.nearest(connection, question, 50).keys()
        )
        for question in questions
    ]

    # Of 6,000 vectors 2,048 are compared exactly; hardly one of the best fifty is not among them.
    assert sum(found) >= 0.99 * 50 * len(questions)


def test_many_vectors_are_chosen_by_their_codes_and_compared_in_memory(tmp_path):
    connection = schema.connect(tmp_path / "index.sqlite")
    rows = grouped(9_000, 60, seed=1)
    connection.execute(
        "INSERT INTO files (id, path, kind, size, mtime, inode) VALUES (1,'a','',0,0,0)"
    )
    connection.executemany(
        "INSERT INTO passages (id, file, first, last, title, headings, text, hash)"
        " VALUES (?, 1, 1, 1, '', '', '', ?)",
        [(number, number) for number in range(9_000)],
    )
    vectors.keep(connection, "m", enumerate(rows))
    many = Vectors("m")
    questions = grouped(20, 60, seed=2)

    found = [set(many.nearest(connection, question, 50)) for question in questions]

    best = [set(numpy.argsort(-(rows @ question))[:50].tolist()) for question in questions]
    assert sum(len(a & b) for a, b in zip(found, best, strict=True)) >= 0.98 * 50 * len(questions)
    connection.execute("DELETE FROM vectors")  # what is compared is in memory
    (first, cosine), *_ = many.nearest(connection, rows[41], 3).items()
    assert (first, cosine) == (41, pytest.approx(1.0, abs=2e-3))
    connection.close()


def test_the_cosines_are_exact(stored):
    connection, rows = stored
    coded = Vectors("m", all_at_once=1_000)

    found = coded.nearest(connection, rows[41], 3)

    assert next(iter(found)) == 42
    assert list(found.values()) == pytest.approx(
        [float(rows[id - 1] @ rows[41]) for id in found], abs=2e-3
    )
    assert coded.similarities(connection, [-42 * 7, 5], rows[41]) == pytest.approx(
        {-42 * 7: 1.0}, abs=2e-3
    )


@pytest.mark.parametrize(
    "all_at_once", [pytest.param(9_999, id="whole"), pytest.param(9, id="codes")]
)
def test_a_search_among_some_finds_the_best_of_those(stored, all_at_once):
    connection, rows = stored
    allowed = set(range(1, 6_001, 3))

    found = Vectors("m", all_at_once).nearest(connection, rows[0], 10, allowed)

    cosines = rows @ rows[0]
    expected = sorted(allowed, key=lambda id: -cosines[id - 1])[:10]
    assert list(found) == expected


def test_vectors_that_come_later_are_found_too(stored):
    connection, rows = stored
    coded = Vectors("m", all_at_once=6_000)
    coded.load(connection)  # whole so far
    new = grouped(500, 60, seed=3)
    connection.executemany(
        "INSERT INTO passages (id, file, first, last, title, headings, text, hash)"
        " VALUES (?, 1, 1, 1, '', '', '', ?)",
        [(number, number) for number in range(7_001, 7_501)],
    )
    vectors.keep(connection, "m", [(7_001 + number, row) for number, row in enumerate(new)])

    assert next(iter(coded.nearest(connection, new[77], 5))) == 7_078
    assert next(iter(coded.nearest(connection, rows[77], 5))) == 78


def test_rows_that_agree_best_are_chosen_in_full():
    codes = Codes(numpy.zeros(3, dtype="float32"), 2)
    codes.add(numpy.array([[1, 1, 1], [1, 1, -1]], dtype="float32"))
    codes.add(numpy.array([[-1, 1, 1], [-1, -1, -1]], dtype="float32"))  # more than there was room

    assert codes.closest([1, 1, 1], 1).tolist() == [0]
    assert codes.closest([1, 1, 1], 2).tolist() == [0, 1, 2]  # two are equally far
    assert codes.closest([1, 1, 1], 1, numpy.array([1, 3])).tolist() == [1]
    assert codes.closest([1, 1, 1], 9).tolist() == [0, 1, 2, 3]
