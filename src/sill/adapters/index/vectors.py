"""Vectors of passages: kept by what the passage says, so that a moved or renamed text is never embedded twice."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from .codes import Codes
from .parse import embedded_text
from .place import Connection

_BLOCK = 16_384  # rows that are loaded at once
_BEFORE_ALL = -(2**63)
ALL_AT_ONCE = 100_000  # rows that are kept whole in memory; past that only their codes are
_CODED = 8_192  # rows from where on codes choose which ones are compared exactly
CANDIDATES = 2_048  # of those


class Vectors:
    """The vectors of one embedder, loaded as they come."""

    def __init__(self, model: str, all_at_once: int = ALL_AT_ONCE) -> None:
        self.model = model
        self._most = all_at_once
        self._looked_at = 0  # the newest vector of any model, when it was last looked for new ones
        self._last = 0
        self._count = 0
        self._hashes: Any = None  # numpy int64, with room to grow
        self._ids: Any = None  # the same, and where they are stored
        self._matrix: Any = (
            None  # numpy float32, one row of length 1 for each hash, as long as they are few
        )
        self._codes: Codes | None = None  # of the same rows, as soon as they are many
        self._by_hash: Any = None  # numpy: the rows in the order of their hashes

    def nearest(
        self,
        connection: Connection,
        vector: Sequence[float],
        count: int,
        allowed: set[int] | None = None,
    ) -> dict[int, float]:
        """Passage ids with their cosine, best first."""
        self.load(connection)
        if self._count == 0:
            return {}
        among = None if allowed is None else self._rows(hashes_of(connection, allowed))
        hashes, scores = self._scored(connection, vector, among)
        found: dict[int, float] = {}
        # Some vectors belong to texts that are gone: look further until there are enough.
        for start in range(0, len(hashes), 2 * count):
            part = hashes[start : start + 2 * count].tolist()
            cosines = dict(zip(part, scores[start : start + 2 * count].tolist(), strict=True))
            ids = passages_with(connection, cosines)
            for hash, cosine in cosines.items():
                for id in ids.get(hash, ()):
                    if allowed is None or id in allowed:
                        found[id] = cosine
            if len(found) >= count:
                break
        return dict(islice(found.items(), count))

    def similarities(
        self, connection: Connection, hashes: Iterable[int], vector: Sequence[float]
    ) -> dict[int, float]:
        """Cosine of the passages with these hashes, as far as they are embedded and loaded."""

        if self._count == 0:
            return {}
        rows = self._rows(hashes)
        scores = _cosines(self._exact(connection, rows), vector)
        return dict(zip(self._hashes[rows].tolist(), scores.tolist(), strict=True))

    def load(self, connection: Connection) -> None:
        """Take in what was embedded since the last time."""
        import numpy

        (latest,) = connection.execute("SELECT max(id) FROM vectors").fetchone()
        if latest is None or latest == self._looked_at:
            return
        # By id: databases would rather walk through all vectors of the model, and sort them.
        new, newest = connection.execute(
            "SELECT count(*), max(id) FROM vectors WHERE id > ? AND model || '' = ?",
            (self._last, self.model),
        ).fetchone()
        self._looked_at = latest
        if not new:
            return
        rows = connection.execute(
            "SELECT id, hash, vector FROM vectors WHERE id > ? AND id <= ? AND model || '' = ? ORDER BY id",
            (self._last, newest, self.model),
        )
        self._hashes = _with_room(self._hashes, self._count, self._count + new)
        self._ids = _with_room(self._ids, self._count, self._count + new)
        while part := rows.fetchmany(_BLOCK):
            matrix = numpy.frombuffer(b"".join(row[2] for row in part), dtype=numpy.float16)
            self._add(matrix.reshape(len(part), -1), self._count + new)
            end = self._count + len(part)
            self._ids[self._count : end] = [row[0] for row in part]
            self._hashes[self._count : end] = [row[1] for row in part]
            self._count, new = end, new - len(part)
        self._last, self._by_hash = newest, None

    def _add(self, matrix: Any, total: int) -> None:
        """Behind the rows there are; ``total`` is how many there will be."""
        if self._codes is None and total > min(_CODED, self._most):
            first = matrix if self._matrix is None else self._matrix[: self._count]
            self._codes = Codes(first.mean(axis=0, dtype="float32"), total)
            if self._matrix is not None:
                self._codes.add(first)
        if self._codes is not None:
            self._codes.add(matrix)
        if total > self._most:
            self._matrix = None
            return
        self._matrix = _with_room(self._matrix, self._count, total, matrix.shape[1])
        self._matrix[self._count : self._count + len(matrix)] = matrix

    def _scored(
        self, connection: Connection, vector: Sequence[float], among: Any
    ) -> tuple[Any, Any]:
        """Hashes and cosines of the rows that may be closest, best first."""
        import numpy

        if self._codes is not None:
            rows = self._codes.closest(vector, CANDIDATES, among)
            scores = _cosines(self._exact(connection, rows), vector)
        elif among is not None:
            rows, scores = among, _cosines(self._matrix[among], vector)
        else:
            rows, scores = numpy.arange(self._count), _cosines(self._matrix[: self._count], vector)
        order = numpy.argsort(-scores, kind="stable")
        return self._hashes[rows[order]], scores[order]

    def _rows(self, hashes: Iterable[int]) -> Any:
        """The rows of these hashes, as far as there are any."""
        import numpy

        known = self._hashes[: self._count]
        if self._by_hash is None:
            self._by_hash = numpy.argsort(known)
        wanted = numpy.fromiter(set(hashes), dtype=numpy.int64)
        places = numpy.searchsorted(known, wanted, sorter=self._by_hash)
        rows = self._by_hash[numpy.minimum(places, self._count - 1)]
        return rows[known[rows] == wanted]

    def _exact(self, connection: Connection, rows: Any) -> Any:
        """The vectors of these rows."""
        import numpy

        if self._matrix is not None:
            return self._matrix[rows]
        assert self._codes is not None
        ids = self._ids[rows].tolist()
        marks = ",".join(map(str, ids))
        found = dict(connection.execute(f"SELECT id, vector FROM vectors WHERE id IN ({marks})"))
        none = bytes(2 * len(self._codes.middle))
        stored = b"".join(found.get(id, none) for id in ids)
        vectors = numpy.frombuffer(stored, dtype=numpy.float16).reshape(len(ids), -1)
        return vectors.astype(numpy.float32)


def _cosines(rows: Any, vector: Sequence[float]) -> Any:
    """Of rows of length 1 and a vector of length 1.

    Not by ``@``: the threads behind it keep a core busy long after so little work is done.
    """
    import numpy

    return numpy.einsum("ij,j->i", rows, numpy.asarray(vector, dtype=numpy.float32))


def _with_room(array: Any, used: int, rows: int, *shape: int) -> Any:
    """The array, or a larger one with the same beginning; int64 for a list, float32 for a matrix."""
    import numpy

    if array is not None and len(array) >= rows:
        return array
    # Some to spare, so that vectors that come in few by few are not copied each time.
    room = rows if array is None else rows + rows // 8
    larger = numpy.empty((room, *shape), dtype=numpy.float32 if shape else numpy.int64)
    if array is not None:
        larger[:used] = array[:used]
    return larger


def passages_with(connection: Connection, hashes: Iterable[int]) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = {}
    marks = ",".join(map(str, hashes))
    for id, hash in connection.execute(f"SELECT id, hash FROM passages WHERE hash IN ({marks})"):
        found.setdefault(hash, []).append(id)
    return found


def hashes_of(connection: Connection, passages: set[int]) -> set[int]:
    wanted = sorted(passages)
    found: set[int] = set()
    for start in range(0, len(wanted), 5_000):
        marks = ",".join(map(str, wanted[start : start + 5_000]))
        rows = connection.execute(f"SELECT hash FROM passages WHERE id IN ({marks})")
        found.update(hash for (hash,) in rows)
    return found


def pending(
    connection: Connection, model: str, limit: int, after: int | None = None
) -> list[tuple[int, str]]:
    """Passages that have no vector of this model yet, by hash: hash and text.

    ``after`` goes on behind a hash, so that a long run does not look at its own work again and again.
    """
    rows = connection.execute(
        "SELECT p.hash, p.headings, p.text FROM passages p WHERE p.hash > ? AND NOT EXISTS"
        " (SELECT 1 FROM vectors v WHERE v.model = ? AND v.hash = p.hash)"
        " AND NOT EXISTS (SELECT 1 FROM passages q WHERE q.hash = p.hash AND q.id < p.id)"
        " ORDER BY p.hash LIMIT ?",
        (_BEFORE_ALL if after is None else after, model, limit),
    )
    return [(hash, embedded_text(headings, text)) for hash, headings, text in rows]


def counts(connection: Connection, model: str) -> tuple[int, int]:
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
    rows = [(model, hash, unit(vector).tobytes()) for hash, vector in vectors]
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(
            "INSERT OR IGNORE INTO vectors (model, hash, vector) VALUES (?,?,?)", rows
        )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def unit(vector: Sequence[float]) -> Any:
    """The vector at length 1, as float16."""
    import numpy

    array = numpy.asarray(vector, dtype=numpy.float32)
    length = float(numpy.linalg.norm(array))
    return (array / (length or 1.0)).astype(numpy.float16)
