"""Which weights the local model runs: the bundled ones, or a file the user named."""

import json
import os
from pathlib import Path

from ...errors import LocalModelError, UsageError
from ...paths import data_dir
from .header import Header, name_of, read_header
from .weights import bundled_path, models_dir


def chosen_weights() -> Path:
    """The weights to run. They may be missing: opening them says so."""
    try:
        chosen = json.loads(_note().read_text())["weights"]
    except FileNotFoundError:
        return bundled_path()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LocalModelError(
            f"{_note()} cannot be read", hint="`sill model use` writes it anew"
        ) from error
    return Path(chosen)


def choose(name_or_path: str) -> Header:
    """Remember these weights for every later start. ``UsageError`` if they cannot serve a chat."""
    path = find(name_or_path)
    try:
        header = read_header(path)
    except LocalModelError as error:
        raise UsageError(error.message, hint=error.hint) from error
    if not header.has_template:
        raise UsageError(
            f"{path} has no chat template",
            hint="take an instruction-tuned (Instruct, Chat) version",
        )
    partial = _note().with_name(f".{_note().name}.{os.getpid()}")
    partial.write_text(json.dumps({"weights": str(path)}) + "\n")
    partial.replace(_note())
    return header


def find(name_or_path: str) -> Path:
    """The file meant by a path, or by the name of a file in the models directory."""
    path = Path(name_or_path).expanduser()
    if path.is_file():
        return path.resolve()
    named = [known for known in known_weights() if _is_called(known, name_or_path)]
    if named:
        return named[0]
    raise UsageError(
        f"there is no model {name_or_path!r}",
        hint="give the path of a GGUF file, or a name that `sill model list` shows",
    )


def known_weights() -> list[Path]:
    """The bundled weights first, fetched or not; then other files put beside them, then the chosen file."""
    beside = sorted(path for path in models_dir().glob("*.gguf") if not path.name.startswith("."))
    return list(dict.fromkeys([bundled_path(), *beside, chosen_weights()]))


def _is_called(path: Path, name: str) -> bool:
    """By its name or the beginning of it, in any case: `smollm2` will do."""
    return bool(name) and name_of(path).casefold().startswith(name.casefold().removesuffix(".gguf"))


def _note() -> Path:
    return data_dir() / "local-model.json"
