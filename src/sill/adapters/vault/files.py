"""Every effect that an edit has on the disk goes through ``Fs``: tests stop it before any of them.

Names are always relative to an open directory, and no link is ever followed on the way: checking a path
and then opening it by name can be raced.
"""

import ctypes
import errno
import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NewType, Protocol

from ...errors import VaultBusy

Dir = NewType("Dir", int)
_UNSUPPORTED = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM}


@dataclass(frozen=True, slots=True)
class Meta:
    """What a file is beside its bytes."""

    mode: int
    owner: tuple[int, int] | None = None
    attributes: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Held:
    data: bytes
    meta: Meta
    links: int

    @property
    def sha(self) -> str:
        return sha(self.data)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class NotAFile(OSError):
    """There is something, but it is a link, a folder or a device."""


class Fs(Protocol):
    @property
    def lacks_exchange(self) -> bool:
        """An exchange was tried and could not be done: a save by renaming can slip in between."""
        ...

    # Looking.
    def root(self, path: Path) -> Dir:
        """A directory by its absolute name."""
        ...

    def home(self, path: Path) -> Dir:
        """A directory of our own, made for its owner alone if it is not there."""
        ...

    def lock(self, directory: Dir) -> AbstractContextManager[None]:
        """Nobody else holds it meanwhile; ``VaultBusy`` if somebody does not let go."""
        ...

    def enter(self, parent: Dir, name: str) -> Dir | None:
        """The directory ``name``, None if there is nothing; ``NotAFile`` if it is something else."""
        ...

    def leave(self, directory: Dir) -> None: ...

    def read(self, directory: Dir, name: str) -> Held | None:
        """A regular file, None if there is nothing; ``NotAFile`` if it is something else."""
        ...

    def names(self, directory: Dir) -> list[str]: ...

    def size(self, directory: Dir, name: str) -> int: ...

    def is_free(self, directory: Dir, name: str) -> bool | None:
        """Whether nobody has the file open for writing; None if the system cannot tell."""
        ...

    # Effects.
    def write(self, directory: Dir, name: str, data: bytes, meta: Meta) -> None:
        """A new file with these bytes, on the disk when this returns; never over an existing one."""
        ...

    def rename(self, directory: Dir, old: str, new: str) -> None:
        """Replaces ``new``. Only for files of our own."""
        ...

    def rename_new(self, directory: Dir, old: str, new: str) -> None:
        """``FileExistsError`` if ``new`` is taken."""
        ...

    def exchange(self, directory: Dir, one: str, other: str) -> None:
        """Both names change hands in one step; ``NotImplementedError`` where the disk cannot do that."""
        ...

    def link(self, directory: Dir, old: str, new: str) -> None:
        """``NotImplementedError`` where the disk has no hard links."""
        ...

    def unlink(self, directory: Dir, name: str) -> None: ...

    def make_dir(self, directory: Dir, name: str) -> None: ...

    def remove_dir(self, directory: Dir, name: str) -> None: ...

    def sync(self, directory: Dir) -> None:
        """What was renamed, made and removed in it so far will survive."""
        ...


