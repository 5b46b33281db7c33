"""What people install: one wheel, with the page in it, in an environment that has nothing else."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest

from sill.adapters.local.supervise import LocalServer
from sill.version import version

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--installer",
        "uv",
        "-o",
        str(out),
        str(ROOT),
    ]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs of an environment that holds the wheel and what it needs."""
    place = tmp_path_factory.mktemp("environment") / "venv"
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", "--python", sys.executable, str(place)], check=True)
    python = place / "bin" / "python"
    constraints = ["-c", str(ROOT / "constraints.txt")]
    install = [*uv, "pip", "install", "-q", "--python", str(python), *constraints, str(wheel)]
    subprocess.run(install, check=True)
    return place / "bin"


@pytest.mark.slow
def test_the_wheel_holds_the_page_the_prompts_and_the_sample_notes(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()

    assert "sill/web/static/index.html" in names
    assert any(re.fullmatch(r"sill/web/static/assets/index-[\w-]+\.js", name) for name in names)
    assert {
        "sill/prompts/chat.txt",
        "sill/sample/vault/Start here.md",
        "sill/py.typed",
        "sill/lexicon/english.bin",
    } <= {*names}
    assert [name for name in names if name.startswith(("tests/", "ui/", "bench/"))] == []


@pytest.mark.slow
def test_the_wheel_is_named_for_the_release_that_comes_next(wheel: Path):
    now = re.match(r"[\d.]+", version())

    assert now and wheel.name.startswith(f"sill-{now[0]}".rstrip("."))


@pytest.mark.slow
def test_an_installed_sill_answers_explains_itself_and_serves_its_page(
    wheel: Path, installed: Path, tiny_server: LocalServer, tmp_path: Path
):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\nOne line.\n")
    environment = {
        "PATH": f"{installed}:{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "OPENAI_BASE_URL": tiny_server.base_url,
        "OPENAI_API_KEY": tiny_server.api_key,
        "LLM_CHAT_REPLY": "8",
    }

    def sill(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(installed / "sill"), *arguments],
            cwd=notes, env=environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    told, doctor = sill("--version"), sill("doctor")
    asked = sill("ask", "What does [[a]] say?", "--json")
    serve = [str(installed / "sill"), "serve", "--port", "0", "--no-open"]
    with subprocess.Popen(serve, cwd=notes, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            address = next(
                found[1]
                for line in server.stdout
                if (found := re.search(r"Log in.*?(http://\S+)", line))
            )
            with httpx.Client(follow_redirects=True, timeout=120) as browser:
                page = browser.get(address)
        finally:
            server.terminate()

    assert told.stdout == f"sill {wheel.name.split('-')[1]}\n"
    assert (doctor.returncode, asked.returncode) in ((0, 0), (0, 1)), doctor.stdout + asked.stderr
    assert '"predicted"' in asked.stdout
    assert (page.status_code, "<title>" in page.text) == (200, True)
