"""Finding earlier talk by what it means."""

from ..adapters.store import DatabaseStore
from ..adapters.store.meanings import Meanings
from ..errors import UsageError
from ..ports import Embedder, Store
from ..records import Found
from ..settings import Settings
from .embedding import embedder_of

_AT_ONCE = 64
_LONGEST = 4_000  # characters of a text that an embedder gets


async def meant(
    store: Store, settings: Settings, question: str, workspace: str | None, limit: int
) -> list[Found]:
    """The turns closest to the question, by the embedder of the settings."""
    embedder = embedder_of(settings)
    if embedder is None or not isinstance(store, DatabaseStore):
        hint = "sill index --semantic, or set `embedder`"
        raise UsageError("there is no embedder to search by meaning with", hint=hint)
    try:
        return await search_chats(store, embedder, question, workspace, limit)
    finally:
        await embedder.close()


async def search_chats(
    store: DatabaseStore, embedder: Embedder, question: str, workspace: str | None, limit: int
) -> list[Found]:
    """The turns closest to the question. What has no vector yet gets one first, once."""
    meanings = Meanings(store.database, embedder.name)
    while waiting := await meanings.waiting(_AT_ONCE):
        vectors = await embedder.embed([text[:_LONGEST] for _, text in waiting])
        await meanings.keep(
            [(key, vector) for (key, _), vector in zip(waiting, vectors, strict=True)]
        )
    (vector,) = await embedder.embed([question])
    return await meanings.nearest(vector, workspace, limit)
