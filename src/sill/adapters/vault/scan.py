"""What lies in a folder, without ever following a link.

Folders are opened one inside the other by descriptor, so that no name on the way can be swapped for a
link between looking and opening. Pipes, devices and sockets are never opened for reading.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from .ignore import NO_RULES, Rules, is_ignored, parse_rules

Kind = Literal["markdown", "text", "code", "attachment"]

DEEPEST = 100  # folders inside each other; deeper ones are left out and named
LARGEST = 4_000_000  # bytes of a file that are looked at
_LARGEST_IGNORE_FILE = 1_000_000
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


_EXTENSIONS: Mapping[Kind, str] = {
    "markdown": "md markdown mdown mkd",
    "code": (
        "py pyi js mjs cjs ts tsx jsx java kt kts scala c h cc cpp cxx hh hpp cs go rs rb php pl pm lua r jl "
        "swift m mm sh bash zsh fish ps1 bat sql html htm css scss sass less xml yaml yml toml ini cfg conf "
        "json jsonl json5 vue svelte dart ex exs erl hrl hs elm clj cljs lisp scm el vim ml mli fs fsx nim "
        "zig v vhd proto graphql gql tf cmake mk gradle dockerfile ipynb"
    ),
    "attachment": (
        "png jpg jpeg gif webp avif svg bmp ico tif tiff heic pdf mp3 m4a wav ogg opus flac mp4 mov mkv webm "
        "avi zip gz bz2 xz zst 7z tar rar jar whl so dylib dll exe bin o a class pyc pyo db sqlite sqlite3 "
        "woff woff2 ttf otf eot doc docx xls xlsx ppt pptx odt ods odp epub psd ai sketch fig parquet npy npz "
        "pt onnx gguf safetensors pkl lock map canvas base"
    ),
}
_KINDS: Mapping[str, Kind] = {
    extension: kind for kind, extensions in _EXTENSIONS.items() for extension in extensions.split()
}


class Entry(NamedTuple):
    """One file as the folder lists it. A tuple, because every look at a large folder makes one for each file."""

    path: str
    kind: Kind
    size: int
    mtime: int
    inode: int


@dataclass(frozen=True, slots=True)
class Skipped:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Scan:
    entries: tuple[Entry, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """What a user wants in and out, as ``.gitignore`` patterns; ``own`` are folders that Sill writes itself."""

    include: Rules = NO_RULES
    exclude: Rules = NO_RULES
    own: frozenset[str] = field(default_factory=frozenset)

    def takes(self, path: str) -> bool:
        return not self.include.patterns or bool(self.include.verdict(path))


def choice(
    include: tuple[str, ...] = (), exclude: tuple[str, ...] = (), own: tuple[str, ...] = ()
) -> Choice:
    return Choice(parse_rules(include), parse_rules(exclude), frozenset(own))


def kind_of(name: str) -> Kind:
    _, dot, extension = name.rpartition(".")
    if dot and (kind := _KINDS.get(extension) or _KINDS.get(extension.lower())):
        return kind
    # An unknown extension may be text; its first bytes decide when it is read.
    return "code" if name.lower() in ("makefile", "dockerfile", "justfile") else "text"


def scan(root: Path, wanted: Choice | None = None) -> Scan:
    """Every file below ``root`` that is not hidden, ignored or unwanted, sorted by path."""
    skipped: list[Skipped] = []
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        found: list[Entry] = []
        _walk(descriptor, "", wanted or Choice(), [], (found, skipped))
    finally:
        os.close(descriptor)
    return Scan(tuple(sorted(found)), tuple(skipped))


def _walk(
    folder: int,
    base: str,
    wanted: Choice,
    rules: list[tuple[str, Rules]],
    results: tuple[list[Entry], list[Skipped]],
) -> None:
    """Add what is in a folder and below it to the results."""
    found, skipped = results
    rules = _with_own_rules(folder, base, rules)
    folders: list[str] = []
    with os.scandir(folder) as listing:
        for item in listing:
            name = item.name
            if name.startswith("."):
                continue
            path = f"{base}/{name}" if base else name
            if not name.isascii() and not _is_text(name):
                skipped.append(Skipped(_shown(path), "its name is not valid text"))
                continue
            is_folder = item.is_dir(follow_symlinks=False)
            if is_folder and path in wanted.own:
                continue
            if (rules and is_ignored(path, is_folder, rules)) or (
                wanted.exclude.patterns and wanted.exclude.verdict(path, folder=is_folder)
            ):
                continue
            if is_folder:
                folders.append(name)
                continue
            if not item.is_file(follow_symlinks=False):
                reason = "is a link" if item.is_symlink() else "is not a regular file"
                skipped.append(Skipped(path, reason))
                continue
            if wanted.takes(path):
                status = item.stat(follow_symlinks=False)
                found.append(
                    Entry(path, kind_of(name), status.st_size, status.st_mtime_ns, status.st_ino)
                )
    for name in folders:
        path = f"{base}/{name}" if base else name
        if path.count("/") >= DEEPEST:
            skipped.append(Skipped(path, "is too deep"))
            continue
        try:
            inner = os.open(name, _FOLDER, dir_fd=folder)
        except OSError as error:
            skipped.append(Skipped(path, (error.strerror or "cannot be opened").lower()))
            continue
        try:
            _walk(inner, path, wanted, rules, results)
        finally:
            os.close(inner)


def _with_own_rules(
    folder: int, base: str, rules: list[tuple[str, Rules]]
) -> list[tuple[str, Rules]]:
    data = _read_at(folder, ".gitignore", _LARGEST_IGNORE_FILE)
    if data is None:
        return rules
    own = parse_rules(data.decode(errors="replace").splitlines())
    return [*rules, (base, own)] if own.patterns else rules


def open_inside(root: Path, path: str) -> int | None:
    """A descriptor of the regular file at ``path``; None if it is not one or lies behind a link."""
    *folders, name = path.split("/")
    if not name or any(part in ("", ".", "..") for part in [*folders, name]) or "\0" in path:
        return None
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError:
        return None
    finally:
        os.close(folder)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def read_inside(root: Path, path: str, most: int = LARGEST) -> bytes | None:
    """At most that many bytes of a file of the folder; None if it cannot be read."""
    descriptor = open_inside(root, path)
    if descriptor is None:
        return None
    try:
        return _read(descriptor, most)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def is_binary(data: bytes) -> bool:
    return b"\0" in data[:8192]


def _read_at(folder: int, name: str, most: int) -> bytes | None:
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return _read(descriptor, most)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _read(descriptor: int, most: int) -> bytes:
    pieces: list[bytes] = []
    left = most
    while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(path: str) -> str:
    return path.encode(errors="surrogateescape").decode(errors="replace")
