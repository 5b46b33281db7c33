"""The user's own editor, at a line."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from ..errors import UsageError

_PLUS = frozenset(
    ("vi", "vim", "nvim", "gvim", "view", "nano", "emacs", "emacsclient", "kak", "micro", "joe")
)
_GOTO = frozenset(["code", "code-insiders", "codium", "cursor", "windsurf"])
_COLON = frozenset(["subl", "zed", "hx", "helix", "mate"])


def editor_command(editor: str, path: str, line: int) -> list[str]:
    """The command that opens ``path`` at ``line``; an editor nobody knows gets the file alone."""
    words = shlex.split(editor)
    name = Path(words[0]).name.removesuffix(".exe") if words else ""
    if name in _PLUS:
        return [*words, f"+{line}", path]
    if name in _GOTO:
        return [*words, "--goto", f"{path}:{line}"]
    if name in _COLON:
        return [*words, f"{path}:{line}"]
    return [*words, path]


def chosen_editor() -> str | None:
    """The user's editor, or one that is there."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    return named or next((one for one in ("nano", "vim", "vi") if shutil.which(one)), None)


def open_editor(path: Path, line: int = 1) -> int:
    """Its exit code, once the user has closed it. ``UsageError`` where there is no editor."""
    editor = chosen_editor()
    if editor is None:
        raise UsageError("there is no editor", hint="set EDITOR")
    try:
        return subprocess.call(editor_command(editor, str(path), line))
    except OSError as error:
        hint = "set EDITOR to another one"
        raise UsageError(f"{editor}: {error.strerror}", hint=hint) from None
