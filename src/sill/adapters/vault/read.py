"""Reading one file as text, or saying exactly why not."""

import os
import stat
from pathlib import Path

from ...core.documents import Document
from ...errors import FileRefused


def read_document(root: Path, path: str | Path, max_bytes: int) -> Document:
    """The file's exact text under its name relative to ``root``; ``FileRefused`` names it otherwise.

    A path outside ``root`` keeps its absolute name: the user named it, so it may be read.
    """
    location = root / Path(path).expanduser()
    name = _name(root, location)
    data = read_bytes(location, name, max_bytes)
    if b"\0" in data[:8192]:
        raise FileRefused(name, "looks like a binary file", hint="only text files can be sent")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        hint = "save it as UTF-8 first"
        raise FileRefused(name, f"not UTF-8 text (byte {error.start})", hint=hint) from None
    return Document(name, text)


def read_bytes(location: Path, name: str, max_bytes: int) -> bytes:
    """The bytes of a regular file of at most ``max_bytes``; never blocks on a pipe or a device."""
    try:
        descriptor = os.open(location, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise FileRefused(name, "there is no such file") from None
    except OSError as error:
        raise FileRefused(name, (error.strerror or "cannot be read").lower()) from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise FileRefused(name, "is a folder", hint="name the files in it")
        if not stat.S_ISREG(status.st_mode):
            raise FileRefused(name, "is not a regular file")
        if status.st_size > max_bytes:
            raise FileRefused(
                name,
                f"has {status.st_size:,} bytes, more than the limit of {max_bytes:,}",
                hint="raise max_file_bytes if it is meant",
            )
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            return stream.read(max_bytes)
    finally:
        os.close(descriptor)


def _name(root: Path, location: Path) -> str:
    absolute = Path(os.path.abspath(location))
    base = Path(os.path.abspath(root))
    inside = absolute.is_relative_to(base)
    return (absolute.relative_to(base) if inside else absolute).as_posix()
