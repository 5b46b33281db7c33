"""Several processes behind one address: sessions, leases and numbers are shared."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from sill.adapters.store import open_store
from sill.app.accounts import accounts_of, give_token, hash_password
from tests.models.fault_provider import FaultProvider, Hang, head, said
from tests.store.servers import new_postgres  # noqa: F401

from .test_metrics import seen

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"
WORKERS = 2


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def add_admin(database: str) -> str:
    store = await open_store(database)
    try:
        accounts = accounts_of(store)
        ann = await accounts.add_user("ann", "admin", await hash_password(PASSWORD))
        return (await give_token(accounts, ann, "test"))[0]
    finally:
        await store.close()


@contextmanager
def workers(folder: Path, database: str, provider: FaultProvider) -> Iterator[str]:
    """``sill serve`` as a user starts it; its address."""
    port = free_port()
    (folder / "vault").mkdir()
    names = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    environment = {
        **{name: str(folder / name.lower()) for name in names},
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "SILL_PROBE": "false",
        "SILL_TOKENIZER": "o200k_base",
        "SILL_EMBEDDER": "none",
        "LLM_CHAT_TOOLS": "false",
        "SILL_DATABASE_URL": database,
    }
    command = [
        *(sys.executable, "-m", "sill", "serve", "--multi-user", "--behind-proxy"),
        *("--name", f"127.0.0.1:{port}", "--port", str(port), "--workers", str(WORKERS)),
        *("--vault", str(folder / "vault"), "--base-url", provider.url + "/v1"),
        *("-m", "first", "--window", "8192"),
    ]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 240
        while not _answers(url):
            assert process.poll() is None, process.stdout.read()
            assert time.monotonic() < until, "the workers do not answer"
            time.sleep(0.1)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
        process.stdout.close()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url + "/healthz", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def new_client(url: str, token: str) -> httpx.Client:
    """A connection of its own, so that any worker may take it."""
    return httpx.Client(
        base_url=url, headers={"authorization": f"Bearer {token}"}, trust_env=False, timeout=30
    )


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_one_turn_per_chat_holds_among_all_workers(tmp_path, kind, request):
    database = (
        str(tmp_path / "sill.db") if kind == "sqlite" else request.getfixturevalue("new_postgres")()
    )
    token = asyncio.run(add_admin(database))
    slow = [head(), said("slow"), Hang()]
    with FaultProvider(slow) as provider, workers(tmp_path, database, provider) as url:
        with new_client(url, token) as client:
            chat = client.post("/api/v1/chats", json={}).json()["id"]
        asked = []
        for _ in range(12):
            with new_client(url, token) as client:
                asked.append(client.post("/api/v1/turns", json={"text": "hello", "chat": chat}))
        begun = [answer for answer in asked if answer.status_code == 202]
        assert [answer.status_code for answer in asked].count(409) == 11
        # Whichever worker hears it, the one that has the turn ends it.
        with new_client(url, token) as client:
            stopped = client.post(f"/api/v1/turns/{begun[0].json()['turn']}/stop")
            turns = client.get(f"/api/v1/chats/{chat}/turns").json()["turns"]
            numbers = seen(client.get("/metrics").text)

    assert (stopped.status_code, stopped.json()) == (200, {"stopped": True, "state": "stopped"})
    assert [(turn["status"], turn["answer"]) for turn in turns] == [("cancelled", "slow")]
    assert len(provider.seen) == 1
    assert numbers["sill_turns_total", "chat", "cancelled"] == 1
