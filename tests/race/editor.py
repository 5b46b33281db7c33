"""Edit a file over and over while an editor saves it as fast as it can, and count the saves that vanish.

    python tests/race/editor.py --secs 30 --style inplace,rename

The editor numbers its saves and aims them at the moments our apply is at work. Our edit keeps the number and adds a
line. After every round the editor's last save must be found: in the file, or in a copy kept beside it.
"""

import argparse
import mmap
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sill.adapters.vault.apply import Applied, Conflict, Stamp, apply, approve
from sill.adapters.vault.files import DiskFs
from sill.adapters.vault.recover import recover
from sill.adapters.vault.transact import Workspace
from sill.core.edits import Scope
from sill.core.ops import Insert, Whole
from sill.core.proposal import Preview, Proposal, preview, propose

GO, RESTING, SAVES, PACE = (
    0,
    1,
    8,
    16,
)  # bytes of the page both share; the numbers take four of them each


@dataclass
class Tally:
    style: str
    applied: int = 0
    conflicts: int = 0
    kept: int = 0
    saves: int = 0
    lost: int = 0

    def __str__(self) -> str:
        return (
            f"{self.style}: {self.applied} applied, {self.conflicts} conflicts, {self.saves} saves by the editor, "
            f"{self.kept} kept beside the file, {self.lost} lost"
        )


def save_in_place(path: Path, data: bytes) -> None:
    with path.open("r+b", buffering=0) as file:
        file.truncate(0)
        file.write(data[: len(data) // 2])
        file.write(data[len(data) // 2 :])


def save_by_renaming(path: Path, data: bytes) -> None:
    new = path.with_name(path.name + ".swp")
    new.write_bytes(data)
    os.replace(new, path)  # noqa: PTH105


SAVERS = {"inplace": save_in_place, "rename": save_by_renaming}


def content(number: int) -> bytes:
    return b"".join(b"save %d line %d\n" % (number, line) for line in range(200))


@contextmanager
def editing(path: Path, style: str, page: mmap.mmap) -> Iterator[None]:
    """A process that saves once or twice, some time after it is told to go."""
    child = os.fork()
    if child == 0:
        # Whatever happens, this process must not go on as a second test run.
        try:
            _save_for_ever(path, style, page)
        finally:
            os._exit(3)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _save_for_ever(path: Path, style: str, page: mmap.mmap) -> None:
    chance = random.Random(5)
    number = 0
    while True:
        if not page[GO]:
            time.sleep(0.0001)
            continue
        page[GO] = 0
        for _ in range(chance.randint(1, 2)):
            time.sleep(chance.uniform(0, number_at(page, PACE) / 1e6))
            number += 1
            SAVERS[style](path, content(number))
            page[SAVES : SAVES + 4] = number.to_bytes(4, "little")
        page[RESTING] = 1


def run(folder: Path, style: str, seconds: float) -> Tally:
    # Waiting for the disk would only make the race slower: who sees what does not depend on it.
    workspace = Workspace(folder / "ws", folder / "state", fs=DiskFs(durable=False))
    workspace.root.mkdir(parents=True)
    path = workspace.root / "note.md"
    path.write_bytes(content(0))
    page = mmap.mmap(-1, 4096)
    tally = Tally(style)
    end = time.monotonic() + seconds
    pace = 0.005
    with editing(path, style, page):
        while time.monotonic() < end or not (tally.applied and tally.conflicts):
            # On a busy machine a few seconds are a few rounds, and the two may not have met yet.
            if time.monotonic() > end + 60:
                break
            page[PACE : PACE + 4] = int(pace * 1e6).to_bytes(4, "little")
            started = time.perf_counter()
            _edit(workspace, path, tally, page)
            pace = 0.8 * pace + 0.2 * (time.perf_counter() - started)
            _wait_for(page, RESTING)
            page[RESTING] = 0
            # Nobody has the file open now, so everything displaced can be settled.
            for one in recover(workspace, int(time.time() * 1000) + 5_000):
                tally.kept += len(one.kept)
            tally.saves = number_at(page, SAVES)
            tally.lost += not _is_found(workspace.root, tally.saves)
            _forget_copies(workspace.root)
    return tally


def _wait_for(page: mmap.mmap, flag: int) -> None:
    patience = time.monotonic() + 60
    while not page[flag]:
        assert time.monotonic() < patience, "the editor is gone"
        time.sleep(0.0002)


def number_at(page: mmap.mmap, at: int) -> int:
    return int.from_bytes(page[at : at + 4], "little")


def _edit(workspace: Workspace, path: Path, tally: Tally, page: mmap.mmap) -> None:
    text = path.read_bytes().decode()
    made = propose(
        "", [Insert("note.md", Whole(), f"ours {tally.applied}")], Scope({"note.md": text})
    )
    assert isinstance(made, Proposal)
    shown = preview(made)
    assert isinstance(shown, Preview)
    page[GO] = 1
    match apply(workspace, made, approve(shown), Stamp(int(time.time() * 1000))):
        case Applied(kept=kept):
            tally.applied += 1
            tally.kept += len(kept)
        case Conflict(kept=kept):
            tally.conflicts += 1
            tally.kept += len(kept)
        case other:
            raise AssertionError(other)


def _is_found(root: Path, number: int) -> bool:
    """Whether a file holds that whole save, with or without a line of ours."""
    wanted = content(number)
    return any(wanted in path.read_bytes() for path in root.iterdir())


def _forget_copies(root: Path) -> None:
    for path in root.iterdir():
        if "(conflict " in path.name:
            path.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--secs", type=float, default=30)
    parser.add_argument("--style", default="inplace,rename")
    options = parser.parse_args()
    lost = 0
    for style in options.style.split(","):
        with tempfile.TemporaryDirectory() as folder:
            tally = run(Path(folder), style, options.secs)
        print(tally)
        lost += tally.lost
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
