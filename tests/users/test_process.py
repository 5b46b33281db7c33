"""A shared server as somebody sets it up: the commands, the process, and people at its door."""

import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import httpx
import pytest

from tests.models.fault_provider import FaultProvider, Hang, head, said
from tests.operations.test_workers import port_of

pytestmark = pytest.mark.slow
QUESTION = {"model": "sill", "messages": [{"role": "user", "content": "hello"}]}


class Place:
    """A folder, its environment and the commands people type in it."""

    def __init__(self, folder):
        self.folder, self.port = folder, 0
        (folder / "vault").mkdir()
        (folder / "vault" / "Note.md").write_text("# Note\n")
        names = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
        self.environment = {
            **os.environ,
            **{name: str(folder / name.lower()) for name in names},
            "SILL_DATABASE_URL": str(folder / "sill.db"),
            "SILL_PROBE": "false",
            "SILL_TOKENIZER": "o200k_base",
            "SILL_EMBEDDER": "none",
            "LLM_CHAT_TOOLS": "false",
            "PYTHONUNBUFFERED": "1",
        }

    def sill(self, *words, typed=""):
        command = [sys.executable, "-m", "sill", *words]
        done = subprocess.run(
            command, env=self.environment, input=typed, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @contextmanager
    def serving(self, provider):
        command = [
            *(sys.executable, "-m", "sill", "serve", "--multi-user", "--behind-proxy"),
            *("--name", "127.0.0.1", "--port", "0"),
            *("--vault", str(self.folder / "vault"), "--base-url", provider.url + "/v1"),
            *("-m", "first", "--window", "8192"),
        ]
        log = self.folder / "serve.log"
        with log.open("wb") as out:
            process = subprocess.Popen(command, env=self.environment, stdout=out)
        try:
            self.port = port_of(process, log)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def client(self, token=None):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, trust_env=False, timeout=120)


def test_people_are_let_in_refused_clearly_and_sent_away(tmp_path):
    place = Place(tmp_path)
    place.sill("users", "add", "ann", "--role", "admin", typed="correct horse battery\n")
    place.sill("users", "add", "vic", "--role", "viewer", "--no-password")
    place.sill("users", "add", "con", "--no-password")
    viewer, contributor = (place.sill("users", "token", name) for name in ("vic", "con"))
    with FaultProvider([head(), said("slow"), Hang()]) as provider, place.serving(provider):
        with place.client() as browser:
            form = {"name": "ann", "password": "correct horse battery"}
            origin = {"origin": f"https://127.0.0.1:{place.port}"}
            entered = browser.post("/login", data=form, headers=origin)
            stranger = browser.get("/api/v1/chats")
        with place.client(viewer) as vic:
            read = vic.get("/api/v1/files/Note.md")
            told = [
                vic.post("/api/v1/turns", json={"text": "hi"}),
                vic.put("/api/v1/files/Note.md", json={"text": "x", "base_fingerprint": None}),
                vic.get("/api/v1/settings"),
            ]
            from_gateway = vic.post("/v1/chat/completions", json=QUESTION)
        with place.client(contributor) as con:
            asked = con.post("/api/v1/turns", json={"text": "hi"}).json()
            with con.stream("GET", asked["events"]) as stream:
                pieces = stream.iter_text()
                while "slow" not in next(pieces):
                    pass
                said_then = []
                away = threading.Thread(
                    target=lambda: said_then.append(
                        place.sill("users", "remove", "con", "--with-chats")
                    )
                )
                away.start()
                for _ in pieces:  # ends by itself, though the model never does
                    pass
                away.join()
            after = con.get("/api/v1/chats")

    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    assert entered.headers["set-cookie"].startswith("__Host-sill=")
    assert (stranger.status_code, read.status_code, after.status_code) == (401, 200, 401)
    assert [(one.status_code, one.json()["message"]) for one in told] == [
        (403, "this needs the role contributor"),
        (403, "this needs the role contributor"),
        (403, "this needs the role admin"),
    ]
    assert from_gateway.status_code == 403
    assert from_gateway.json()["error"]["message"] == "this needs the role contributor"
    assert said_then == ["con is removed, with 1 chat."]
    assert provider.hung_up.is_set()
