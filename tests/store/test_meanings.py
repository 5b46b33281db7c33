"""What was said is found by meaning, on every database, with pgvector and without."""

import asyncio
from collections.abc import Callable

import pytest

from sill.adapters.store import open_store
from sill.adapters.store.meanings import Meanings
from sill.app.meanings import search_chats
from sill.core.certificate import Certificate
from sill.core.messages import Epoch, Message
from sill.ports import Closing, Opening
from sill.testing import BagEmbedder

SAID = [
    ("When was the oven built?", "The bread oven was built in May."),
    ("What do slugs eat?", "Young lettuce, at night."),
    ("How much rain fell?", "Forty millimetres of rain in one night."),
]


@pytest.fixture(
    params=[
        pytest.param("sqlite", id="sqlite"),
        pytest.param("plain", id="postgres", marks=pytest.mark.slow),
        pytest.param("vectors", id="postgres with pgvector", marks=pytest.mark.slow),
    ]
)
def place(request: pytest.FixtureRequest, tmp_path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "sill.db")
    make: Callable[[], str] = request.getfixturevalue("new_postgres")
    url = make()
    if request.param == "vectors":
        add_pgvector(url)
    return url


def add_pgvector(url: str) -> None:
    import psycopg
    from psycopg import conninfo

    from tests.store.servers import server_url

    name = conninfo.conninfo_to_dict(url)["dbname"]
    admin = conninfo.make_conninfo(server_url(), dbname=name)
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")


async def talk(store, workspace: str, said=SAID) -> str:
    chat = await store.new_chat(workspace, f"about {workspace}")
    for question, answer in said:
        opening = Opening(
            (Message("user", question),),
            "m",
            "e",
            Certificate("exact", "t", 1),
            Epoch(),
            "{}",
            b"{}",
        )
        turn = await store.begin(chat, opening)
        await store.finish(turn, Closing("complete", (Message("assistant", answer),)))
    return chat


async def found(store, question: str, workspace: str | None = None) -> list[tuple[str, str]]:
    hits = await search_chats(store, BagEmbedder(), question, workspace, limit=2)
    return [(hit.title, hit.excerpt) for hit in hits]


def test_the_closest_turns_come_first(place):
    async def run():
        store = await open_store(place)
        await talk(store, "garden")
        hits = await found(store, "rain in the night")
        await store.close()
        return hits

    assert asyncio.run(run())[0] == (
        "about garden",
        "How much rain fell? Forty millimetres of rain in one night.",
    )


def test_only_the_wanted_workspace_and_owner_are_searched(place):
    async def run():
        store = await open_store(place)
        other = store.as_owner("somebody else")
        await talk(other, "theirs")
        await talk(store, "garden", SAID[:1])
        await talk(store, "attic", SAID[1:])
        answers = [
            await found(store, "slugs eat lettuce", one) for one in ("garden", "attic", None)
        ]
        answers.append(await found(other, "slugs eat lettuce"))
        await store.close()
        return [[title for title, _ in one] for one in answers]

    assert asyncio.run(run()) == [
        ["about garden"],
        ["about attic", "about attic"],
        ["about attic", "about attic"],
        ["about theirs", "about theirs"],
    ]


def test_a_text_is_embedded_once_and_goes_with_its_chat(place):
    async def run():
        store = await open_store(place)
        chat = await talk(store, "garden", SAID[:2])
        await talk(store, "garden", SAID[:1])
        embedder = BagEmbedder()
        meanings = Meanings(store.database, embedder.name)
        before = len(await meanings.waiting(100))
        await search_chats(store, embedder, "oven", None, 5)
        after = len(await meanings.waiting(100))
        await store.delete_chat(chat)
        left = [hit.excerpt for hit in await search_chats(store, embedder, "lettuce", None, 5)]
        await store.close()
        return before, after, left

    assert asyncio.run(run()) == (
        4,
        0,
        ["When was the oven built? The bread oven was built in May."],
    )


@pytest.mark.slow
def test_pgvector_is_used_once_it_is_installed(new_postgres):
    async def run():
        url = new_postgres()
        store = await open_store(url)
        await talk(store, "garden")
        first = await found(store, "bread oven")
        assert not store.database.has_vectors
        await store.close()
        add_pgvector(url)
        store = await open_store(url)
        second = await found(store, "bread oven")

        async def indexes(transaction):
            return await transaction.rows(
                "SELECT indexdef FROM pg_indexes WHERE tablename = 'meanings'"
            )

        made = [text for (text,) in await store.database.read(indexes)]
        await store.close()
        return (
            first[0] == second[0],
            store.database.has_vectors,
            any("hnsw" in text for text in made),
        )

    assert asyncio.run(run()) == (True, True, True)
