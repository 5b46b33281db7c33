"""A disk in memory that can lose power, and a wrapper that stops any disk before a chosen effect.

What a file system may do at a power cut is modelled per directory: a file's bytes are safe once written
(``write`` syncs them), but of the names changed in a directory since its last ``sync`` any first part may be lost.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sill.adapters.vault.files import Dir, Held, Meta, NotAFile

EFFECTS = (
    "write",
    "rename",
    "rename_new",
    "exchange",
    "link",
    "unlink",
    "make_dir",
    "remove_dir",
    "sync",
)


class Crash(BaseException):
    """The process is dead: nothing that handles errors may see it."""


@dataclass(eq=False)
class File:
    data: bytes
    meta: Meta = field(default_factory=lambda: Meta(0o644))
    writers: int = 0


@dataclass(eq=False)
class Folder:
    names: dict[str, "File | Folder"] = field(default_factory=dict)
    safe: dict[str, "File | Folder"] = field(default_factory=dict)
    unsafe: list[Callable[[dict[str, "File | Folder"]], None]] = field(default_factory=list)

    def change(self, step: Callable[[dict[str, "File | Folder"]], None]) -> None:
        step(self.names)
        self.unsafe.append(step)

    def sync(self) -> None:
        self.safe, self.unsafe = dict(self.names), []

    def lose_power(self, kept: Callable[[int], int]) -> None:
        names = dict(self.safe)
        for step in self.unsafe[: kept(len(self.unsafe))]:
            step(names)
        self.names = names
        self.sync()
        for inner in names.values():
            if isinstance(inner, Folder):
                inner.lose_power(kept)


class MemoryFs:
    def __init__(self, *, can_exchange: bool = True, can_link: bool = True) -> None:
        self.top = Folder()
        self._open: dict[int, Folder] = {}
        self._next = 0
        self._can_exchange, self._can_link = can_exchange, can_link
        self.lacks_exchange = not can_exchange

    # The world outside: what editors and people do.

    def put(self, path: str, data: bytes | None) -> None:
        folder, name = self._at(path)
        if data is None:
            folder.names.pop(name, None)
        else:
            folder.names[name] = File(data)
        folder.sync()

    def file(self, path: str) -> File | None:
        folder, name = self._at(path)
        found = folder.names.get(name)
        return found if isinstance(found, File) else None

    def tree(self, path: str = "ws") -> dict[str, bytes]:
        return dict(_files(self._folder(path), ""))

    def _at(self, path: str) -> tuple[Folder, str]:
        """People make the folders they save into."""
        parent, _, name = path.rpartition("/")
        return self._folder(parent), name

    def _folder(self, path: str) -> Folder:
        folder = self.top
        for part in filter(None, path.split("/")):
            if part not in folder.names:
                folder.names[part] = Folder()
                folder.sync()
            inner = folder.names[part]
            assert isinstance(inner, Folder)
            folder = inner
        return folder

    def restart(self) -> None:
        self._open.clear()

    def lose_power(self, kept: Callable[[int], int]) -> None:
        self.restart()
        self.top.lose_power(kept)

    # Looking.

    def root(self, path: Path) -> Dir:
        return self._handle(self._folder(str(path)))

    home = root

    @contextmanager
    def lock(self, directory: Dir) -> Iterator[None]:
        yield

    def enter(self, parent: Dir, name: str) -> Dir | None:
        found = self._open[parent].names.get(name)
        if isinstance(found, File):
            raise NotAFile(20, "is not a folder", name)
        return None if found is None else self._handle(found)

    def _handle(self, folder: Folder) -> Dir:
        self._next += 1
        self._open[self._next] = folder
        return Dir(self._next)

    def leave(self, directory: Dir) -> None:
        self._open.pop(directory, None)

    def read(self, directory: Dir, name: str) -> Held | None:
        found = self._open[directory].names.get(name)
        if isinstance(found, Folder):
            raise NotAFile(21, "is a folder", name)
        return None if found is None else Held(found.data, found.meta, 1)

    def names(self, directory: Dir) -> list[str]:
        return sorted(self._open[directory].names)

    def size(self, directory: Dir, name: str) -> int:
        held = self.read(directory, name)
        return len(held.data) if held else 0

    def is_free(self, directory: Dir, name: str) -> bool | None:
        found = self._open[directory].names.get(name)
        return None if found is None else isinstance(found, File) and not found.writers

    # Effects.

    def write(self, directory: Dir, name: str, data: bytes, meta: Meta) -> None:
        folder = self._open[directory]
        if name in folder.names:
            raise FileExistsError(17, "exists", name)
        made = File(data, meta)
        folder.change(lambda names: names.__setitem__(name, made))

    def rename(self, directory: Dir, old: str, new: str) -> None:
        self._require(directory, old)

        def step(names: dict[str, Any]) -> None:
            if old in names:
                names[new] = names.pop(old)

        self._open[directory].change(step)

    def rename_new(self, directory: Dir, old: str, new: str) -> None:
        self._require(directory, old)
        if new in self._open[directory].names:
            raise FileExistsError(17, "exists", new)
        self.rename(directory, old, new)

    def exchange(self, directory: Dir, one: str, other: str) -> None:
        if not self._can_exchange:
            raise NotImplementedError
        self._require(directory, one)
        self._require(directory, other)

        def step(names: dict[str, Any]) -> None:
            # Lost before it: a name that was never safe has nothing to trade.
            if one in names and other in names:
                names[one], names[other] = names[other], names[one]

        self._open[directory].change(step)

    def link(self, directory: Dir, old: str, new: str) -> None:
        if not self._can_link:
            raise NotImplementedError
        self._require(directory, old)

        def step(names: dict[str, Any]) -> None:
            if old in names:
                names[new] = names[old]

        self._open[directory].change(step)

    def unlink(self, directory: Dir, name: str) -> None:
        self._require(directory, name)
        self._open[directory].change(lambda names: names.pop(name, None) and None)

    def make_dir(self, directory: Dir, name: str) -> None:
        if name in self._open[directory].names:
            raise FileExistsError(17, "exists", name)
        made = Folder()
        self._open[directory].change(lambda names: names.__setitem__(name, made))

    def remove_dir(self, directory: Dir, name: str) -> None:
        self._require(directory, name)
        inner = self._open[directory].names[name]
        if isinstance(inner, Folder) and inner.names:
            raise OSError(39, "not empty", name)
        self._open[directory].change(lambda names: names.pop(name, None) and None)

    def sync(self, directory: Dir) -> None:
        self._open[directory].sync()

    def _require(self, directory: Dir, name: str) -> None:
        if name not in self._open[directory].names:
            raise FileNotFoundError(2, "missing", name)


def _files(folder: Folder, at: str) -> Iterator[tuple[str, bytes]]:
    for name, inner in sorted(folder.names.items()):
        if isinstance(inner, Folder):
            yield f"{at}{name}/", b""
            yield from _files(inner, f"{at}{name}/")
        else:
            yield at + name, inner.data


class Stopping:
    """Any disk, until effect number ``stop``: then ``how`` happens instead of it.

    A write can also be stopped in its middle: half of the bytes are there, and nobody knows of them.
    """

    def __init__(
        self,
        fs: Any,
        stop: int | None,
        how: Callable[[], BaseException] = Crash,
        *,
        torn: bool = False,
    ) -> None:
        self._fs = fs
        self._stop = stop
        self._how = how
        self._torn = torn
        self.effects = 0
        self.before: Callable[[int, str, tuple[Any, ...]], None] | None = None

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._fs, name)
        if name not in EFFECTS:
            return inner

        def effect(*arguments: Any) -> Any:
            if self.before:
                self.before(self.effects, name, arguments)
            if self.effects == self._stop:
                self.effects += 1
                if name == "write" and self._torn:
                    directory, file, data, meta = arguments
                    self._fs.write(directory, file, data[: len(data) // 2], meta)
                raise self._how()
            self.effects += 1
            return inner(*arguments)

        return effect
