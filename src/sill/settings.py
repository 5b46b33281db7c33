"""Settings: one table of what can be set, and where each value came from.

Later wins: default, the user's file, the project's file, environment, flag.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeVar

from .errors import SettingsError

FILE_NAME = "sill.toml"
PROFILES = ("chat", "chat_ops", "edit", "completion")

Scalar = str | int | float | bool
T = TypeVar("T", bound=Scalar)
Origin = Literal["default", "user file", "project file", "environment", "flag"]


@dataclass(frozen=True, slots=True)
class Spec:
    """One thing that can be set."""

    kind: type[Scalar]
    help: str
    default: Scalar | None = None
    env: tuple[str, ...] = ()
    secret: bool = False
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    value: Scalar | None
    origin: Origin
    where: str = ""  # the file, variable or flag

    @property
    def source(self) -> str:
        return f"{self.origin} {self.where}".strip()


_ENDPOINT = {
    "base_url": Spec(str, "address of an OpenAI-compatible endpoint, with or without /v1"),
    "api_key": Spec(str, "key for that endpoint", secret=True),
    "model": Spec(str, "model name at that endpoint"),
    "tokenizer": Spec(str, "`auto`, an encoding such as o200k_base, or a path to a tokenizer.json"),
    "window": Spec(int, "context window in tokens, where the endpoint does not tell", low=256),
}

_PROFILE = {
    **_ENDPOINT,
    "reply": Spec(int, "tokens kept free for the answer", low=1),
    "margin": Spec(float, "share of the window kept free beside that", low=0, high=0.5),
    "system_cap": Spec(int, "most tokens the system prompt may take", low=64),
    "high_water": Spec(float, "share of the room at which old turns are evicted", low=0.1, high=1),
    "low_water": Spec(float, "share of the room they are evicted down to", low=0.05, high=1),
    "temperature": Spec(float, "sampling temperature", low=0, high=2),
    "layout": Spec(str, "how hidden context is sent", choices=("folded", "separate")),
    "template": Spec(str, "id of the system prompt"),
    "connect_timeout": Spec(float, "seconds to wait for a connection", low=0.01),
    "first_timeout": Spec(float, "seconds to wait for the first word of an answer", low=0.01),
    "idle_timeout": Spec(float, "seconds of silence that end an answer", low=0.01),
}

_GLOBAL = {
    **_ENDPOINT,
    "probe": Spec(bool, "ask the endpoint how it counts and how large its window is", True),
    "database": Spec(str, "SQLite file or postgresql:// URL that keeps the chats", secret=True),
    "local_model": Spec(str, "path to the GGUF file of the local model"),
    "local_window": Spec(int, "context window of the local model", low=256),
    "instructions": Spec(
        str, "what the model should always keep in mind; part of the system prompt"
    ),
    "max_file_bytes": Spec(int, "largest file that is read", 8_000_000, low=1),
}

_ENVIRONMENT = {
    "base_url": ("SILL_BASE_URL", "OPENAI_BASE_URL"),
    "api_key": ("SILL_API_KEY", "OPENAI_API_KEY"),
    "database": ("SILL_DATABASE_URL",),
}


def _table() -> dict[str, Spec]:
    table = {
        key: _with_env(spec, _ENVIRONMENT.get(key, (f"SILL_{key.upper()}",)))
        for key, spec in _GLOBAL.items()
    }
    for profile in PROFILES:
        for key, spec in _PROFILE.items():
            name = f"LLM_{profile.upper()}_{key.upper()}"
            table[f"profile.{profile}.{key}"] = _with_env(spec, (name,))
    return table


def _with_env(spec: Spec, env: tuple[str, ...]) -> Spec:
    return Spec(
        spec.kind, spec.help, spec.default, env, spec.secret, spec.low, spec.high, spec.choices
    )


TABLE: Mapping[str, Spec] = _table()


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked values by dotted name; ask with ``get`` or ``of_profile``."""

    values: Mapping[str, Value] = field(default_factory=dict)

    def value(self, key: str) -> Value:
        return self.values.get(key) or Value(TABLE[key].default, "default")

    def get(self, key: str, kind: type[T]) -> T | None:
        found = self.value(key).value
        return found if isinstance(found, kind) else None

    def of_profile(self, profile: str, key: str, kind: type[T]) -> T | None:
        """The profile's own value, else the general one of the same name, else None."""
        own = self.get(f"profile.{profile}.{key}", kind)
        return self.get(key, kind) if own is None and key in _GLOBAL else own

    def source(self, profile: str, key: str) -> Value:
        own = self.value(f"profile.{profile}.{key}")
        return self.value(key) if own.value is None and key in _GLOBAL else own

    def shown(self) -> Iterator[tuple[str, str, str]]:
        """Name, value and source of everything that is set; secrets are only said to be there."""
        for key, spec in TABLE.items():
            found = self.value(key)
            if found.value is not None:
                text = "(set)" if spec.secret else str(found.value)
                yield key, text, found.source


