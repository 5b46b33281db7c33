"""Which Sill this is: the release a wheel was built as, or what git says of a checkout."""

import re
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
FIRST = "0.1.0"
UNKNOWN = "0+unknown"

# What `git describe --tags --long --dirty` prints: tag, commits since then, the commit, unsaved changes.
_DESCRIBED = re.compile(
    r"v?(?P<tag>\d+(?:\.\d+)*)-(?P<since>\d+)-(?P<commit>g[0-9a-f]+)(?P<dirty>-dirty)?"
)


def built() -> str | None:
    """The version a wheel was built as; None in a checkout."""
    try:
        # `hatch_build.py` puts it into wheels.
        from ._built import VERSION  # type: ignore[import-not-found]
    except ImportError:
        return None
    return str(VERSION)


@cache
def version() -> str:
    """The version of this program: as it was built, else as git tells it now, else as it was installed."""
    return built() or of_checkout(CHECKOUT) or _installed() or UNKNOWN


def of_checkout(folder: Path) -> str | None:
    """What git says of the checkout in ``folder``; None where there is no checkout or no git."""
    if not (folder / ".git").exists():
        return None
    described = _git(folder, "describe", "--tags", "--long", "--dirty", "--match", "v[0-9]*")
    if described is not None:
        return from_description(described)
    # No release yet: all commits lead to the first one.
    commits = _git(folder, "rev-list", "--count", "HEAD")
    commit = _git(folder, "describe", "--always", "--dirty=.dirty", "--exclude=*")
    return f"{FIRST}.dev{commits}+g{commit}" if commits and commit else None


def from_description(described: str) -> str | None:
    """A release for its own commit, and what comes before the next one for all others."""
    found = _DESCRIBED.fullmatch(described)
    if found is None:
        return None
    if found["since"] == "0" and not found["dirty"]:
        return found["tag"]
    local = found["commit"] + (".dirty" if found["dirty"] else "")
    return f"{_next(found['tag'])}.dev{found['since']}+{local}"


def _next(tag: str) -> str:
    *major, patch = tag.split(".")
    return ".".join([*major, str(int(patch) + 1)])


def _git(folder: Path, *arguments: str) -> str | None:
    import subprocess

    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _installed() -> str | None:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("sill")
    except PackageNotFoundError:
        return None
