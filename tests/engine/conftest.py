"""A folder of its own, and no settings but the test's."""

import pytest

from .workspace import Workspace


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Workspace:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return Workspace(tmp_path)
