"""Settings files, variables and flags become checked values; every mistake is named."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..errors import SettingsError
from .table import (
    FALLBACK,
    MCP_SERVER,
    MCP_SERVERS,
    NEEDED,
    PRICE,
    PROFILES,
    TABLE,
    Scalar,
    Spec,
    group_of,
    spec_of,
)
from .values import Origin, Settings, Value

FILE_NAME = "sill.toml"


def load(
    *,
    user_file: Path,
    project_file: Path | None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Scalar | None] | None = None,
) -> Settings:
    """Read and check everything; the first thing that is wrong is a ``SettingsError`` that names it."""
    environment = os.environ if environment is None else environment
    values = _read_file(user_file, "user file")
    if project_file is not None:
        values = _over(values, _read_file(project_file, "project file"))
    values |= _read_environment(environment)
    values |= _named_keys(values, environment)
    for key, given in (flags or {}).items():
        if given is not None:
            where = "--" + key.rsplit(".", 1)[-1].replace("_", "-")
            values[key] = Value(_checked(key, given, where), "flag", where)
    return Settings(values)


def _over(values: dict[str, Value], nearer: dict[str, Value]) -> dict[str, Value]:
    """``nearer`` goes first; a price or a list of fallbacks it has replaces the other one whole."""
    replaced = {_whole(key) for key in nearer} - {None}
    return {key: v for key, v in values.items() if _whole(key) not in replaced} | nearer


def _whole(key: str) -> str | None:
    group = group_of(key)
    return group.rsplit(".", 1)[0] if group and ".fallback." in group else group


def _named_keys(values: Mapping[str, Value], environment: Mapping[str, str]) -> dict[str, Value]:
    """The keys of fallbacks that name the variable they are in; one that is not set is left out."""
    named = {
        key.removesuffix("_env"): str(found.value)
        for key, found in values.items()
        if key.endswith(".api_key_env")
    }
    return {
        key: Value(environment[name], "environment", name)
        for key, name in named.items()
        if environment.get(name)
    }


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
    values = {
        key: Value(_checked(key, given, str(path)), origin, str(path))
        for key, given in _flattened(tree)
    }
    for group in dict.fromkeys(filter(None, map(group_of, values))):
        _check_whole(group, values, str(path))
    return values


def _flattened(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted names and their values; the tables of an array are numbered from 1."""
    for key, given in tree.items():
        if isinstance(given, dict):
            yield from _flattened(given, f"{prefix}{key}.")
        elif isinstance(given, list) and prefix.startswith(f"{MCP_SERVERS}."):
            for number, one in enumerate(given, start=1):
                yield f"{prefix}{key}.{number}", one
        elif isinstance(given, list) and given and all(isinstance(one, dict) for one in given):
            numbered = {str(number): one for number, one in enumerate(given, start=1)}
            yield from _flattened(numbered, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", given


def _check_whole(group: str, values: Mapping[str, Value], where: str) -> None:
    if group.startswith(f"{MCP_SERVERS}."):
        ways = [name for name in ("command", "url") if f"{group}.{name}" in values]
        if len(ways) != 1:
            raise SettingsError(
                f"{where}: `{group}` needs `command` or `url`", hint=_HINTS["server"]
            )
        return
    kind = "price" if group.startswith("prices.") else "fallback"
    for name in NEEDED[kind]:
        if f"{group}.{name}" not in values:
            raise SettingsError(f"{where}: `{group}` lacks `{name}`", hint=_HINTS[kind])


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


_HINTS = {
    "price": '[prices."MODEL"] with prompt and completion, in dollars per million tokens',
    "fallback": "[[profile.NAME.fallback]] with base_url, and model, api_key_env and so on",
    "server": f"[{MCP_SERVERS}.NAME] with command and args, or with url",
}


def _unknown(key: str, where: str) -> SettingsError:
    group = group_of(key)
    if key.startswith(MCP_SERVERS):
        near = get_close_matches("".join(key.split(".", 2)[2:]), MCP_SERVER, n=1)
        hint = f"did you mean `{near[0]}`?" if near else _HINTS["server"]
    elif group is not None:
        fields = PRICE if group.startswith("prices.") else FALLBACK
        near = get_close_matches(key.rsplit(".", 1)[-1], fields, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(fields)}"
    elif key.startswith("prices") or key.endswith(".fallback") or ".fallback." in key:
        hint = _HINTS["price" if key.startswith("prices") else "fallback"]
    else:
        near = get_close_matches(key, TABLE, n=1)
        hint = f"did you mean `{near[0]}`?" if near else "`sill doctor --settings` lists all"
    return SettingsError(f"{where}: unknown setting `{key}`", hint=hint)


def _checked(key: str, given: Any, where: str) -> Scalar:
    spec = spec_of(key)
    if spec is None:
        raise _unknown(key, where)
    if isinstance(given, bool) and str(given).lower() in spec.choices:
        given = str(given).lower()  # `true` where there is a third way beside yes and no
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
