"""A home for each test: nothing of the user's is read or written."""

import pytest


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home" / name.lower()))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
