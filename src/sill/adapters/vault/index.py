"""A folder as a vault: searched, linked, and watched while it is open."""

import asyncio
import contextlib
import hashlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from ...core.graph import Edge, LinkReport, NoteLinks
from ...core.rank import Hit, fit
from ...core.references import Reference
from ...errors import ProviderError, UsageError
from ...paths import data_dir, private
from ...ports import Embedder, SearchMode
from ..index.index import Index, Status
from ..index.place import Changes, Progress
from ..index.search import Signals
from .scan import Choice
from .watch import changes

_EMBED_AT_ONCE = 64


class _GivenUp(Exception):
    """Ends a look in its thread when nobody waits for it any more."""


def database_for(root: Path) -> Path:
    """Where the index of a folder is kept: outside it, one file for each folder."""
    name = hashlib.sha256(str(root.resolve()).encode(errors="surrogateescape")).hexdigest()[:16]
    return private(data_dir() / "index") / f"{name}.sqlite"


class DiskVault:
    """One folder of this machine. Everything runs in a worker thread; no call blocks the loop.

    Its index is the file ``database``, or in the PostgreSQL database at that address; else below the data folder.
    """

    def __init__(
        self,
        root: Path,
        database: Path | str | None = None,
        *,
        wanted: Choice | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        if not root.is_dir():
            raise UsageError(f"{root}: there is no such folder")
        self.root = root.resolve()
        self.embedder = embedder
        model = embedder.name if embedder else ""
        self.index = Index(self.root, database or database_for(self.root), wanted, model)
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking = asyncio.Lock()

    async def refresh(self, progress: Progress | None = None) -> int:
        return (await self.take_in(progress)).count

    async def take_in(self, progress: Progress | None = None) -> Changes:
        """What changed since the last look. Cancelled, it stops soon and keeps what it has read."""
        given_up = threading.Event()

        def advance(done: int, total: int) -> None:
            if given_up.is_set():
                raise _GivenUp
            if progress:
                progress(done, total)

        async with self._looking:
            try:
                return await asyncio.to_thread(self.index.refresh, advance)
            except asyncio.CancelledError:
                given_up.set()
                raise

    async def paths(self) -> list[str]:
        return await asyncio.to_thread(self.index.paths)

    async def read(self, path: str) -> str | None:
        return await asyncio.to_thread(self.index.read, path)

    async def search(
        self, question: str, limit: int = 10, mode: SearchMode = "hybrid"
    ) -> list[Hit]:
        signals = await self._signals(question, mode)
        return await asyncio.to_thread(self.index.search, question, limit, signals)

    async def context(
        self, question: str, budget: int, tokens: Callable[[Hit], int], limit: int = 100
    ) -> list[Hit]:
        """Passages for a question that together stay within ``budget``, however many links a note has."""
        return fit(await self.search(question, limit), tokens, budget)

    async def references(self, message: str) -> tuple[Reference, ...]:
        return await asyncio.to_thread(self.index.references, message)

    async def links(self, path: str) -> NoteLinks:
        return await asyncio.to_thread(self.index.links, path)

    async def edges(self) -> list[Edge]:
        return await asyncio.to_thread(self.index.edges)

    async def check_links(self) -> LinkReport:
        return await asyncio.to_thread(self.index.check_links)

    async def related(self, path: str, limit: int = 10) -> list[Hit]:
        vector = None
        if self.embedder and (text := await self.read(path)):
            vector = await self._embedded(text)
        return await asyncio.to_thread(self.index.related, path, limit, vector)

    async def summary(self, path: str) -> str:
        return await asyncio.to_thread(self.index.summary, path)

    async def unsummarized(self) -> list[tuple[str, str]]:
        """Path and state of each text that says nothing about itself and has no summary yet."""
        return await asyncio.to_thread(self.index.unsummarized)

    async def keep_summary(self, fingerprint: str, text: str, model: str) -> None:
        """What a model wrote about the text of this state, wherever the file goes."""
        await asyncio.to_thread(self.index.keep_summary, fingerprint, text, model)

    async def status(self) -> Status:
        return await asyncio.to_thread(self.index.status)

    async def embed_pending(self, progress: Progress | None = None) -> int:
        """Give every passage its vector; can be stopped at any time and goes on where it was."""
        if self.embedder is None:
            return 0
        status = await self.status()
        done, total = status.embedded, status.to_embed
        made = 0
        after: int | None = None
        while True:
            waiting = await asyncio.to_thread(self.index.pending, _EMBED_AT_ONCE, after)
            if not waiting and after is None:
                return made
            if not waiting:  # once more from the start, for what came in meanwhile
                after = None
                continue
            vectors = await self.embedder.embed([text for _, text in waiting])
            rows = [(hash, vector) for (hash, _), vector in zip(waiting, vectors, strict=True)]
            await asyncio.to_thread(self.index.keep_vectors, rows)
            after = waiting[-1][0]
            made += len(rows)
            if progress:
                progress(min(done + made, total), total)

    def watch(self, seen: Callable[[Changes], None] | None = None) -> None:
        """Keep the index fresh from now on, in the background: full text at once, vectors behind it."""
        task = asyncio.create_task(self._watching(seen))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await asyncio.to_thread(self.index.close)
        if self.embedder is not None:
            await self.embedder.close()

    async def _watching(self, seen: Callable[[Changes], None] | None) -> None:
        embedding: asyncio.Task[int] | None = None
        try:
            async for _ in changes(self.root):
                changed = await self.take_in()
                if changed and seen:
                    seen(changed)
                if self.embedder and (embedding is None or embedding.done()):
                    embedding = asyncio.create_task(self._embed_quietly())
        finally:
            if embedding is not None:
                embedding.cancel()

    async def _embed_quietly(self) -> int:
        """An embedder that fails now is asked again after the next change; search goes on without it."""
        try:
            return await self.embed_pending()
        except ProviderError:
            return 0

    async def _signals(self, question: str, mode: SearchMode) -> Signals:
        if mode == "text":
            return Signals(links=False)
        if self.embedder is None:
            if mode == "semantic":
                hint = "sill index --semantic, or set an embedding endpoint"
                raise UsageError("there is no embedder to search by meaning with", hint=hint)
            return Signals()
        vector = await self._embedded(question)
        return Signals(text=mode == "hybrid", vector=vector, links=mode == "hybrid")

    async def _embedded(self, text: str) -> Sequence[float]:
        assert self.embedder is not None
        (vector,) = await self.embedder.embed([text[:4000]])
        length = sum(value * value for value in vector) ** 0.5
        return [value / (length or 1.0) for value in vector]
