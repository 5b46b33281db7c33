"""The folder of notes, and who knows what they mean."""

from collections.abc import Sequence
from typing import Literal, Protocol

from ..core.graph import LinkReport, NoteLinks
from ..core.rank import Hit
from ..core.references import Reference

SearchMode = Literal["text", "semantic", "hybrid"]


class Embedder(Protocol):
    """Turns texts into vectors that are close where the texts mean the same."""

    @property
    def name(self) -> str:
        """Keys remembered vectors: two embedders of one name must agree on every vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, all of the same length."""
        ...

    async def close(self) -> None: ...


class Vault(Protocol):
    """A folder of notes and code: always what is there now, never anything outside it."""

    async def refresh(self) -> int:
        """Take in what changed since the last look; how many files that were."""
        ...

    async def paths(self) -> list[str]: ...

    async def read(self, path: str) -> str | None:
        """The text of a file of the vault; None if there is no such text file."""
        ...

    async def search(
        self, question: str, limit: int = 10, mode: SearchMode = "hybrid"
    ) -> list[Hit]:
        """The passages that bear on a question, best first, each saying why it is there."""
        ...

    async def references(self, message: str) -> tuple[Reference, ...]:
        """The wikilinks of a message: where they lead, or that they lead nowhere."""
        ...

    async def links(self, path: str) -> NoteLinks: ...

    async def check_links(self) -> LinkReport: ...

    async def related(self, path: str, limit: int = 10) -> list[Hit]:
        """Notes that are close to this one by links, words and meaning: one passage of each."""
        ...

    async def summary(self, path: str) -> str: ...

    async def close(self) -> None: ...
