import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every directory of Sill under one that is thrown away; what it starts does not spin."""
    for variable in ("CONFIG_HOME", "DATA_HOME", "STATE_HOME", "CACHE_HOME", "RUNTIME_DIR"):
        directory = tmp_path / variable.lower()
        directory.mkdir()
        monkeypatch.setenv(f"XDG_{variable}", str(directory))
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    yield tmp_path
    shutil.rmtree(tmp_path / "data_home")  # weights are large, and pytest keeps what is left
