"""The process that runs llama.cpp's own server: ``python -m sill.adapters.local.serve``.

It belongs to nobody's terminal, listens on the loopback address alone, makes its own key, and ends by itself
shortly after its last user is gone, however that one went.
"""

import argparse
import contextlib
import faulthandler
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import LocalModelError
from .address import Address, Meeting, write_address
from .header import name_of
from .locks import FileLock

# Prefixes of chats that lost their slot; llama.cpp's own default is 8 GiB.
CACHE_MIB = 1024
# A request takes over another chat's slot only if they share half of it. With llama.cpp's own 0.1, a short side
# request with the same system prompt throws out a long chat: 6,512 tokens evaluated instead of 4,177 over three
# chats of four turns with a side request after each.
SLOT_SIMILARITY = 0.5
# Weights below this fit anywhere; asking llama.cpp whether they do takes a third of a second.
SURELY_FITS = 1 << 30


@dataclass(frozen=True, slots=True)
class Orders:
    weights: Path
    window: int
    slots: int
    linger: float


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    # The starter waits for this process only; the server itself must not become its zombie.
    if os.fork():
        os._exit(0)
    orders = Orders(options.weights, options.window, options.slots, options.linger)
    try:
        run(Meeting(options.directory), orders, options.ready_fd)
    except LocalModelError as error:
        _tell(options.ready_fd, {"error": error.message, "hint": error.hint})
        os._exit(1)


def run(meeting: Meeting, orders: Orders, ready_fd: int) -> None:
    """Serve until nobody has used it for ``orders.linger`` seconds. Does not return."""
    alive, users = FileLock(meeting.server_lock), FileLock(meeting.users_lock)
    if not alive.take("exclusive", patience=5.0):
        raise LocalModelError("another server of the same model is running already")
    alive.write(str(os.getpid()))
    meeting.note.unlink(missing_ok=True)

    key = secrets.token_urlsafe(32)
    # Kept by name: the server stops when this object is gone.
    server = start_server(orders, key)
    port = int(server.listening_address.rpartition(":")[2])
    model = name_of(orders.weights)
    address = Address(os.getpid(), port, key, model, str(orders.weights), orders.window)
    write_address(meeting.note, address)
    _log(f"listening on port {port}, window {orders.window}, {orders.slots} slots")
    _tell(ready_fd, {"ready": True})
    _silence_native_output()

    wait_until_unused(users, orders.linger)
    _log("nobody is left; stopping")
    meeting.note.unlink(missing_ok=True)
    # Not through the server's destructor: it would first finish what nobody waits for.
    os._exit(0)


def start_server(orders: Orders, key: str) -> Any:
    """llama.cpp's server, listening; a ``LocalModelError`` says what is missing."""
    if is_shared(bool(os.environ.get("CI")), os.getloadavg()[0], os.cpu_count() or 1):
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError as error:
        raise explain_import(error) from error

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(orders.weights)
    parameters.model_alias = {name_of(orders.weights)}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.ui = False
    parameters.n_parallel = orders.slots
    parameters.n_ctx = orders.window * orders.slots  # the server divides it among its slots
    parameters.cache_ram_mib = CACHE_MIB
    parameters.slot_prompt_similarity = SLOT_SIMILARITY
    parameters.fit_params = orders.weights.stat().st_size > SURELY_FITS
    parameters.endpoint_slots = True
    parameters.endpoint_props = True
    parameters.endpoint_metrics = True
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise LocalModelError(
            f"llama.cpp cannot load {orders.weights}: {str(error).strip()}",
            hint="is the file whole, and is there memory for it?",
        ) from error


def is_shared(on_ci: bool, load: float, cores: int) -> bool:
    """Whether others want the cores too, so that a waiting thread should sleep and not spin.

    Measured on two cores with the bundled weights, in generated tokens a second: 67 spinning and 48 sleeping
    on an idle machine, 14 spinning and 37 sleeping beside two busy processes.
    """
    return on_ci or load >= cores / 2


def explain_import(error: ImportError) -> LocalModelError:
    """Which of the two things an import of ``xllamacpp`` can lack."""
    if "libgomp" in str(error):
        return LocalModelError(
            "the system library libgomp.so.1 is missing",
            hint="on Debian and Ubuntu: apt install libgomp1",
        )
    if isinstance(error, ModuleNotFoundError):
        return LocalModelError(
            "llama.cpp's server is not installed", hint="pip install 'sill[local]'"
        )
    return LocalModelError(f"llama.cpp's server cannot be loaded: {error}")


def wait_until_unused(users: FileLock, linger: float) -> None:
    """Return, holding ``users`` exclusively, once nobody has come for ``linger`` seconds.

    From then on nobody can join: a newcomer waits until this process is gone and starts its own.
    """
    while True:
        users.wait("exclusive")
        users.let_go()
        last_joined = users.touched
        time.sleep(linger)
        if users.touched == last_joined and users.take("exclusive"):
            return


def _silence_native_output() -> None:
    """Keep whatever llama.cpp prints while it works out of the log: it could quote a prompt.

    A crash still leaves its trace there.
    """
    log = os.fdopen(os.dup(sys.stderr.fileno()), "w", buffering=1)
    faulthandler.enable(file=log)
    sys.stderr = log
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for fd in (1, 2):
        os.dup2(nowhere, fd)


def _log(text: str) -> None:
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} sill: {text}", file=sys.stderr, flush=True)


def _tell(ready_fd: int, news: dict[str, object]) -> None:
    """Tell the starter, if it still lives."""
    with contextlib.suppress(OSError), os.fdopen(ready_fd, "w") as pipe:
        json.dump(news, pipe)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sill.adapters.local.serve", description=__doc__)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--window", type=int, required=True)
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--linger", type=float, default=1.0)
    parser.add_argument("--ready-fd", type=int, required=True)
    return parser


if __name__ == "__main__":
    main()
