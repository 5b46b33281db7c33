"""Vectors of passages: kept by what the passage says, so that a moved or renamed text is never embedded twice."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from .parse import embedded_text

_BLOCK = 16_384  # rows that are compared at once
_BEFORE_ALL = -(2**63)
_ALL_AT_ONCE = 100_000  # rows that are kept as float32; past that memory counts more than time


class Vectors:
    """The vectors of one embedder, loaded as they come."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._last = 0
        self._count = 0
        self._hashes: Any = None  # numpy int64, with room to grow
        self._matrix: Any = None  # numpy float32 or float16, one row of length 1 for each hash
        self._by_hash: Any = None  # numpy: the rows in the order of their hashes

    def nearest(
        self,
        connection: sqlite3.Connection,
        vector: Sequence[float],
        count: int,
        allowed: set[int] | None = None,
    ) -> dict[int, float]:
        """Passage ids with their cosine, best first."""
        import numpy

        self.load(connection)
        if self._count == 0:
            return {}
        scores = self._scores(vector)
        # Some vectors belong to texts that are gone, and some passages are not allowed: look further.
        wanted = len(scores) if allowed is not None else min(len(scores), count * 2)
        top = numpy.argpartition(-scores, wanted - 1)[:wanted] if wanted < len(scores) else None
        order = numpy.argsort(-scores) if top is None else top[numpy.argsort(-scores[top])]
        found: dict[int, float] = {}
        for start in range(0, len(order), 500):
            part = order[start : start + 500]
            cosines = dict(zip(self._hashes[part].tolist(), scores[part].tolist(), strict=True))
            ids = self._passages(connection, cosines)
            for hash, cosine in cosines.items():
                for id in ids.get(hash, ()):
                    if allowed is None or id in allowed:
                        found[id] = cosine
            if len(found) >= count:
                break
        return dict(islice(found.items(), count))

    def similarities(self, hashes: Iterable[int], vector: Sequence[float]) -> dict[int, float]:
        """Cosine of the passages with these hashes, as far as they are embedded and loaded."""
        import numpy

        if self._count == 0:
            return {}
        if self._by_hash is None:
            self._by_hash = numpy.argsort(self._hashes[: self._count])
        wanted = numpy.fromiter(set(hashes), dtype=numpy.int64)
        known = self._hashes[: self._count]
        places = numpy.searchsorted(known, wanted, sorter=self._by_hash)
        rows = self._by_hash[numpy.minimum(places, self._count - 1)]
        rows = rows[known[rows] == wanted]
        question = numpy.asarray(vector, dtype=numpy.float32)
        scores = self._matrix[rows].astype(numpy.float32) @ question
        return dict(zip(known[rows].tolist(), scores.tolist(), strict=True))

    def load(self, connection: sqlite3.Connection) -> None:
        """Take in what was embedded since the last time."""
        import numpy

        new, newest = connection.execute(
            "SELECT count(*), max(id) FROM vectors WHERE model = ? AND id > ?",
            (self.model, self._last),
        ).fetchone()
        if not new:
            return
        rows = connection.execute(
            "SELECT hash, vector FROM vectors WHERE model = ? AND id > ? AND id <= ? ORDER BY id",
            (self.model, self._last, newest),
        )
        while part := rows.fetchmany(_BLOCK):
            matrix = numpy.frombuffer(b"".join(row[1] for row in part), dtype=numpy.float16)
            matrix = matrix.reshape(len(part), -1)
            self._make_room(self._count + max(new, len(part)), matrix.shape[1])
            end = self._count + len(part)
            self._matrix[self._count : end] = matrix
            self._hashes[self._count : end] = [row[0] for row in part]
            self._count, new = end, new - len(part)
        self._last, self._by_hash = newest, None

    def _make_room(self, rows: int, dimensions: int) -> None:
        import numpy

        if self._matrix is not None and len(self._matrix) >= rows:
            return
        kind = numpy.float32 if rows <= _ALL_AT_ONCE else numpy.float16
        # Some to spare, so that vectors that come in few by few are not copied each time.
        room = rows if self._matrix is None else rows + rows // 8
        matrix = numpy.empty((room, dimensions), dtype=kind)
        hashes = numpy.empty(room, dtype=numpy.int64)
        if self._matrix is not None:
            matrix[: self._count] = self._matrix[: self._count]
            hashes[: self._count] = self._hashes[: self._count]
        self._matrix, self._hashes = matrix, hashes

    def _scores(self, vector: Sequence[float]) -> Any:
        import numpy

        question = numpy.asarray(vector, dtype=numpy.float32)
        matrix = self._matrix[: self._count]
        if matrix.dtype == numpy.float32:
            return matrix @ question
        blocks = [
            matrix[start : start + _BLOCK].astype(numpy.float32) @ question
            for start in range(0, len(matrix), _BLOCK)
        ]
        return numpy.concatenate(blocks)

    @staticmethod
    def _passages(connection: sqlite3.Connection, hashes: Iterable[int]) -> Mapping[int, list[int]]:
        found: dict[int, list[int]] = {}
        marks = ",".join(map(str, hashes))
        for id, hash in connection.execute(
            f"SELECT id, hash FROM passages WHERE hash IN ({marks})"
        ):
            found.setdefault(hash, []).append(id)
        return found


def pending(
    connection: sqlite3.Connection, model: str, limit: int, after: int | None = None
) -> list[tuple[int, str]]:
    """Passages that have no vector of this model yet, by hash: hash and text.

    ``after`` goes on behind a hash, so that a long run does not look at its own work again and again.
    """
    rows = connection.execute(
        "SELECT p.hash, p.headings, p.text FROM passages p WHERE p.hash > ? AND NOT EXISTS"
        " (SELECT 1 FROM vectors v WHERE v.model = ? AND v.hash = p.hash)"
        " GROUP BY p.hash ORDER BY p.hash LIMIT ?",
        (_BEFORE_ALL if after is None else after, model, limit),
    )
    return [(hash, embedded_text(headings, text)) for hash, headings, text in rows]


def counts(connection: sqlite3.Connection, model: str) -> tuple[int, int]:
    """Distinct passages that are embedded, and that there are."""
    (total,) = connection.execute("SELECT count(DISTINCT hash) FROM passages").fetchone()
    (done,) = connection.execute(
        "SELECT count(*) FROM vectors v WHERE v.model = ?"
        " AND EXISTS (SELECT 1 FROM passages p WHERE p.hash = v.hash)",
        (model,),
    ).fetchone()
    return done, total


def keep(
    connection: sqlite3.Connection, model: str, vectors: Iterable[tuple[int, Sequence[float]]]
) -> None:
    """Store vectors at length 1, as float16."""
    import numpy

    rows = []
    for hash, vector in vectors:
        array = numpy.asarray(vector, dtype=numpy.float32)
        length = float(numpy.linalg.norm(array))
        rows.append((model, hash, (array / (length or 1.0)).astype(numpy.float16).tobytes()))
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(
            "INSERT OR IGNORE INTO vectors (model, hash, vector) VALUES (?,?,?)", rows
        )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def forget_unused(connection: sqlite3.Connection) -> None:
    """Vectors of texts that are in no file any more."""
    connection.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM passages)")
