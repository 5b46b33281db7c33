"""How a user of the local model finds and recognises its server.

One directory per (weights, window), readable by its owner alone:

    start.lock     held by whoever is joining or starting the server, for that short time
    server.lock    held by the server as long as it lives; holds its process id
    users.lock     held, shared, by every user as long as it lives
    server.json    where the server listens and with which key, once it does

The kernel lets go of a dead process's locks, so they are the truth; the file is only a note.
"""

import hashlib
import http.client
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ...paths import private, runtime_dir
from ...version import built

_PROBE_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Address:
    pid: int
    port: int
    key: str
    model: str
    weights: str
    window: int


@dataclass(frozen=True, slots=True)
class Meeting:
    """The directory in which one server and its users meet."""

    directory: Path

    @property
    def start_lock(self) -> Path:
        return self.directory / "start.lock"

    @property
    def server_lock(self) -> Path:
        return self.directory / "server.lock"

    @property
    def users_lock(self) -> Path:
        return self.directory / "users.lock"

    @property
    def note(self) -> Path:
        return self.directory / "server.json"


def meeting_for(weights: Path, window: int) -> Meeting:
    """The same for every process of this user that wants these weights in this state with this window."""
    state = weights.stat()
    named = f"{weights}\0{state.st_size}\0{state.st_mtime_ns}\0{window}\0{built()}"
    place = hashlib.sha256(named.encode()).hexdigest()[:16]
    return Meeting(private(private(runtime_dir() / "local") / place))


def write_address(note: Path, address: Address) -> None:
    """Whole or not at all, and never readable by others: it holds the key."""
    partial = note.with_name(f".{note.name}.{os.getpid()}")
    fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as out:
        json.dump(asdict(address), out)
    partial.replace(note)


def read_address(note: Path) -> Address | None:
    try:
        address = Address(**json.loads(note.read_text()))
    except (OSError, ValueError, TypeError):
        return None
    well_formed = isinstance(address.port, int) and isinstance(address.key, str)
    return address if well_formed else None


def probe(address: Address) -> Literal["ours", "another", "silent"]:
    """Who answers at the address: the server it describes, somebody else, or nobody."""
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=_PROBE_TIMEOUT)
    try:
        connection.request("GET", "/props", headers={"Authorization": f"Bearer {address.key}"})
        response = connection.getresponse()
        body = response.read()
        found = json.loads(body) if response.status == 200 else {}
    except (TimeoutError, ConnectionError):
        return "silent"
    except (OSError, http.client.HTTPException, ValueError):
        return "another"
    finally:
        connection.close()
    is_ours = isinstance(found, dict) and found.get("model_path") == address.weights
    return "ours" if is_ours else "another"
