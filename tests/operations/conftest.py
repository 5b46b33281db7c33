import pytest


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """Nothing of a test goes into the home of whoever runs it."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
