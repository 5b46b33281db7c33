"""The prompt templates that come with Sill, by id; a folder of the user's own may add to them."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from ..core import prompts
from ..errors import SettingsError


def load(own: Path | None = None) -> Mapping[str, str]:
    """All templates, checked: an unknown placeholder in any of them is an error here and not later."""
    shipped = {
        entry.name.removesuffix(".txt"): entry.read_text(encoding="utf-8")
        for entry in files(__name__).iterdir()
        if entry.name.endswith(".txt")
    }
    added = _read(own) if own is not None else {}
    found = prompts.problems(shipped | added)
    if found:
        raise SettingsError(
            f"prompt template {found[0].template!r}: {found[0].reason}",
            hint="use only the placeholders listed in docs/context.md",
        )
    return dict(sorted((shipped | added).items()))


def template(id: str, templates: Mapping[str, str]) -> str:
    """The template's text; an unknown id is an error that lists the known ones."""
    if id not in templates:
        raise SettingsError(
            f"unknown prompt template {id!r}", hint=f"known: {', '.join(sorted(templates))}"
        )
    return templates[id]


def _read(folder: Path) -> dict[str, str]:
    try:
        return {
            path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))
        }
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"prompt templates in {folder} cannot be read: {error}",
            hint="templates are UTF-8 text files that end in .txt",
        ) from None
