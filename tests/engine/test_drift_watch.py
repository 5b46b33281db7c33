import asyncio

from sill.core.certificate import Certificate
from sill.core.drift import Drift
from sill.engine.drift import DriftWatch


class Shelf:
    def __init__(self):
        self.kept = {}

    async def read(self, key):
        return self.kept.get(key)

    async def write(self, key, value):
        self.kept[key] = value


def test_what_bills_teach_outlives_the_process():
    shelf = Shelf()

    async def work():
        first = DriftWatch(shelf.read, shelf.write)
        await first.record("http://a", Certificate("exact", "words", 10, actual=12))
        await first.record("http://a", Certificate("exact", "words", 10, actual=None))
        again = DriftWatch(shelf.read, shelf.write)
        return await again.of("http://a", "words"), await again.of("http://b", "words")

    learned, other = asyncio.run(work())

    assert (learned.calls, learned.billed, learned.most_short) == (1, 12, 2)
    assert other == Drift()
