"""The settings that hold in a folder: the user's, the project's as far as they are trusted, and the caller's own."""

from collections.abc import Mapping
from pathlib import Path

from ..errors import UsageError
from ..paths import config_dir, state_dir
from ..settings import FILE_NAME, Scalar, Settings, find_project_file, load
from ..trust import refuse_untrusted


def settle(folder: Path, flags: Mapping[str, Scalar | None], hint: str) -> tuple[Path, Settings]:
    """``folder`` as it is on disk, and its settings; ``hint`` says how to name another one."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder", hint=hint)
    folder = folder.resolve()
    project_file = find_project_file(folder)
    settings = load(user_file=config_dir() / FILE_NAME, project_file=project_file, flags=flags)
    refuse_untrusted(settings, project_file, state_dir() / "trusted.json")
    return folder, settings
