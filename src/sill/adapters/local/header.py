"""What a GGUF file says about itself, read from its first bytes alone.

The ``gguf`` package reads this too, but takes a second and NumPy to do it; here it is needed at every start.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...errors import LocalModelError

MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_LARGEST_WINDOW = 16_384
_ONE_GIB = 1 << 30

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Header:
    """The facts of one weight file that Sill acts on."""

    path: Path
    name: str
    architecture: str
    trained_window: int
    has_template: bool
    cache_bytes_per_token: int  # of the KV cache at 16 bits; 0 if the file does not say

    @property
    def window(self) -> int:
        """What the model was trained for, but no more than an ordinary machine can hold."""
        return min(self.trained_window, _LARGEST_WINDOW)


def name_of(path: Path) -> str:
    """What people call these weights."""
    return path.stem.lstrip(".")


def slots_for(header: Header, window: int) -> int:
    """How many chats are kept and answered at once.

    Two, so that a second Sill does not wait for the first or throw its prefix out of the cache;
    one when two full windows would take more than a GiB of memory.
    """
    return 2 if 2 * window * header.cache_bytes_per_token <= _ONE_GIB else 1


def read_header(path: Path) -> Header:
    """The header of ``path``, or a ``LocalModelError`` that says why it cannot serve."""
    try:
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise LocalModelError(
                    f"{path} is not a GGUF file",
                    hint="give the path of a model in llama.cpp's format",
                )
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                facts = dict(_facts(data))
    except FileNotFoundError:
        raise LocalModelError(
            f"there are no model weights at {path}",
            hint="`sill model pull` fetches the bundled ones",
        ) from None
    except OSError as error:
        raise LocalModelError(f"{path} cannot be read: {error.strerror}") from error
    except (struct.error, KeyError, ValueError, RecursionError) as error:
        raise LocalModelError(
            f"{path} is damaged: its header ends in the middle", hint="fetch the file again"
        ) from error
    return _header(path, facts)


def _header(path: Path, facts: dict[str, Scalar]) -> Header:
    architecture = str(facts.get("general.architecture", ""))

    def number(key: str) -> int:
        value = facts.get(f"{architecture}.{key}", 0)
        return value if isinstance(value, int) else 0

    if not number("context_length"):
        raise LocalModelError(f"{path} does not say how long its window is")
    heads = number("attention.head_count")
    head = number("embedding_length") // heads if heads else 0
    keys, values = number("attention.key_length") or head, number("attention.value_length") or head
    kept = (number("attention.head_count_kv") or heads) * (keys + values)
    return Header(
        path=path,
        name=name_of(path),
        architecture=architecture,
        trained_window=number("context_length"),
        has_template=bool(facts.get("tokenizer.chat_template")),
        cache_bytes_per_token=2 * number("block_count") * kept,
    )


def _facts(data: mmap.mmap) -> Iterator[tuple[str, Scalar]]:
    """Every key with a single value. Lists (vocabularies, mostly) are walked over."""
    version, _tensors, count = struct.unpack_from("<IQQ", data, 4)
    if version not in (2, 3):
        raise ValueError(version)
    at = 24
    for _ in range(count):
        key, at = _text(data, at)
        (kind,) = struct.unpack_from("<I", data, at)
        at += 4
        if kind == _ARRAY:
            at = _after_array(data, at)
        elif kind == _STRING:
            value, at = _text(data, at)
            yield key, value
        else:
            yield key, struct.unpack_from(_SCALARS[kind], data, at)[0]
            at += struct.calcsize(_SCALARS[kind])


def _text(data: mmap.mmap, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<Q", data, at)
    end = at + 8 + length
    if end > len(data):
        raise ValueError(length)
    return data[at + 8 : end].decode(), end


def _after_array(data: mmap.mmap, at: int) -> int:
    kind, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if kind == _ARRAY:
        for _ in range(count):
            at = _after_array(data, at)
    elif kind == _STRING:
        length_at = struct.Struct("<Q").unpack_from
        for _ in range(count):
            at += 8 + length_at(data, at)[0]
    else:
        at += count * struct.calcsize(_SCALARS[kind])
    if at > len(data):
        raise ValueError(count)
    return at
