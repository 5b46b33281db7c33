"""Where Sill keeps things, by the XDG rules. Every directory exists, for its owner alone, once it is named."""

import os
from pathlib import Path

from .errors import NoPlace

APP = "sill"


def config_dir() -> Path:
    """Settings that people write."""
    return _ours("XDG_CONFIG_HOME", ".config")


def data_dir() -> Path:
    """What must not be lost: chats, fetched models."""
    return _ours("XDG_DATA_HOME", ".local/share")


def state_dir() -> Path:
    """What is useful but can be lost: logs, histories."""
    return _ours("XDG_STATE_HOME", ".local/state")


def cache_dir() -> Path:
    """What can be made again."""
    return _ours("XDG_CACHE_HOME", ".cache")


def runtime_dir() -> Path:
    """Locks and the addresses of running servers; of this machine and this user only."""
    base = _absolute(os.environ.get("XDG_RUNTIME_DIR"))
    # After `su` or `sudo` the variable may still name another user's directory.
    if base and base.is_dir() and base.stat().st_uid == os.getuid() and os.access(base, os.W_OK):
        return private(base / APP)
    # A home directory may be shared by several machines; a process id must not be.
    run = private(state_dir() / "run")
    return private(run / os.uname().nodename)


def private(directory: Path) -> Path:
    """The directory, made with mode 0700 if it did not exist."""
    try:
        if not directory.is_dir():
            directory.parent.mkdir(parents=True, exist_ok=True)
            directory.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        why = f"{directory} cannot be made: {error.strerror or error}"
        hint = "Sill keeps its things there; HOME or the XDG variables can name another place"
        raise NoPlace(why, hint=hint) from None
    return directory


def _ours(variable: str, under_home: str) -> Path:
    base = _absolute(os.environ.get(variable)) or Path.home() / under_home
    return private(base / APP)


def _absolute(value: str | None) -> Path | None:
    """The XDG rules say that a relative path is to be ignored."""
    return Path(value) if value and Path(value).is_absolute() else None
