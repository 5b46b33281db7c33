"""An index in PostgreSQL: several servers share it, one writes at a time, and it mends itself."""

import asyncio
import threading

import psycopg
import pytest

from sill.adapters.index.index import Index, place_of
from sill.adapters.index.postgres import tables, vectors
from sill.adapters.index.postgres.vectors import IndexedVectors
from sill.adapters.index.search import Signals
from sill.adapters.vault.index import DiskVault
from sill.errors import StoreError
from sill.testing import BagEmbedder
from tests.store.servers import server_url
from tests.vault.conftest import add_pgvector

pytestmark = pytest.mark.slow
WORDS = Signals(links=False)


@pytest.fixture
def url(new_postgres):
    return new_postgres()


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nalpha words\n")
    (folder / "b.md").write_text("# B\n\nbeta words, see [[a]]\n")
    return folder


@pytest.fixture
def index(root, url):
    made = Index(root, url)
    made.refresh()
    yield made
    made.close()


def found(index, question):
    return [hit.path for hit in index.search(question, 10, WORDS)]


def damaged(root, url, sql):
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"SET search_path = {tables.schema_name(root)}")
        connection.execute(sql)


def test_it_says_where_it_is_without_any_password(root):
    index = Index(root, "postgresql://ann:secret@db.example/sill")

    assert index.place == f"PostgreSQL at db.example/sill, schema {tables.schema_name(root)}"


def test_nothing_is_made_by_asking_whether_it_is_there(root, url):
    place = place_of(root, url)

    assert [place.is_there(), place.is_there()] == [False, False]
    place.close()


def test_two_folders_in_one_database_know_nothing_of_each_other(index, url, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("alpha too")
    second = Index(other, url)
    second.refresh()

    assert (found(index, "alpha"), found(second, "alpha")) == (["a.md"], ["c.md"])
    second.close()


def test_others_read_while_one_writes_and_whoever_wants_to_write_waits(index, root, url):
    second = Index(root, url)
    (root / "c.md").write_text("gamma")
    begun, waited, goes_on = threading.Event(), threading.Event(), threading.Event()
    looks = []

    def slowly(done, total):
        begun.set()
        goes_on.wait()

    def waiting(done, total):
        looks.append((done, total))
        waited.set()

    first = threading.Thread(target=index.refresh, args=(slowly,))
    first.start()
    begun.wait()
    other = threading.Thread(target=second.refresh, args=(waiting,))
    other.start()
    waited.wait()
    meanwhile = found(second, "alpha"), found(index, "gamma")
    goes_on.set()
    first.join()
    other.join()

    assert meanwhile == (["a.md"], [])
    assert set(looks) == {(0, 3)}
    assert (found(index, "gamma"), found(second, "gamma")) == (["c.md"], ["c.md"])
    second.close()


def test_one_who_waits_can_give_up(index, root, url):
    class GivenUp(Exception):
        pass

    def no(done, total):
        raise GivenUp

    (root / "c.md").write_text("gamma")
    with index._place.connection.writing():
        second = Index(root, url)
        with pytest.raises(GivenUp):
            second.refresh(no)
    second.refresh()

    assert found(second, "gamma") == ["c.md"]
    second.close()


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("DROP TABLE words", id="a table is gone"),
        pytest.param("ALTER TABLE files DROP COLUMN inode", id="a column is gone"),
        pytest.param("DROP SCHEMA {} CASCADE", id="everything is gone"),
    ],
)
def test_a_damaged_index_is_made_again(index, root, url, damage):
    damaged(root, url, damage.format(tables.schema_name(root)))
    index.refresh()

    assert (found(index, "alpha"), found(index, "beta")) == (["a.md"], ["b.md"])


def test_a_connection_that_is_lost_is_replaced(index, url):
    assert found(index, "alpha") == ["a.md"]

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    assert found(index, "alpha") == ["a.md"]


def test_a_connection_that_others_may_get_next_is_left_as_it_was(index):
    asked = "SELECT current_setting('search_path'), current_setting('synchronous_commit')"
    found(index, "alpha")
    place = index._place

    with place.connection.writing() as pen:
        with pen.transaction():
            pass
        written = pen.connection.execute(asked).fetchone()
    with place.connection._pool.connection() as connection:
        read = connection.execute(asked).fetchone()

    assert [read, written] == [('"$user", public', "on")] * 2


def test_a_server_that_is_not_there_is_told(root, tmp_path):
    index = Index(root, f"postgresql://nobody@/nothing?host={tmp_path}&connect_timeout=2")

    with pytest.raises(StoreError, match="the database"):
        index.refresh()
    index.close()


