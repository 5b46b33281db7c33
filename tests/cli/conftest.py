"""The command line in a home of its own, with a real server behind it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from sill.adapters.local.supervise import LocalServer


@dataclass(frozen=True)
class Home:
    """Runs ``sill`` as a user would: its own process, home, folder and environment."""

    folder: Path
    environment: dict[str, str]

    def sill(
        self, *arguments: str, stdin: str | bytes = b"", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [sys.executable, "-m", "sill", *arguments],
            cwd=self.folder,
            env={**self.environment, **environment},
            input=data,
            capture_output=True,
            timeout=120,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user who has chosen nothing; nobody listens at the standard ports as far as they can know."""
    folder = tmp_path / "notes"
    folder.mkdir()
    kept = {
        key: os.environ[key] for key in ("PATH", "LANG", "OMP_WAIT_POLICY") if key in os.environ
    }
    environment = {**kept, "HOME": str(tmp_path / "home"), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
    (tmp_path / "run").mkdir(mode=0o700)
    return Home(folder, environment)


@pytest.fixture
def chosen(home: Home, tiny_server: LocalServer) -> Home:
    """The same user, who has chosen the real two-layer server."""
    return Home(
        home.folder,
        {
            **home.environment,
            "OPENAI_BASE_URL": tiny_server.base_url,
            "OPENAI_API_KEY": tiny_server.api_key,
            "LLM_CHAT_REPLY": "24",
        },
    )
