"""Bytes into text and back, so that what is not edited comes back byte for byte."""

import codecs
from dataclasses import dataclass
from typing import Literal

Codec = Literal["utf-8", "utf-16-le", "utf-16-be"]
_MARKS: tuple[tuple[bytes, Codec], ...] = (
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A UTF-8 byte order mark stays in the text; the mark of UTF-16 is part of how it is written."""

    text: str
    codec: Codec = "utf-8"

    def encode(self, text: str) -> bytes:
        """Another text, written the way this one was."""
        mark = next((mark for mark, codec in _MARKS if codec == self.codec), b"")
        return mark + text.encode(self.codec)


def decode(data: bytes) -> Decoded | None:
    """The exact text; None for bytes that are not UTF-8, nor UTF-16 with its mark, or that hold a NUL."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], codec)
    return _strict(data, "utf-8")


def _strict(data: bytes, codec: Codec) -> Decoded | None:
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else Decoded(text, codec)
