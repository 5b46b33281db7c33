"""A server over the real tiny model; its state goes under the test's own folder."""

from collections.abc import Iterator

import pytest

from sill.adapters.local.supervise import LocalServer

from .live import Live, served


@pytest.fixture(scope="module")
def live(tiny_server: LocalServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("gateway")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(folder / name.lower()))
        flags = {
            "base_url": tiny_server.base_url,
            "api_key": tiny_server.api_key,
            "profile.chat.reply": 64,
            "window": 2048,
        }
        with served(folder, flags) as server:
            yield server
