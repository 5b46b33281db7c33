from pathlib import Path

import pytest

from sill import paths


@pytest.mark.parametrize(
    "name, variable, under_home",
    [
        pytest.param("config_dir", "XDG_CONFIG_HOME", ".config/sill", id="config"),
        pytest.param("data_dir", "XDG_DATA_HOME", ".local/share/sill", id="data"),
        pytest.param("state_dir", "XDG_STATE_HOME", ".local/state/sill", id="state"),
        pytest.param("cache_dir", "XDG_CACHE_HOME", ".cache/sill", id="cache"),
    ],
)
@pytest.mark.parametrize("given", ["", "relative/path", "/absolute"])
def test_a_directory_follows_its_variable_if_that_is_absolute(
    name: str,
    variable: str,
    under_home: str,
    given: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(variable, f"{tmp_path}/elsewhere" if given == "/absolute" else given)

    found = getattr(paths, name)()

    expected = "elsewhere/sill" if given == "/absolute" else under_home
    assert found == tmp_path / expected
    assert found.stat().st_mode & 0o777 == 0o700


def test_the_runtime_directory_is_the_systems_if_there_is_one(places: Path) -> None:
    assert paths.runtime_dir() == places / "runtime_dir" / "sill"


def test_without_one_it_is_kept_apart_by_machine(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(places / "gone"))

    found = paths.runtime_dir()

    assert found.parent == places / "state_home" / "sill" / "run"
    assert found.stat().st_mode & 0o777 == 0o700
