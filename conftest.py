"""The one option of the suite: ``--long`` runs the longer crash, race and fuzz tests too."""

import pytest
from hypothesis import settings

# How long an example takes says more about the machine's other work than about ours.
settings.register_profile("sill", deadline=None)
settings.load_profile("sill")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run tests marked `long`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
