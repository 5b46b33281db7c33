"""A folder and a home of the test's own."""

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Notes, and nothing of the user's: no settings, no variables, no database."""
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "SILL_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "plan.md").write_text("# Plan\n\nBuy milk. See [[shop]].\n")
    (notes / "shop.md").write_text("# Shop\n\nOpen until nine.\n")
    return notes
