"""Vectors in PostgreSQL: pgvector's where it is installed, else bytes that are compared here."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..place import Connection, Meanings, Vector
from ..vectors import Vectors, hashes_of, passages_with, unit

if TYPE_CHECKING:
    from psycopg import Connection as OwnConnection

_HALF = "halfvec"
_AT_ONCE = 1_000
INDEXED_FROM = 10_000  # vectors; fewer are all compared, which takes no longer and misses none
_LONGEST_INDEXED = 4_000  # dimensions; pgvector's index takes no longer vectors


@dataclass(frozen=True, slots=True)
class Extension:
    """pgvector, in a schema that is on nobody's path here: everything of its is called by its full name."""

    schema: str

    def type(self, dimensions: int | None = None) -> str:
        return f"{self.schema}.halfvec" + (f"({dimensions})" if dimensions else "")

    @property
    def apart(self) -> str:
        """Between two vectors: one minus their cosine."""
        return f"OPERATOR({self.schema}.<=>)"


def installed(connection: Any) -> Extension | None:
    row = connection.execute(
        "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
        " WHERE extname = 'vector'"
    ).fetchone()
    return None if row is None else Extension(row[0])


def kept_as(connection: Any) -> str | None:
    """The type of the vectors that are there; None if their column is gone."""
    row = connection.execute(
        "SELECT typname FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid"
        " WHERE attrelid = to_regclass('vectors') AND attname = 'vector' AND NOT attisdropped"
    ).fetchone()
    return None if row is None else str(row[0])


def is_adapted(connection: Any) -> bool:
    """Whether vectors are kept the way the database can now."""
    return kept_as(connection) == ("bytea" if installed(connection) is None else _HALF)


def adapt(connection: "OwnConnection[Any]") -> Extension | None:
    """Keep vectors the way the database can now; what is there already is taken along."""
    extension = installed(connection)
    if is_adapted(connection):
        return extension
    with connection.transaction():
        if kept_as(connection) is None:  # the extension has gone, and taken its vectors along
            connection.execute("TRUNCATE vectors")
            connection.execute("ALTER TABLE vectors ADD COLUMN vector BYTEA NOT NULL")
        if extension is not None:
            connection.execute(f"ALTER TABLE vectors ADD COLUMN better {extension.type()}")
            _convert(connection, extension)
            connection.execute("ALTER TABLE vectors DROP COLUMN vector")
            connection.execute("ALTER TABLE vectors RENAME COLUMN better TO vector")
            connection.execute("ALTER TABLE vectors ALTER vector SET NOT NULL")
    return extension


def _convert(connection: "OwnConnection[Any]", extension: Extension) -> None:
    import numpy

    last = 0
    while rows := connection.execute(
        "SELECT id, vector FROM vectors WHERE id > %s ORDER BY id LIMIT %s", (last, _AT_ONCE)
    ).fetchall():
        values = [(_written(numpy.frombuffer(v, dtype=numpy.float16)), id) for id, v in rows]
        with connection.cursor() as cursor:
            cursor.executemany(
                f"UPDATE vectors SET better = %s::{extension.type()} WHERE id = %s",
                values,
            )
        last = rows[-1][0]


def keep(
    connection: "OwnConnection[Any]",
    model: str,
    vectors: Iterable[tuple[int, Vector]],
    indexed_from: int = INDEXED_FROM,
) -> None:
    """At length 1. Two who embed the same text at once agree."""
    extension = adapt(connection)
    made = [(hash, unit(vector)) for hash, vector in vectors]
    place = "%s" if extension is None else f"%s::{extension.type()}"
    with connection.transaction(), connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO vectors (model, hash, vector) VALUES (%s, %s, {place}) ON CONFLICT DO NOTHING",
            [(model, hash, v.tobytes() if extension is None else _written(v)) for hash, v in made],
        )
    if made and extension is not None and len(made[0][1]) <= _LONGEST_INDEXED:
        rows = connection.execute("SELECT count(*) FROM vectors WHERE model = %s", (model,))
        if any(count >= indexed_from for (count,) in rows):
            _index(connection, extension, model, len(made[0][1]))


