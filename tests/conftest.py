"""Real servers for tests: the two-layer cut where wording does not matter, the whole model where it does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sill.adapters.local.cut import cut_path, is_cut
from sill.adapters.local.supervise import LocalServer, open_local
from sill.adapters.local.weights import bundled_path, is_fetched


@pytest.fixture(scope="session")
def smol_weights() -> Path:
    """The bundled weights, as `make setup` fetched them."""
    assert is_fetched(), "the bundled weights are missing: run `sill model pull --for-tests`"
    return bundled_path()


@pytest.fixture(scope="session")
def tiny_weights() -> Path:
    """The two-layer cut of the bundled weights: same tokenizer and template, nonsense text."""
    assert is_cut(), "the two-layer cut is missing: run `sill model pull --for-tests`"
    return cut_path()


@pytest.fixture(scope="session")
def tiny_server(
    tiny_weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalServer]:
    """A real llama.cpp server with the cut; of this test process alone."""
    with _opened(tiny_weights, tmp_path_factory) as server:
        yield server


@pytest.fixture(scope="session")
def smol_server(
    smol_weights: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalServer]:
    """A real llama.cpp server with the whole bundled model; slow, so use it only where words matter."""
    with _opened(smol_weights, tmp_path_factory) as server:
        yield server


def _opened(weights: Path, factory: pytest.TempPathFactory) -> LocalServer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_WAIT_POLICY", "passive")  # tests share the machine with each other
        patch.setenv("XDG_RUNTIME_DIR", str(factory.mktemp("run")))
        patch.setenv("XDG_STATE_HOME", str(factory.mktemp("state")))
        return open_local(weights)