def load(
    *,
    user_file: Path,
    project_file: Path | None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Scalar | None] | None = None,
) -> Settings:
    """Read and check everything; the first thing that is wrong is a ``SettingsError`` that names it."""
    values: dict[str, Value] = {}
    values |= _read_file(user_file, "user file")
    if project_file is not None:
        values |= _read_file(project_file, "project file")
    values |= _read_environment(os.environ if environment is None else environment)
    for key, given in (flags or {}).items():
        if given is not None:
            where = "--" + key.rsplit(".", 1)[-1].replace("_", "-")
            values[key] = Value(_checked(key, given, where), "flag", where)
    return Settings(values)


def find_project_file(folder: Path) -> Path | None:
    """The nearest ``sill.toml`` in ``folder`` or above it, not above the home directory."""
    home = Path.home()
    for candidate in (folder, *folder.parents):
        if (candidate / FILE_NAME).is_file():
            return candidate / FILE_NAME
        if candidate == home:
            break
    return None


def _read_file(path: Path, origin: Origin) -> dict[str, Value]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8 text", hint="save it as UTF-8") from None
    except OSError as error:
        reason = (error.strerror or "cannot be read").lower()
        raise SettingsError(f"{path}: {reason}", hint="check its permissions") from None
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}", hint="mend that line") from None
    return {
        key: Value(_checked(key, given, str(path)), origin, str(path))
        for key, given in _flattened(tree)
    }


def _flattened(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, given in tree.items():
        if isinstance(given, dict):
            yield from _flattened(given, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", given


def _read_environment(environment: Mapping[str, str]) -> dict[str, Value]:
    values = {}
    for key, spec in TABLE.items():
        for name in spec.env:
            if given := environment.get(name, ""):
                values[key] = Value(
                    _checked(key, _parsed(spec, given, name), name), "environment", name
                )
                break
    for name in environment:
        if name.startswith("LLM_") and name.startswith(
            tuple(f"LLM_{p.upper()}_" for p in PROFILES)
        ):
            _known_variable(name)
    return values


def _known_variable(name: str) -> None:
    names = [n for spec in TABLE.values() for n in spec.env]
    if name not in names:
        near = get_close_matches(name, names, n=1)
        raise SettingsError(
            f"environment variable {name} is not a setting",
            hint=f"did you mean {near[0]}?" if near else "unset it",
        )


def _parsed(spec: Spec, given: str, name: str) -> Scalar:
    if spec.kind is bool:
        if given.lower() in ("1", "true", "yes", "on"):
            return True
        if given.lower() in ("0", "false", "no", "off"):
            return False
        raise SettingsError(f"{name}={given}: not a yes or no", hint="use true or false")
    if spec.kind is str:
        return given
    try:
        return spec.kind(given)
    except ValueError:
        raise SettingsError(f"{name}={given}: not a number") from None


def _checked(key: str, given: Any, where: str) -> Scalar:
    spec = TABLE.get(key)
    if spec is None:
        near = get_close_matches(key, TABLE, n=1)
        hint = f"did you mean `{near[0]}`?" if near else "`sill doctor --settings` lists all"
        raise SettingsError(f"{where}: unknown setting `{key}`", hint=hint)
    if spec.kind is float and isinstance(given, int) and not isinstance(given, bool):
        given = float(given)
    if not isinstance(given, spec.kind) or (spec.kind is not bool and isinstance(given, bool)):
        names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
        raise SettingsError(f"{where}: `{key}` must be {names[spec.kind]}, not {given!r}")
    if isinstance(given, int | float):
        if spec.low is not None and given < spec.low:
            raise SettingsError(f"{where}: `{key}` is {given}, must be at least {spec.low:g}")
        if spec.high is not None and given > spec.high:
            raise SettingsError(f"{where}: `{key}` is {given}, must be at most {spec.high:g}")
    if spec.choices and given not in spec.choices:
        raise SettingsError(f"{where}: `{key}` must be one of {', '.join(spec.choices)}")
    checked: Scalar = given
    return checked
