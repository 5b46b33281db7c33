"""The table of word meanings that comes with Sill. ``scripts/write_lexicon.py`` writes it."""

import zlib
from functools import cache
from importlib.resources import files

from ..core.lexicon import CODE_BYTES, Lexicon


@cache
def load() -> Lexicon:
    """English stems and their codes; read once, when the first turn leaves a window."""
    return parsed(files(__name__).joinpath("english.bin").read_bytes())


def parsed(table: bytes) -> Lexicon:
    """The length of the packed stems in four bytes, the stems, their codes in the same order."""
    length = int.from_bytes(table[:4], "big")
    stems = zlib.decompress(table[4 : 4 + length]).decode().split("\n")
    codes = table[4 + length :]
    assert len(codes) == len(stems) * CODE_BYTES
    return Lexicon({stem: place for place, stem in enumerate(stems)}, codes)


def packed(stems: list[str], codes: bytes) -> bytes:
    text = zlib.compress("\n".join(stems).encode(), 9)
    return len(text).to_bytes(4, "big") + text + codes
