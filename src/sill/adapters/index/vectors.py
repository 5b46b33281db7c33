"""Vectors of passages: kept by what the passage says, so that a moved or renamed text is never embedded twice."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from .parse import embedded_text

_BLOCK = 16_384  # rows that are compared at once
_ALL_AT_ONCE = 100_000  # rows that are kept as float32; past that memory counts more than time


class Vectors:
    """The vectors of one embedder, loaded as they come."""

    def __init__(self, model: str) -> None:
        self.model = model
        self._last = 0
        self._hashes: Any = None  # numpy int64
        self._matrix: Any = None  # numpy float32 or float16, one row per hash, of length 1

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
        if self._matrix is None or len(self._matrix) == 0:
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

        if self._matrix is None or len(self._matrix) == 0:
            return {}
        wanted = numpy.fromiter(set(hashes), dtype=numpy.int64)
        rows = numpy.nonzero(numpy.isin(self._hashes, wanted))[0]
        question = numpy.asarray(vector, dtype=numpy.float32)
        scores = self._matrix[rows].astype(numpy.float32) @ question
        return dict(zip(self._hashes[rows].tolist(), scores.tolist(), strict=True))

    def load(self, connection: sqlite3.Connection) -> None:
        """Take in what was embedded since the last time."""
        import numpy

        rows = connection.execute(
            "SELECT id, hash, vector FROM vectors WHERE model = ? AND id > ? ORDER BY id",
            (self.model, self._last),
        ).fetchall()
        if not rows:
            return
        self._last = rows[-1][0]
        hashes = numpy.array([row[1] for row in rows], dtype=numpy.int64)
        matrix = numpy.frombuffer(b"".join(row[2] for row in rows), dtype=numpy.float16)
        matrix = matrix.reshape(len(rows), -1)
        if self._matrix is not None:
            hashes = numpy.concatenate([self._hashes, hashes])
            matrix = numpy.concatenate([self._matrix, matrix.astype(self._matrix.dtype)])
        kind = numpy.float32 if len(hashes) <= _ALL_AT_ONCE else numpy.float16
        self._hashes, self._matrix = hashes, matrix.astype(kind, copy=False)

    def _scores(self, vector: Sequence[float]) -> Any:
        import numpy

        question = numpy.asarray(vector, dtype=numpy.float32)
        if self._matrix.dtype == numpy.float32:
            return self._matrix @ question
        blocks = [
            self._matrix[start : start + _BLOCK].astype(numpy.float32) @ question
            for start in range(0, len(self._matrix), _BLOCK)
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


def pending(connection: sqlite3.Connection, model: str, limit: int) -> list[tuple[int, str]]:
    """Passages that have no vector of this model yet: hash and text."""
    rows = connection.execute(
        "SELECT p.hash, p.headings, p.text FROM passages p WHERE NOT EXISTS"
        " (SELECT 1 FROM vectors v WHERE v.model = ? AND v.hash = p.hash) GROUP BY p.hash LIMIT ?",
        (model, limit),
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
