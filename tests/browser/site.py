"""``sill serve`` as a user starts it: its own process, its own home, a copy of the sample vault."""

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from sill.paths import data_dir

SAMPLE = Path(__file__).resolve().parents[2] / "src" / "sill" / "sample" / "vault"
TITLE = re.compile(r"Log in \(.*\): (http\S+)")
TOKEN = re.compile(r"Token for scripts, shown this once: (\S+)")


@dataclass(slots=True)
class Site:
    place: Path
    endpoint: str
    model: str | None = None
    more: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    login: str = ""
    token: str = ""
    process: subprocess.Popen[str] | None = None
    port: int = 0
    cookie: tuple[str, str] | None = None

    @property
    def vault(self) -> Path:
        return self.place / "vault"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.place / "serve.log"

    def start(self) -> "Site":
        if not self.vault.exists():
            shutil.copytree(SAMPLE, self.vault)
        command = self._command()
        command += [
            "--port",
            str(self.port),
            "--vault",
            str(self.vault),
            "--base-url",
            self.endpoint,
        ]
        command += ["--db", str(self.place / "sill.db"), *self.more]
        command += ["--model", self.model] if self.model else []
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, text=True, env=self._environment()
            )
        self._wait()
        return self

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "sill", "serve", "--no-open", "--token"]

    def _is_up(self, said: str) -> bool:
        """Whether it has said how to log in, which is taken down."""
        login, token = TITLE.search(said), TOKEN.search(said)
        if login is None or token is None:
            return False
        self.login, self.token = login[1], token[1]
        self.port = int(re.search(r":(\d+)/", self.login)[1])  # type: ignore[index]
        return True

    def _environment(self) -> dict[str, str]:
        home = self.place / "home"
        home.mkdir(exist_ok=True)
        own = {
            f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE")
        }
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SILL_", "LLM_", "OPENAI_"))
        }
        return {
            **kept,
            **own,
            "XDG_RUNTIME_DIR": str(home),
            "XDG_DATA_HOME": str(data_dir().parent),  # the fetched model; chats go to --db
            "PYTHONUNBUFFERED": "1",
            **self.variables,
        }

    def _wait(self) -> None:
        for _ in range(2400):
            said = self.log.read_text()
            if self._is_up(said):
                return
            assert self.process is not None
            assert self.process.poll() is None, said
            time.sleep(0.05)
        raise AssertionError(f"the server did not start: {self.log.read_text()}")

    def kill(self) -> None:
        """As a power cut would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def get(self, path: str, **query: Any) -> Any:
        answer = httpx.get(
            f"{self.url}/api/v1{path}", params=query, headers=self._headers, timeout=60
        )
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        answer = httpx.post(
            f"{self.url}/api/v1{path}", json=body, headers=self._headers, timeout=60
        )
        assert answer.status_code < 300, answer.text
        return answer.json()

    def wait(self, turn: str) -> None:
        """Until the turn has ended: its events are read to the last one."""
        url = f"{self.url}/api/v1/turns/{turn}/events"
        assert httpx.get(url, headers=self._headers, timeout=60).status_code == 200

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}
