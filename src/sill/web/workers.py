"""Several processes behind one address. One turn per chat holds among them all, by the store's leases."""

import multiprocessing
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType

from ..settings import Settings
from .metrics import SHARED_FOLDER
from .shared import Public

STOP_SECONDS = 20.0  # after which a worker that does not end is ended
RESTART_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Work:
    """What every worker is given."""

    settings: Settings
    folder: Path
    public: Public


def run_workers(
    work: Work, listening: socket.socket, count: int, ready: Callable[[], None]
) -> None:
    """Until a signal comes: ``count`` workers, each replaced when it dies."""
    metrics = Path(tempfile.mkdtemp(prefix="sill-metrics-"))
    os.environ[SHARED_FOLDER] = str(metrics)
    context = multiprocessing.get_context("spawn")
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)

    def start() -> BaseProcess:
        process = context.Process(target=_work, args=(work, listening), daemon=False)
        process.start()
        return process

    workers = [start() for _ in range(count)]
    try:
        ready()
        while not stopping.wait(RESTART_SECONDS):
            for at, worker in enumerate(workers):
                if not worker.is_alive():
                    workers[at] = start()
    finally:
        _end(workers)
        shutil.rmtree(metrics, ignore_errors=True)


def _end(workers: list[BaseProcess]) -> None:
    for worker in workers:
        with suppress(ProcessLookupError):
            worker.terminate()
    until = time.monotonic() + STOP_SECONDS
    for worker in workers:
        worker.join(max(0.1, until - time.monotonic()))
        if worker.is_alive():
            worker.kill()


def _work(work: Work, listening: socket.socket) -> None:
    """One worker, in a process of its own."""
    from .server import run

    run(_serve(work, listening))


async def _serve(work: Work, listening: socket.socket) -> None:
    from ..app.build import Ground
    from ..app.service import open_service
    from .server import settle_in
    from .shared import open_shared_site

    listening.setblocking(False)
    async with open_service(Ground(work.settings, work.folder, lambda _: None)) as service:
        await open_shared_site(service, work.public, listening).serve(settle_in)
