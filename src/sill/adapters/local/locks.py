"""File locks that the kernel gives back when their holder dies, however it dies."""

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

Kind = Literal["shared", "exclusive"]
_FLAGS = {"shared": fcntl.LOCK_SH, "exclusive": fcntl.LOCK_EX}
_PAUSE = 0.02


class FileLock:
    """One hold on one lock file; let go by ``release``, by leaving ``with``, or by the end of the process."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def take(self, kind: Kind, *, patience: float = 0.0) -> bool:
        """Whether the lock could be had within so many seconds."""
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(self._fd, _FLAGS[kind] | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(_PAUSE)
            else:
                return True

    def wait(self, kind: Kind) -> None:
        """Take the lock, however long that lasts, without polling."""
        fcntl.flock(self._fd, _FLAGS[kind])

    def let_go(self) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_UN)

    def touch(self) -> None:
        os.utime(self._fd)

    @property
    def touched(self) -> int:
        return os.fstat(self._fd).st_mtime_ns

    def write(self, text: str) -> None:
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, text.encode(), 0)

    def read(self) -> str:
        return os.pread(self._fd, 4096, 0).decode(errors="replace")

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
