"""One server for all, started once, gone with its last user: with real processes, killed for real."""

import contextlib
import http.server
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from sill.adapters.local.address import (
    Address,
    Meeting,
    meeting_for,
    probe,
    read_address,
    write_address,
)
from sill.adapters.local.locks import FileLock
from sill.adapters.local.serve import wait_until_unused
from sill.adapters.local.supervise import open_local

pytestmark = pytest.mark.slow

PATIENCE = 60.0
WINDOW = 512


class User:
    """Another process that uses the local model."""

    def __init__(self, weights: Path, linger: float = 0.1) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.local.user", str(weights), str(linger)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def server(self) -> tuple[int, str]:
        assert self.process.stdout
        pid, url = json.loads(self.process.stdout.readline())
        return pid, url

    def leave(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0

    def die(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait(PATIENCE) == -signal.SIGKILL


@pytest.fixture
def user(tiny_weights: Path, places: Path) -> Iterator[Callable[[], User]]:
    users: list[User] = []

    def come() -> User:
        users.append(User(tiny_weights))
        return users[-1]

    yield come
    for one in users:
        if one.process.poll() is None:
            one.die()
        for pipe in (one.process.stdin, one.process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()


@pytest.fixture
def meeting(tiny_weights: Path, places: Path) -> Meeting:
    return meeting_for(tiny_weights.resolve(), WINDOW)


def is_gone(meeting: Meeting) -> bool:
    """Whether the server ends within a minute: the kernel gives its lock back only then."""
    with FileLock(meeting.server_lock) as lock:
        return lock.take("exclusive", patience=PATIENCE) and not meeting.note.exists()


def is_alive(meeting: Meeting) -> bool:
    with FileLock(meeting.server_lock) as lock:
        return not lock.take("exclusive")


def test_two_processes_share_one_server(user: Callable[[], User], meeting: Meeting) -> None:
    first, second = user(), user()

    assert first.server() == second.server()
    first.leave()
    time.sleep(0.5)  # five times the linger: the second user is what keeps it
    assert is_alive(meeting)
    second.leave()
    assert is_gone(meeting)


def test_eight_that_start_at_once_get_one_server(user: Callable[[], User]) -> None:
    users = [user() for _ in range(8)]

    servers = {one.server() for one in users}

    assert len(servers) == 1


@pytest.mark.parametrize("starter_dies", [True, False], ids=["starter killed", "joiner killed"])
def test_a_killed_user_neither_takes_the_server_along_nor_keeps_it(
    starter_dies: bool, user: Callable[[], User], meeting: Meeting
) -> None:
    starter = user()
    pid, _ = starter.server()
    joiner = user()
    joiner.server()
    killed, left = (starter, joiner) if starter_dies else (joiner, starter)

    killed.die()
    time.sleep(0.5)
    address = read_address(meeting.note)

    assert address and (address.pid, probe(address)) == (pid, "ours")
    left.die()
    assert is_gone(meeting)


def test_a_starter_killed_while_loading_leaves_a_server_to_join(
    user: Callable[[], User], meeting: Meeting, tiny_weights: Path
) -> None:
    starter = user()
    deadline = time.monotonic() + PATIENCE
    while not (meeting.server_lock.exists() and meeting.server_lock.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    starter.die()

    with open_local(tiny_weights, window=WINDOW, linger=0.1) as server:
        assert probe(server.address) == "ours"
    assert is_gone(meeting)


class Stranger(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize(
    "note",
    [
        pytest.param("", id="empty"),
        pytest.param("{not json", id="not JSON"),
        pytest.param('{"pid": 1}', id="half of it missing"),
        pytest.param(
            '{"pid": 1, "port": 9, "key": "k", "model": "m", "weights": "w", "window": 512}',
            id="of a dead server",
        ),
    ],
)
def test_a_note_left_by_a_dead_server_is_replaced(
    note: str, meeting: Meeting, tiny_weights: Path
) -> None:
    meeting.note.write_text(note)

    with open_local(tiny_weights, window=WINDOW, linger=0.1) as server:
        assert read_address(meeting.note) == server.address
        assert probe(server.address) == "ours"


def test_a_port_taken_by_somebody_else_is_not_mistaken_for_the_server(
    meeting: Meeting, tiny_weights: Path
) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), Stranger) as stranger:
        threading.Thread(target=stranger.serve_forever, daemon=True).start()
        old = Address(os.getpid(), stranger.server_port, "k", "m", str(tiny_weights), WINDOW)
        write_address(meeting.note, old)

        found = probe(old)
        with open_local(tiny_weights, window=WINDOW, linger=0.1) as server:
            fresh = server.address
        stranger.shutdown()

    assert found == "another"
    assert fresh.port != old.port


@pytest.mark.parametrize("damage", ["wrong key", "unreadable"])
def test_a_living_server_that_cannot_be_used_is_ended_and_replaced(
    damage: str, meeting: Meeting, tiny_weights: Path
) -> None:
    with open_local(tiny_weights, window=WINDOW, linger=0.1) as first:
        if damage == "wrong key":
            write_address(meeting.note, replace(first.address, key="wrong"))
        else:
            meeting.note.write_text("{")
        with open_local(tiny_weights, window=WINDOW, linger=0.1) as second:
            assert probe(second.address) == "ours"
            assert second.address.pid != first.address.pid
            assert probe(first.address) == "silent"


@pytest.mark.long
def test_a_server_that_hangs_is_ended_and_replaced(meeting: Meeting, tiny_weights: Path) -> None:
    with open_local(tiny_weights, window=WINDOW, linger=0.1) as first:
        os.kill(first.address.pid, signal.SIGSTOP)
        with open_local(tiny_weights, window=WINDOW, linger=0.1) as second:
            assert probe(second.address) == "ours"
            assert second.address.pid != first.address.pid


def test_a_server_that_was_killed_is_started_anew(meeting: Meeting, tiny_weights: Path) -> None:
    with open_local(tiny_weights, window=WINDOW, linger=0.1) as first:
        os.kill(first.address.pid, signal.SIGKILL)
        with open_local(tiny_weights, window=WINDOW, linger=0.1) as second:
            assert probe(second.address) == "ours"
            assert second.address.pid != first.address.pid


def test_short_users_one_after_another_keep_it_warm(tiny_weights: Path, places: Path) -> None:
    pids = set()
    for _ in range(4):
        with open_local(tiny_weights, window=WINDOW, linger=60.0) as server:
            pids.add(server.address.pid)

    assert len(pids) == 1
    os.kill(pids.pop(), signal.SIGTERM)


@pytest.mark.parametrize(
    "users, visits",
    [
        pytest.param(3, 4, id="a few"),
        pytest.param(6, 40, id="many", marks=pytest.mark.long),
    ],
)
def test_whoever_comes_while_the_server_is_leaving_gets_one_that_stays(
    users: int, visits: int, meeting: Meeting, tiny_weights: Path
) -> None:
    """Pauses around the linger, so that joining and stopping meet again and again."""

    def visit(seed: int) -> list[str]:
        chance, found = random.Random(seed), []
        for _ in range(visits):
            with open_local(tiny_weights, window=WINDOW, linger=0.05) as server:
                time.sleep(chance.uniform(0, 0.1))
                found.append(probe(server.address))
            time.sleep(chance.uniform(0, 0.15))
        return found

    with ThreadPoolExecutor(users) as pool:
        found = list(pool.map(visit, range(users)))

    assert found == [["ours"] * visits] * users
    assert is_gone(meeting)


def test_a_server_that_stops_has_no_user_and_lets_nobody_join(tmp_path: Path) -> None:
    """Somebody comes at the last moment of the linger: the server stays for him, then shuts the door."""
    watched, guest, latecomer = (FileLock(tmp_path / "users.lock") for _ in range(3))
    linger = 2.0
    stopping = threading.Thread(target=wait_until_unused, args=(watched, linger), daemon=True)
    stopping.start()
    time.sleep(0.05)

    came = guest.take("shared", patience=1.0)
    stopping.join(linger + 0.5)
    stayed = stopping.is_alive()
    guest.release()
    stopping.join(PATIENCE)

    assert (came, stayed, stopping.is_alive()) == (True, True, False)
    assert not latecomer.take("shared")


def test_another_window_is_another_server(tiny_weights: Path, places: Path) -> None:
    with (
        open_local(tiny_weights, window=512, linger=0.1) as small,
        open_local(tiny_weights, window=1024, linger=0.1) as large,
    ):
        assert (small.window, large.window) == (512, 1024)
        assert small.base_url != large.base_url


def test_it_keeps_its_key_and_its_terminal_to_itself(tiny_weights: Path, meeting: Meeting) -> None:
    with open_local(tiny_weights, window=WINDOW, linger=0.1) as server:
        pid = server.address.pid
        modes = [path.stat().st_mode & 0o777 for path in (meeting.directory, meeting.note)]
        shown = [Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ")]

        assert modes == [0o700, 0o600]
        assert os.getsid(pid) != os.getsid(0)
        assert [server.api_key.encode() in text for text in shown] == [False, False]
