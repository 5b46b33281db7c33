"""Other programs to compare with: installed once, each in an environment of its own."""

import subprocess
import sys
from pathlib import Path

from sill.paths import cache_dir


def peer_or_none(name: str, *requirements: str) -> Path | None:
    """The same as ``peer_python``; None, told on standard error, where it cannot be installed."""
    try:
        return peer_python(name, *requirements)
    except (OSError, subprocess.CalledProcessError):
        print(f"bench: {', '.join(requirements)} could not be installed", file=sys.stderr)
        return None


def peer_python(name: str, *requirements: str) -> Path:
    """The Python of an environment that has ``requirements``; made the first time."""
    place = cache_dir() / "bench" / name
    python, ready = place / "bin" / "python", place / ".ready"
    wanted = "\n".join(requirements)
    if not ready.exists() or ready.read_text() != wanted:
        print(f"bench: installing {', '.join(requirements)}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, *requirements], check=True)
        ready.write_text(wanted)
    return python
