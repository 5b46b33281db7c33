"""One bit for each dimension of a vector: small enough to be kept for all, close enough to choose from.

A code says on which side of the middle a vector lies in each dimension. Vectors that are close agree in
most of them, so the few whose codes agree best hold the closest ones; those few are then compared exactly.
"""

from collections.abc import Sequence
from typing import Any


class Codes:
    """Codes of rows in the order they were added; 48 bytes for a vector of 384 dimensions."""

    def __init__(self, middle: Any, room: int) -> None:
        import numpy

        self.middle = middle
        self._words = -(-len(middle) // 64)
        # One row of codes for each 64 dimensions, so that each is gone through from end to end.
        self._codes = numpy.empty((self._words, room), dtype=numpy.uint64)
        self.count = 0

    def add(self, vectors: Any) -> None:
        """``vectors`` has one in each row."""
        import numpy

        end = self.count + len(vectors)
        if end > self._codes.shape[1]:
            larger = numpy.empty((self._words, end + end // 8), dtype=numpy.uint64)
            larger[:, : self.count] = self._codes[:, : self.count]
            self._codes = larger
        self._codes[:, self.count : end] = self._encoded(vectors).T
        self.count = end

    def closest(self, vector: Sequence[float], count: int, among: Any = None) -> Any:
        """At least ``count`` rows (or all there are) whose codes agree best, in no order.

        ``among`` are the rows that may be chosen.
        """
        import numpy

        rows = self._codes[:, : self.count] if among is None else self._codes[:, among]
        if rows.shape[1] <= count:
            return numpy.arange(self.count) if among is None else among
        (own,) = self._encoded(numpy.asarray([vector], dtype=numpy.float32))
        apart = numpy.zeros(rows.shape[1], dtype=numpy.uint16)
        for word, mine in zip(rows, own, strict=True):
            apart += numpy.bitwise_count(word ^ mine)
        # Distances are small whole numbers: counting them is quicker than sorting.
        limit = int(numpy.searchsorted(numpy.cumsum(numpy.bincount(apart)), count))
        chosen = numpy.flatnonzero(apart <= limit)
        return chosen if among is None else among[chosen]

    def _encoded(self, vectors: Any) -> Any:
        import numpy

        bits = numpy.packbits(vectors > self.middle, axis=1)
        padded = numpy.zeros((len(bits), self._words * 8), dtype=numpy.uint8)
        padded[:, : bits.shape[1]] = bits
        return padded.view(numpy.uint64)
