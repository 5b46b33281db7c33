"""Rows that are kept as what they add to an earlier one."""

from dataclasses import dataclass

from . import splice
from .database import Transaction

DEEPEST = 24


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes that resemble what follows, and the row they are in.

    ``depth`` is how many other rows it takes to read them.
    """

    key: int
    body: bytes
    depth: int


def packed(body: bytes, frame: Frame | None) -> tuple[Frame | None, bytes]:
    """The frame and what the body adds to it, if that is worth it; else the body alone."""
    if frame is not None and frame.depth < DEEPEST and len(body) > splice.FEW:
        added = splice.pack(body, frame.body)
        if len(added) * 4 < len(body):
            return frame, added
    return None, splice.pack(body)


def framed(key: int, body: bytes, base: Frame | None) -> Frame:
    """What the next body can be kept against."""
    return Frame(key, body, base.depth + 1 if base else 0)


class Frames:
    """Reads what is kept against other rows, each of them once."""

    def __init__(self, transaction: Transaction, table: str, column: str) -> None:
        self._transaction = transaction
        self._select = f"SELECT frame, {column} FROM {table} WHERE key = ? AND owner = ?"
        self._known: dict[int, Frame] = {}

    async def get(self, key: int) -> Frame:
        if key not in self._known:
            row = await self._transaction.row(self._select, key, self._transaction.owner)
            assert row is not None
            await self.add(key, *row)
        return self._known[key]

    async def add(self, key: int, base: int | None, packed: bytes) -> Frame:
        """The row with this key."""
        below = None if base is None else await self.get(base)
        found = framed(key, await self.unpacked(base, packed), below)
        self._known[key] = found
        return found

    async def unpacked(self, base: int | None, packed: bytes) -> bytes:
        """What was kept against the row ``base``."""
        return splice.unpack(packed, b"" if base is None else (await self.get(base)).body)
