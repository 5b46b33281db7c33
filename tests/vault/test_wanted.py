"""The settings say which files count."""

import asyncio
from pathlib import Path

import pytest

from sill.app.vault import vault_of
from sill.settings import Scalar, load

FILES = ("a.md", "b.txt", "Old/c.md", "Old/deep/d.md", "Templates/e.md")


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        pytest.param({}, list(FILES), id="everything"),
        pytest.param(
            {"exclude": "Old/"}, ["Templates/e.md", "a.md", "b.txt"], id="a folder is out"
        ),
        pytest.param(
            {"exclude": " Templates/**,Old/deep "}, ["Old/c.md", "a.md", "b.txt"], id="two patterns"
        ),
        pytest.param(
            {"include": "*.md"},
            ["Old/c.md", "Old/deep/d.md", "Templates/e.md", "a.md"],
            id="only notes",
        ),
        pytest.param({"include": "*.md", "exclude": "Old"}, ["Templates/e.md", "a.md"], id="both"),
    ],
)
def test_only_wanted_files_are_searched(
    flags: dict[str, Scalar | None],
    found: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    root = tmp_path / "vault"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("frost\n")
    settings = load(
        user_file=tmp_path / "none.toml",
        project_file=None,
        environment={},
        flags={"embedder": "none", **flags},
    )

    async def paths() -> list[str]:
        vault = vault_of(root, settings)
        try:
            await vault.refresh()
            hits = await vault.search("frost", 20, "text")
            return sorted(hit.path for hit in hits)
        finally:
            await vault.close()

    assert asyncio.run(paths()) == sorted(found)