def test_every_character_can_be_kept(index, root):
    (root / "odd.md").write_text(
        "x" * 9_000 + "\n\nzero\0byte 'quoted' \\back\t tab % ? 𝔘 \ue000\n"
    )
    index.refresh()

    assert found(index, "quoted tab") == ["odd.md"]
    assert "zero\ufffdbyte 'quoted' \\back\t tab % ?" in index.search("quoted", 1, WORDS)[0].text


class TestVectors:
    def test_what_was_embedded_before_pgvector_came_is_not_embedded_again(self, root, url):
        async def scenario(embedder):
            vault = DiskVault(root, url, embedder=embedder)
            await vault.refresh()
            made = await vault.embed_pending()
            hits = [hit.path for hit in await vault.search("# B beta", 2, "semantic")]
            kind = vault.index._vectors._last
            await vault.close()
            return made, hits, isinstance(kind, IndexedVectors)

        before = asyncio.run(scenario(BagEmbedder()))
        add_pgvector(url)
        after = asyncio.run(scenario(BagEmbedder()))

        assert before == (2, ["b.md", "a.md"], False)
        assert after == (0, ["b.md", "a.md"], True)

    def test_when_pgvector_goes_they_are_made_again(self, root, url):
        add_pgvector(url)
        index = Index(root, url, model="m")
        index.refresh()
        index.keep_vectors([(hash, [1.0, 0.0]) for hash, _ in index.pending(10)])
        name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        administrator = psycopg.conninfo.make_conninfo(server_url(), dbname=name)
        with psycopg.connect(administrator, autocommit=True) as connection:
            connection.execute("DROP EXTENSION vector CASCADE")
        index.close()

        again = Index(root, url, model="m")
        assert (len(again.pending(10)), vectors.installed(again._connection)) == (2, None)
        again.close()

    def test_a_question_finds_the_same_with_and_without_pgvector(self, root, url, new_postgres):
        for number in range(60):
            (root / f"n{number}.md").write_text(f"note {number} about topic {number % 7}\n")
        with_extension = new_postgres()
        add_pgvector(with_extension)

        async def closest(database, allowed):
            vault = DiskVault(root, database, embedder=BagEmbedder())
            await vault.refresh()
            await vault.embed_pending()
            vector = await vault._embedded("about topic 3")
            with vault.index._using():
                found = vault.index._vectors.nearest(vault.index._connection, vector, 100, allowed)
            await vault.close()
            return {id: round(cosine, 2) for id, cosine in found.items()}

        for allowed in (None, {3, 5, 7}):
            plain = asyncio.run(closest(url, allowed))

            assert asyncio.run(closest(with_extension, allowed)) == plain
            assert len(plain) == (62 if allowed is None else 3)

    def test_many_vectors_have_an_index_of_their_own(self, root, url):
        add_pgvector(url)
        index = Index(root, url, model="m")
        index.refresh()
        rows = [(number, [1.0, number / 500, 0.5]) for number in range(500)]
        with index._place.connection.writing() as pen, pen.transaction():
            vectors.keep(pen.connection, "m", rows, indexed_from=500)
            pen.connection.execute("ANALYZE vectors")
            found = pen.connection.execute(
                "SELECT indexdef FROM pg_indexes WHERE tablename = 'vectors'"
            )
            kinds = [definition.split("USING ")[1][:4] for (definition,) in found]

        with index._using():
            meanings = IndexedVectors("m", vectors.installed(index._connection))
            closest = meanings._closest(index._connection, [1.0, 0.0, 0.5], 3, None)
        index.close()

        assert (sorted(kinds), list(closest)) == (["btre", "btre", "hnsw"], [0, 1, 2])


QUESTIONS = [
    "who repaired the mill", '"old stone mill"', "mill -stone", '"stone mill" repaired', "foo_bar",
    "connected connections", "Crème brûlée", "reparaturen der mühle", "title words", "stone stone mill",
]  # fmt: skip


TEXTS = [
    "The old stone mill was repaired by Tolvik. The mill stands in Reka.",
    "# Mill\n\nA stone mill, an old stone, a mill.",
    "Connections are connected by connecting them. foo_bar",
    "Crème brûlée, creme brulee, and a mill that was never repaired.",
    "Die Mühle und ihre Reparaturen. stone",
    "# Words of a title\n\nmill mill mill stone and quite some other text to make it longer than others",
    "words words words title",
]


def test_the_order_by_words_is_that_of_sqlite(root, url, tmp_path):
    for number, text in enumerate(TEXTS):
        (root / f"title {number}.md").write_text(text)

    def orders(database):
        index = Index(root, database)
        index.refresh()
        answers = {question: found(index, question) for question in QUESTIONS}
        index.close()
        return answers

    expected = orders(tmp_path / "index.sqlite")

    assert orders(url) == expected
    assert all(expected.values())
