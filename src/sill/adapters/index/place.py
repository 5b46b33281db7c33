"""Where an index is kept: what its two homes, a SQLite file and a PostgreSQL database, have in common."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ...core.query import Query
from ..vault.scan import Entry, Scan

Progress = Callable[[int, int], None]  # done, of how many
Vector = Sequence[float]

WEIGHTS = (3.0, 2.0, 1.0)
"""Of title, headings and text in BM25."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths that were taken in anew, and that are no more."""

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return len(self.changed) + len(self.removed)

    def __bool__(self) -> bool:
        return self.count > 0


@dataclass(frozen=True, slots=True)
class Difference:
    """What a folder holds beside what the index says: ``known`` is how many files it says anything about."""

    changed: tuple[Entry, ...]
    removed: tuple[str, ...]
    known: int


def difference(entries: Iterable[tuple[str, str, int, int, int]], found: Scan) -> Difference:
    known = {entry[0]: entry for entry in entries}
    changed = tuple(entry for entry in found.entries if known.get(entry.path) != entry)
    removed = known.keys() - {entry.path for entry in found.entries}
    return Difference(changed, tuple(sorted(removed)), len(known))


class Rows(Protocol):
    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def fetchmany(self, size: int, /) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Places for values are written ``?``."""

    def execute(self, sql: str, values: Any = ..., /) -> Rows: ...


class Words(Protocol):
    """The full text of all passages."""

    def find(
        self, query: Query, one_of: Sequence[str], allowed: set[int] | None, limit: int
    ) -> tuple[int, ...]:
        """Passages by BM25, best first: any of the words, all of the phrases, none of what is excluded.

        With ``one_of`` a text must have one of these words; the others only help to order what has.
        """
        ...

    def is_in_more_than(self, count: int, word: str) -> bool: ...


class Meanings(Protocol):
    """The vectors of one embedder."""

    @property
    def model(self) -> str: ...

    def nearest(
        self, connection: Connection, vector: Vector, count: int, allowed: set[int] | None = None
    ) -> Mapping[int, float]:
        """Passage ids with their cosine, best first."""
        ...

    def similarities(
        self, connection: Connection, hashes: Iterable[int], vector: Vector
    ) -> Mapping[int, float]:
        """Cosine of the passages with these hashes, as far as they are embedded."""
        ...


class Place(Protocol):
    """One folder's index, kept somewhere."""

    @property
    def name(self) -> str:
        """Where, for people."""
        ...

    @property
    def connection(self) -> Connection: ...

    @property
    def words(self) -> Words: ...

    @property
    def is_read_while_written(self) -> bool:
        """Whether questions are answered while ``refresh`` runs in another thread."""
        ...

    def using(self) -> AbstractContextManager[None]:
        """Around every use of ``connection`` and ``words``."""
        ...

    def meanings(self, model: str) -> Meanings: ...

    def keep(self, model: str, vectors: Iterable[tuple[int, Vector]]) -> None:
        """By the hash of the passage's text."""
        ...

    def version(self) -> int:
        """Another number when somebody else has written."""
        ...

    def refresh(self, root: Path, found: Scan, progress: Progress | None) -> Changes:
        """Take in what is new or changed, forget what is gone; repair what is damaged."""
        ...

    def rebuild(self) -> None:
        """Throw everything away."""
        ...

    def size(self) -> int:
        """Bytes on the disk."""
        ...

    def close(self) -> None: ...
