"""Kill a process that edits five files without pause, again and again, and look at what is left.

    python tests/crash/kill9.py --kills 200 --files 5

Every line of a file names the version it belongs to, so a half-written file and a mixture of versions both show.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from sill.adapters.vault.apply import Applied, Stamp, apply, approve
from sill.adapters.vault.recover import recover
from sill.adapters.vault.transact import Workspace
from sill.core.edits import Scope
from sill.core.ops import Replace, Whole
from sill.core.proposal import Preview, Proposal, preview, propose

LINES = 120


@dataclass
class Tally:
    kills: int = 0
    half_written: int = 0
    mixed: int = 0
    stray: int = 0
    slowest_ms: float = 0.0
    recovered: Counter[str] = field(default_factory=Counter)
    versions: int = 0

    @property
    def is_clean(self) -> bool:
        return self.kills > 0 and self.half_written == self.mixed == self.stray == 0

    def __str__(self) -> str:
        met = ", ".join(f"{name} {count}" for name, count in sorted(self.recovered.items()))
        return (
            f"{self.kills} kills during {self.versions} applies: {self.half_written} half-written, "
            f"{self.mixed} mixed, {self.stray} stray files; recovery at most {self.slowest_ms:.0f} ms; "
            f"found at recovery: {met}"
        )


def text(version: int) -> str:
    return f"version {version}\n" * LINES


def run(folder: Path, kills: int, files: int, seed: int = 7) -> Tally:
    chance = random.Random(seed)
    names = [f"note {number}.md" for number in range(files)]
    workspace = Workspace(folder / "ws", folder / "state")
    workspace.root.mkdir()
    for name in names:
        (workspace.root / name).write_text(text(0))
    tally = Tally()
    for _ in range(kills):
        _kill_one(workspace, names, chance.random())
        started = time.perf_counter()
        found = recover(workspace, int(time.time() * 1000) + 5_000)
        tally.slowest_ms = max(tally.slowest_ms, (time.perf_counter() - started) * 1000)
        tally.kills += 1
        tally.recovered.update([one.outcome for one in found] or ["nothing"])
        _look(workspace.root, names, tally)
    return tally


def _kill_one(workspace: Workspace, names: list[str], moment: float) -> None:
    """Start a process that edits without pause, and kill it at this part of its second edit."""
    hears, tells = os.pipe()
    child = os.fork()
    if child == 0:
        # Whatever happens, this process must not go on as a second test run.
        try:
            version = int((workspace.root / names[0]).read_text().split()[1])
            while True:
                version += 1
                os.write(tells, b".")
                edit_once(workspace, names, version)
        finally:
            os._exit(3)
    os.close(tells)
    os.read(hears, 1)
    started = time.perf_counter()
    os.read(hears, 1)
    # How long an edit takes depends on how busy the disk is; the first one tells.
    time.sleep(moment * (time.perf_counter() - started))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(hears)
    assert os.WIFSIGNALED(status), "the editing process ended by itself"


def edit_once(workspace: Workspace, names: list[str], version: int) -> None:
    documents = {name: (workspace.root / name).read_text() for name in names}
    made = propose("", [Replace(name, Whole(), text(version)) for name in names], Scope(documents))
    assert isinstance(made, Proposal)
    shown = preview(made)
    assert isinstance(shown, Preview)
    result = apply(workspace, made, approve(shown), Stamp(int(time.time() * 1000)))
    assert isinstance(result, Applied), result


def _look(root: Path, names: list[str], tally: Tally) -> None:
    versions = set()
    half = False
    for name in names:
        content = (root / name).read_text()
        version = int(content.split()[1]) if content.startswith("version ") else -1
        half |= content != text(version)
        versions.add(version)
    tally.half_written += half
    tally.mixed += len(versions) > 1
    tally.stray += len(set(os.listdir(root)) - set(names))  # noqa: PTH208
    tally.versions = max(tally.versions, *versions)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--files", type=int, default=5)
    parser.add_argument(
        "--in", dest="folder", type=Path, help="where to work (default: a temporary folder)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        tally = run(Path(folder), options.kills, options.files)
    print(tally)
    return 0 if tally.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
