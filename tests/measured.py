"""Programs that tests start are measured too, also in an environment of their own: ``pytest -p tests.measured``.

Most tests give a program nothing of ours but its path, so that it behaves as for a stranger. What tells it to measure
itself would be lost with the rest. Only ``make coverage`` loads this.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from typing import Any

import coverage
import pexpect
import pytest

TOLD_BY = "COVERAGE_PROCESS_CONFIG"

_start = subprocess.Popen.__init__
_replace = os.execvpe
_close = pexpect.spawn.close

PATIENCE = 20.0  # seconds for a program to write down what it has measured


def told(environment: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """The environment with what tells a program to measure itself; None is ours, which has it."""
    if environment is None or TOLD_BY not in os.environ:
        return environment
    return {TOLD_BY: os.environ[TOLD_BY], **environment}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without those that find out what a program loads, gets or takes: measuring would be part of it."""
    left_out = [item for item in items if item.get_closest_marker("bare")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("bare")]


def pytest_sessionfinish() -> None:
    """Kept now: a worker that takes too long to end on a busy machine is killed, with all it has measured."""
    if current := coverage.Coverage.current():
        current.save()


def _measured_start(self: Any, *arguments: Any, env: Any = None, **more: Any) -> None:
    _start(self, *arguments, env=told(env), **more)


def _measured_replace(file: Any, arguments: Any, environment: Any) -> Any:
    return _replace(file, arguments, told(environment))


def _measured_close(self: Any, force: bool = True) -> None:
    """A terminal that is taken away ends its program at once; told to end first, it keeps what it has measured."""
    end = time.monotonic() + PATIENCE
    if self.isalive():
        self.kill(signal.SIGTERM)
    while self.isalive() and time.monotonic() < end:
        try:
            self.read_nonblocking(4_096, timeout=0.1)  # it may want to write before it ends
        except (pexpect.TIMEOUT, pexpect.EOF):
            time.sleep(0.05)
    _close(self, force)


pexpect.spawn.close = _measured_close
subprocess.Popen.__init__ = _measured_start  # type: ignore[method-assign]
os.execvpe = _measured_replace  # type: ignore[assignment]  # a terminal of pexpect