class DiskFs:
    """The disk of this machine.

    Not ``durable``: nothing waits for the disk, for folders that need not survive a power cut.
    """

    def __init__(
        self,
        *,
        can_exchange: bool = True,
        can_link: bool = True,
        durable: bool = True,
        lock_seconds: float = 10.0,
    ) -> None:
        self._can_exchange = can_exchange
        self._can_link = can_link
        self._durable = durable
        self._lock_seconds = lock_seconds
        self.lacks_exchange = False

    def root(self, path: Path) -> Dir:
        return Dir(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    def home(self, path: Path) -> Dir:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.root(path)

    @contextmanager
    def lock(self, directory: Dir) -> Iterator[None]:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open("lock", flags, 0o600, dir_fd=directory)
        try:
            _flock(descriptor, time.monotonic() + self._lock_seconds)
            yield
        finally:
            os.close(descriptor)

    def enter(self, parent: Dir, name: str) -> Dir | None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return Dir(os.open(name, flags, dir_fd=parent))
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise NotAFile(error.errno, "is not a folder", name) from None
            raise

    def leave(self, directory: Dir) -> None:
        os.close(directory)

    def read(self, directory: Dir, name: str) -> Held | None:
        try:
            descriptor = os.open(name, _READ, dir_fd=directory)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                raise NotAFile(error.errno, "is not a regular file", name) from None
            raise
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NotAFile(errno.EINVAL, "is not a regular file", name)
            data = _read_all(descriptor, status.st_size)
            owner = (status.st_uid, status.st_gid)
            meta = Meta(stat.S_IMODE(status.st_mode), owner, _attributes(descriptor))
            return Held(data, meta, status.st_nlink)
        finally:
            os.close(descriptor)

    def names(self, directory: Dir) -> list[str]:
        return sorted(os.listdir(directory))  # noqa: PTH208

    def size(self, directory: Dir, name: str) -> int:
        return os.stat(name, dir_fd=directory, follow_symlinks=False).st_size

    def is_free(self, directory: Dir, name: str) -> bool | None:
        # The kernel grants a read lease only on a file that nobody has open for writing.
        try:
            descriptor = os.open(name, _READ, dir_fd=directory)
        except OSError:
            return None
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        except BlockingIOError:
            return False
        except (OSError, AttributeError):
            return None
        finally:
            os.close(descriptor)
        return True

    def write(self, directory: Dir, name: str, data: bytes, meta: Meta) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=directory)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            _dress(descriptor, meta)
            self.sync(Dir(descriptor))
        except OSError:
            with suppress(OSError):
                os.unlink(name, dir_fd=directory)
            raise
        finally:
            os.close(descriptor)

    def rename(self, directory: Dir, old: str, new: str) -> None:
        os.rename(old, new, src_dir_fd=directory, dst_dir_fd=directory)

    def rename_new(self, directory: Dir, old: str, new: str) -> None:
        if self._can_exchange:
            with suppress(NotImplementedError):
                return _renameat2(directory, old, new, _NOREPLACE)
        try:
            self.link(directory, old, new)
        except NotImplementedError:
            # Without links the look and the rename are two steps; such disks are rare (exFAT).
            if self.read(directory, new) is not None:
                raise FileExistsError(errno.EEXIST, "is taken", new) from None
            return self.rename(directory, old, new)
        return self.unlink(directory, old)

    def exchange(self, directory: Dir, one: str, other: str) -> None:
        try:
            if not self._can_exchange:
                raise NotImplementedError("no exchange")
            _renameat2(directory, one, other, _EXCHANGE)
        except NotImplementedError:
            self.lacks_exchange = True
            raise

    def link(self, directory: Dir, old: str, new: str) -> None:
        if not self._can_link:
            raise NotImplementedError("no hard links")
        try:
            os.link(old, new, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                raise NotImplementedError("no hard links") from None
            raise

    def unlink(self, directory: Dir, name: str) -> None:
        os.unlink(name, dir_fd=directory)

    def make_dir(self, directory: Dir, name: str) -> None:
        os.mkdir(name, dir_fd=directory)

    def remove_dir(self, directory: Dir, name: str) -> None:
        os.rmdir(name, dir_fd=directory)

    def sync(self, directory: Dir) -> None:
        if self._durable:
            _sync(directory)


def _flock(descriptor: int, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                hint = "wait for it, or stop it"
                raise VaultBusy("another sill is editing this folder", hint=hint) from None
            time.sleep(0.02)


_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOREPLACE, _EXCHANGE = 1, 2


def _renameat2(directory: Dir, old: str, new: str, flags: int) -> None:
    call = _libc_renameat2()
    if call is None:
        raise NotImplementedError("no renameat2")
    if call(directory, os.fsencode(old), directory, os.fsencode(new), flags) == 0:
        return
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        raise NotImplementedError(os.strerror(number))
    raise OSError(number, os.strerror(number), new)


@cache
def _libc_renameat2() -> Any:
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)


def _read_all(descriptor: int, size: int) -> bytes:
    pieces: list[bytes] = []
    while piece := os.read(descriptor, max(size + 1, 65536)):
        pieces.append(piece)
    return b"".join(pieces)


def _attributes(descriptor: int) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
    except OSError:
        return {}


def _dress(descriptor: int, meta: Meta) -> None:
    """Owner, mode and extended attributes, as far as we may set them."""
    if meta.owner is not None and meta.owner != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):
            os.fchown(descriptor, *meta.owner)
    os.fchmod(descriptor, meta.mode)
    for name, value in meta.attributes.items():
        with suppress(OSError):
            os.setxattr(descriptor, name, value)


def _sync(descriptor: int) -> None:
    # On macOS a plain fsync leaves the bytes in the drive's cache.
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(descriptor, full)
    else:
        os.fsync(descriptor)


def default_mode() -> int:
    """What a new file gets: read and write for whom the process's umask allows."""
    try:
        status = Path("/proc/self/status").read_text()
        umask = int(status.split("Umask:\t", 1)[1].split("\n", 1)[0], 8)
    except (OSError, IndexError, ValueError):
        umask = 0o022
    return 0o666 & ~umask


class Walker:
    """Directories below a root, each opened once, without following a link; all closed at the end."""

    def __init__(self, fs: Fs, root: Path) -> None:
        self._fs = fs
        self._open: dict[tuple[str, ...], Dir] = {(): fs.root(root)}

    def __enter__(self) -> "Walker":
        return self

    def __exit__(self, *_: object) -> None:
        for directory in self._open.values():
            self._fs.leave(directory)

    def directory(self, parts: tuple[str, ...]) -> Dir | None:
        """None if there is no such directory; ``NotAFile`` if something on the way is not one."""
        if parts in self._open:
            return self._open[parts]
        parent = self.directory(parts[:-1])
        found = None if parent is None else self._fs.enter(parent, parts[-1])
        if found is not None:
            self._open[parts] = found
        return found

    def forget(self, parts: tuple[str, ...]) -> None:
        """The directory is gone, or will be."""
        directory = self._open.pop(parts, None)
        if directory is not None:
            self._fs.leave(directory)

    def opened(self) -> list[Dir]:
        return list(self._open.values())
