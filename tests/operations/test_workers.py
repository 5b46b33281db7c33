"""Several processes behind one address: sessions, leases and numbers are shared."""

import asyncio
import os
import re
import signal
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


LISTENS = re.compile(r"on 127\.0\.0\.1:(\d+) as")


def port_of(process: subprocess.Popen[bytes], log: Path) -> int:
    """The one the server says it took, once it answers there."""
    until = time.monotonic() + 240
    while True:
        found = LISTENS.search(log.read_text())
        if found is not None and _answers(f"http://127.0.0.1:{found[1]}"):
            return int(found[1])
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, "the server does not answer"
        time.sleep(0.1)


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
        "PYTHONUNBUFFERED": "1",
    }
    command = [
        *(sys.executable, "-m", "sill", "serve", "--multi-user", "--behind-proxy"),
        *("--name", "127.0.0.1", "--port", "0", "--workers", str(WORKERS)),
        *("--vault", str(folder / "vault"), "--base-url", provider.url + "/v1"),
        *("-m", "first", "--window", "8192"),
    ]
    log = folder / "serve.log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield f"http://127.0.0.1:{port_of(process, log)}"
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0


def _answers(url: str) -> bool:
    try:
        return httpx.get(url + "/healthz", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def new_client(url: str, token: str) -> httpx.Client:
    """A connection of its own, so that any worker may take it."""
    return httpx.Client(
        base_url=url, headers={"authorization": f"Bearer {token}"}, trust_env=False, timeout=120
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
            counted = ("sill_turns_total", "chat", "cancelled")
            until = time.monotonic() + 60
            # The worker that had the turn counts it when it is stored, which another may see before.
            while counted not in (numbers := seen(client.get("/metrics").text)):
                assert time.monotonic() < until, numbers
                time.sleep(0.05)

    assert (stopped.status_code, stopped.json()) == (200, {"stopped": True, "state": "stopped"})
    assert [(turn["status"], turn["answer"]) for turn in turns] == [("cancelled", "slow")]
    assert len(provider.seen) == 1
    assert numbers[counted] == 1
