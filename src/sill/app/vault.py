"""A folder as a vault, the way the settings want it."""

from pathlib import Path

from ..adapters.store import POSTGRES_URLS
from ..adapters.vault.index import DiskVault
from ..adapters.vault.scan import Choice, choice
from ..settings import Settings
from .embedding import embedder_of


def vault_of(folder: Path, settings: Settings) -> DiskVault:
    """The vault over ``folder``, without the files the settings leave out, searched by their embedder."""
    database = index_place(settings)
    return DiskVault(folder, database, wanted=wanted_of(settings), embedder=embedder_of(settings))


def index_place(settings: Settings) -> str | None:
    """The PostgreSQL database that the settings name: the index is there, too. None: a file for each folder."""
    database = settings.get("database", str) or ""
    return database if database.startswith(POSTGRES_URLS) else None


def wanted_of(settings: Settings) -> Choice:
    """Which files count, beside what is always left out."""
    return choice(include=_patterns(settings, "include"), exclude=_patterns(settings, "exclude"))


def _patterns(settings: Settings, name: str) -> tuple[str, ...]:
    listed = (settings.get(name, str) or "").replace("\n", ",").split(",")
    return tuple(pattern.strip() for pattern in listed if pattern.strip())
