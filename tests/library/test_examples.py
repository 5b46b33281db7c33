"""Every example runs as it stands."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from sill.adapters.local.supervise import LocalServer

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def environment(folder: Path, tiny_server: LocalServer) -> dict[str, str]:
    return {
        **os.environ,
        "OPENAI_BASE_URL": tiny_server.base_url,
        "OPENAI_API_KEY": tiny_server.api_key,
        "LLM_CHAT_REPLY": "16",
        "LLM_CHAT_OPS_REPLY": "64",
        "SILL_FOLDER": str(folder),
        "PYTHONPATH": str(EXAMPLES),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("notebook.py", ["counts: exact", "predicted=", "Spent("], id="notebook"),
        pytest.param("own_tokenizer.py", ["counts: bound", "(1, 2, 2)"], id="own tokenizer"),
    ],
)
def test_the_example_runs(name: str, says: list[str], folder: Path, environment: dict[str, str]):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), str(folder)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    assert [part for part in says if part not in done.stdout] == []


@pytest.mark.slow
def test_the_editor_backend_answers_and_refuses_what_was_never_shown(environment: dict[str, str]):
    command = [sys.executable, "-m", "uvicorn", "editor_backend:app", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = next(line for line in server.stderr if "running on" in line)
            base = line.split("running on ", 1)[1].split(" ", 1)[0]
            answer = httpx.post(
                f"{base}/ask", json={"question": "Hi", "files": ["plan.md"]}, timeout=120
            )
            missing = httpx.post(f"{base}/apply/sha256:none", timeout=120)
        finally:
            server.terminate()

    assert answer.text.count("event: done") == 1
    assert missing.status_code == 404
