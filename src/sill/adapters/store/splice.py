"""Bytes as what they add to others that they resemble.

Plans and recipes mostly grow at one place: what stands before it and behind it is not kept again.
"""

import functools
import zlib

SHORT = 64  # bytes that are not worth compressing
FEW = 128  # that are not worth it beside what they resemble
_STEP = 4096

# A deflated body never begins so: these are the bits of a kind of block that does not exist.
_PLAIN, _DEFLATED = 0x07, 0x0F
_AS_IT_IS = bytes((_PLAIN, 0, 0))


def pack(body: bytes, frame: bytes = b"") -> bytes:
    """The body as what it adds to ``frame``."""
    if not frame and len(body) <= FEW:
        return _AS_IT_IS + body
    start = common(body, frame)
    end = _common_end(body[start:], frame[start:])
    middle = body[start : len(body) - end]
    if len(middle) <= FEW:
        return bytes((_PLAIN,)) + number(start) + number(end) + middle
    return bytes((_DEFLATED,)) + number(start) + number(end) + deflate(middle, frame)


def unpack(packed: bytes, frame: bytes = b"") -> bytes:
    kind = packed[0]
    if kind not in (_PLAIN, _DEFLATED):
        return inflate(packed, frame)
    start, at = read_number(packed, 1)
    end, at = read_number(packed, at)
    middle = packed[at:] if kind == _PLAIN else inflate(packed[at:], frame)
    return frame[:start] + middle + frame[len(frame) - end :]


def common(one: bytes, other: bytes, likely: int = 0) -> int:
    """How many bytes both begin with: probably as many as ``likely``, and some more."""
    most = min(len(one), len(other))
    same = likely if likely < most and one[:likely] == other[:likely] else 0
    while same < most and one[same : same + _STEP] == other[same : same + _STEP]:
        same += _STEP
    if same >= most:
        return most
    # Both agree up to ``same`` and no longer at ``differs``.
    differs = min(most, same + _STEP)
    if one[same:differs] == other[same:differs]:
        return most
    while differs - same > 1:
        middle = (same + differs) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            differs = middle
    return same


def _common_end(one: bytes, other: bytes) -> int:
    """How many bytes both end with."""
    return common(one[::-1], other[::-1])


# --- Deflate -------------------------------------------------------------------------------------


def deflate(body: bytes, frame: bytes = b"") -> bytes:
    """Without a header. What compressing needs is made as large as the body, which is mostly short."""
    bits = min(15, max(9, (len(body) + len(frame)).bit_length()))
    memory = min(9, max(4, bits - 6))
    squeezer = zlib.compressobj(6, zlib.DEFLATED, -bits, memory, zlib.Z_DEFAULT_STRATEGY, frame)
    return squeezer.compress(body) + squeezer.flush()


def inflate(packed: bytes, frame: bytes = b"") -> bytes:
    reader = zlib.decompressobj(-15, frame)
    return reader.decompress(packed) + reader.flush()


# --- Numbers: seven bits in a byte, the lowest first ----------------------------------------------


@functools.lru_cache(maxsize=4096)
def number(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    written.append(value)
    return bytes(written)


def read_number(body: bytes, at: int) -> tuple[int, int]:
    """The number that is written there, and where it ends."""
    value = shift = 0
    while True:
        byte = body[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
