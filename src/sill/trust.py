"""Which project settings may choose where text is sent and what may be spent.

A ``sill.toml`` that comes with somebody else's folder must not be able to send the user's notes and
key to an address the user never chose, nor to lift the user's limits. Loopback addresses are always fine;
anything else needs one ``sill trust``, bound to the exact content of the file.
"""

import hashlib
import ipaddress
import json
import os
from pathlib import Path
from urllib.parse import urlsplit

from .errors import SettingsError
from .settings import Settings

_POWERFUL = (
    "base_url", "api_key", "api_key_env", "database", "local_model", "remote_fallback", "embedder",
    "embed_api_key", "document_summaries",
)  # fmt: skip
_PROGRAMS = "mcpServers."
_MONEY = ("limits.", "prices.")
_LASTING = ("chat_ttl_days",)


def refuse_untrusted(settings: Settings, project_file: Path | None, trust_file: Path) -> None:
    """Raise unless everything the project file chooses stays on this machine or was trusted."""
    if project_file is None or is_trusted(project_file, trust_file):
        return
    for key, value in settings.values.items():
        name = key.rsplit(".", 1)[-1]
        is_money, is_lasting = key.startswith(_MONEY), name in _LASTING
        runs = key.startswith(_PROGRAMS)
        is_powerful = runs or is_money or is_lasting or name in _POWERFUL
        if value.origin != "project file" or not is_powerful:
            continue
        if not runs and name in ("base_url", "embedder") and stays_here(str(value.value)):
            continue
        decides = "what may be spent" if is_money else "where your text goes"
        decides = "which chats are deleted" if is_lasting else decides
        decides = "which programs are started and what they are told" if runs else decides
        raise SettingsError(
            f"{project_file} sets `{key}`, which decides {decides}, and is not trusted yet",
            hint="look at it, then run `sill trust` in that folder",
        )


def stays_here(value: str) -> bool:
    """An address of this machine, or no address at all."""
    return value in ("auto", "none", "bundled") or is_loopback(value)


def is_loopback(url: str) -> bool:
    host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_trusted(project_file: Path, trust_file: Path) -> bool:
    return _seal(project_file) in _seals(trust_file)


def trust(project_file: Path, trust_file: Path) -> None:
    seals = sorted({*_seals(trust_file), _seal(project_file)})
    trust_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = trust_file.with_name(f"{trust_file.name}.{os.getpid()}")
    temporary.write_text(json.dumps(seals, indent=0))
    temporary.replace(trust_file)


def _seal(project_file: Path) -> str:
    try:
        content = project_file.read_bytes()
    except OSError as error:
        raise SettingsError(
            f"{project_file}: {(error.strerror or 'cannot be read').lower()}"
        ) from None
    path = os.path.abspath(project_file).encode()
    return hashlib.sha256(path + b"\0" + content).hexdigest()


def _seals(trust_file: Path) -> list[str]:
    try:
        seals = json.loads(trust_file.read_text())
    except (OSError, ValueError):
        return []
    return [seal for seal in seals if isinstance(seal, str)] if isinstance(seals, list) else []
