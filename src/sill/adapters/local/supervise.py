"""A running local server for whoever wants one: joined if there is one, started if not."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ...errors import LocalModelError
from ...paths import private, state_dir
from .address import Address, Meeting, meeting_for, probe, read_address
from .header import Header, read_header, slots_for
from .locks import FileLock
from .weights import check

LINGER = 1.0  # seconds the server stays after its last user
_START_PATIENCE = 300.0  # large weights on a slow disk
_SILENCE_PATIENCE = 30.0  # a busy machine is no reason to end a server that others use
_KILL_PATIENCE = 5.0
_PAUSE = 0.05
_PACKAGE_ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A share in a running server. The server ends after the last share is closed or its holder has died."""

    address: Address
    _share: FileLock

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.address.port}/v1"

    @property
    def api_key(self) -> str:
        return self.address.key

    @property
    def window(self) -> int:
        return self.address.window

    @property
    def model_name(self) -> str:
        return self.address.model

    def close(self) -> None:
        self._share.release()

    def __repr__(self) -> str:  # no key in a traceback
        return f"LocalServer({self.model_name!r}, {self.base_url!r}, window={self.window})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_local(weights: Path, *, window: int | None = None, linger: float = LINGER) -> LocalServer:
    """A server of these weights that answers: one per user of this machine, weights and window.

    ``window`` is the model's own unless given. Blocks while the model loads (a second or so for the
    bundled one). ``LocalModelError`` if it cannot be had.
    """
    weights = weights.expanduser().resolve()
    header = read_header(weights)
    window = _checked_window(header, window)
    try:
        check(weights)
        meeting = meeting_for(weights, window)
        with FileLock(meeting.start_lock) as start:
            if not start.take("exclusive", patience=_START_PATIENCE):
                raise LocalModelError("another Sill has been starting the local model for minutes")
            return _join_or_start(meeting, header, window, linger)
    except OSError as error:
        raise LocalModelError(f"the local model's server cannot be started: {error}") from error


def _checked_window(header: Header, window: int | None) -> int:
    """In steps of 256 tokens, as llama.cpp rounds it."""
    wanted = header.window if window is None else window
    if not 256 <= wanted <= header.trained_window:
        raise LocalModelError(
            f"{header.name} has a window of 256 to {header.trained_window} tokens, not {wanted}"
        )
    return wanted // 256 * 256


def _join_or_start(meeting: Meeting, header: Header, window: int, linger: float) -> LocalServer:
    share = FileLock(meeting.users_lock)
    try:
        # A server that is just stopping holds this until it is gone.
        if not share.take("shared", patience=_SILENCE_PATIENCE):
            raise LocalModelError("the local model's server is stuck while stopping")
        share.touch()
        address = _running(meeting)
        if address is None:
            _start(meeting, header, window, linger)
            address = read_address(meeting.note)
        if address is None or not _answers(meeting, address):
            raise LocalModelError(
                "the local model's server stopped right after its start",
                hint=f"see {log_path(meeting)}",
            )
    except BaseException:
        share.release()
        raise
    return LocalServer(address, share)


def _answers(meeting: Meeting, address: Address) -> bool:
    """Whether the server is there; one that lives may be silent for a while on a busy machine."""
    silent_until = time.monotonic() + _SILENCE_PATIENCE
    while (found := probe(address)) == "silent" and time.monotonic() < silent_until:
        with FileLock(meeting.server_lock) as alive:
            if alive.take("exclusive"):
                return False
        time.sleep(_PAUSE)
    return found == "ours"


def _running(meeting: Meeting) -> Address | None:
    """The address of a living server that answers as it should. One that does not is ended."""
    with FileLock(meeting.server_lock) as alive:
        loading_until = time.monotonic() + _START_PATIENCE
        silent_until: float | None = None
        while not alive.take("exclusive"):
            now, address = time.monotonic(), read_address(meeting.note)
            # No note yet: its starter died while it was loading; it will be ready soon.
            if address is None and (meeting.note.exists() or now > loading_until):
                break
            if address is not None:
                match probe(address):
                    case "ours":
                        return address
                    case "another":
                        break
                    case "silent":
                        silent_until = silent_until or now + _SILENCE_PATIENCE
                        if now > silent_until:
                            break
            time.sleep(_PAUSE)
        else:
            return None  # nobody lives there
        _end(alive)
    return None


def _end(alive: FileLock) -> None:
    """End the server that holds ``alive``; its process id is in the lock, so it is nobody else."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        pid = alive.read()
        if pid.isdecimal():
            try:
                os.kill(int(pid), number)
            except ProcessLookupError:
                pass
            except PermissionError as error:
                raise LocalModelError(f"process {pid} holds the local model's lock") from error
        if alive.take("exclusive", patience=_KILL_PATIENCE):
            return
    raise LocalModelError("the local model's server does not answer and cannot be ended")


def log_path(meeting: Meeting) -> Path:
    """What the server said while starting, and why it ended. Never a word of a prompt."""
    return private(state_dir() / "local") / f"{meeting.directory.name}.log"


def _start(meeting: Meeting, header: Header, window: int, linger: float) -> None:
    """Start a server in a session of its own and wait until it listens."""
    ready, told = os.pipe()
    log = os.open(log_path(meeting), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    try:
        command = [
            sys.executable, "-m", "sill.adapters.local.serve",
            "--directory", str(meeting.directory), "--weights", str(header.path),
            "--window", str(window), "--slots", str(slots_for(header, window)),
            "--linger", str(linger), "--ready-fd", str(told),
        ]  # fmt: skip
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=meeting.directory,
            env=_environment(),
            pass_fds=(told,),
            start_new_session=True,
        )
        os.close(told)
        told = -1
        news = _news(ready)
        process.wait()
    finally:
        for fd in (ready, told, log):
            if fd >= 0:
                os.close(fd)
    if not news:
        raise LocalModelError(
            "the local model's server stopped while starting", hint=f"see {log_path(meeting)}"
        )
    if error := news.get("error"):
        raise LocalModelError(error, hint=news.get("hint", ""))


def _environment() -> dict[str, str]:
    """This process's own, with Sill importable from anywhere."""
    known = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(_PACKAGE_ROOT), *([known] if known else [])])
    return {**os.environ, "PYTHONPATH": path}


def _news(ready: int) -> dict[str, str]:
    """What the server says when it listens or gives up; nothing if it died first."""
    deadline, heard = time.monotonic() + _START_PATIENCE, b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([ready], [], [], left)[0]:
            break
        chunk = os.read(ready, 65536)
        if not chunk:
            break
        heard += chunk
    try:
        news: dict[str, str] = json.loads(heard)
    except ValueError:
        return {}
    return news