def _index(
    connection: "OwnConnection[Any]", extension: Extension, model: str, dimensions: int
) -> None:
    """One for each embedder, because distances between vectors of two of them mean nothing."""
    from psycopg import sql

    name = "vectors_" + hashlib.sha256(f"{dimensions} {model}".encode()).hexdigest()[:16]
    known = connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()
    if known is not None and known[0] is not None:
        return
    statement = (
        f"CREATE INDEX IF NOT EXISTS {name} ON vectors USING hnsw"
        f" ((vector::{extension.type(dimensions)}) {extension.schema}.halfvec_cosine_ops) WHERE model = "
    )
    connection.execute(sql.SQL(statement) + sql.Literal(model))


class IndexedVectors:
    """The vectors of one embedder, compared by pgvector; nothing of them is kept here."""

    def __init__(self, model: str, extension: Extension) -> None:
        self.model = model
        self._extension = extension

    def nearest(
        self, connection: Connection, vector: Vector, count: int, allowed: set[int] | None = None
    ) -> dict[int, float]:
        found: dict[int, float] = {}
        wanted = None if allowed is None else list(hashes_of(connection, allowed))
        # Some vectors belong to texts that are gone: if too many of them are close, all are looked at.
        for limit in (2 * count, None):
            cosines = self._closest(connection, vector, limit, wanted)
            ids = passages_with(connection, cosines)
            found = {
                id: cosine
                for hash, cosine in cosines.items()
                for id in ids.get(hash, ())
                if allowed is None or id in allowed
            }
            if len(found) >= count:
                break
        return dict(islice(found.items(), count))

    def similarities(
        self, connection: Connection, hashes: Iterable[int], vector: Vector
    ) -> dict[int, float]:
        wanted = list(set(hashes))
        return self._closest(connection, vector, len(wanted), wanted) if wanted else {}

    def _closest(
        self, connection: Connection, vector: Vector, limit: int | None, among: list[int] | None
    ) -> dict[int, float]:
        """Hashes with their cosine, best first; all of them without ``limit``.

        The index is asked for a few of all; some of many are compared each, because it would look past them.
        """
        kind = self._extension.type(len(vector))
        apart = f"vector::{kind} {self._extension.apart} ?::{kind}"
        some = "" if among is None else " AND hash = ANY(?)"
        is_by_index = limit is not None and among is None
        rows = connection.execute(
            f"WITH those AS {'NOT' if is_by_index else ''} MATERIALIZED"
            f" (SELECT hash, vector FROM vectors WHERE model = ?{some})"
            f" SELECT hash, 1 - ({apart}) FROM those ORDER BY {apart} LIMIT {limit or 'ALL'}",
            (self.model, *([] if among is None else [among]), *[_written(vector)] * 2),
        )
        return dict(rows.fetchall())


class PostgresVectors:
    """The vectors of one embedder, compared wherever that is possible now."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._here = Vectors(model)
        self._last: Meanings = self._here

    def nearest(
        self, connection: Connection, vector: Vector, count: int, allowed: set[int] | None = None
    ) -> Mapping[int, float]:
        # Another server may have begun to use pgvector meanwhile.
        extension = installed(connection) if kept_as(connection) == _HALF else None
        self._last = self._here if extension is None else IndexedVectors(self.model, extension)
        return self._last.nearest(connection, vector, count, allowed)

    def similarities(
        self, connection: Connection, hashes: Iterable[int], vector: Vector
    ) -> Mapping[int, float]:
        """As the last search was made."""
        return self._last.similarities(connection, hashes, vector)


def _written(vector: Sequence[float] | Any) -> str:
    return "[" + ",".join(map(str, vector)) + "]"
