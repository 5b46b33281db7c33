"""What it costs to change ten files as one transaction, against ten bare writes in the same run.

    python bench/apply.py [--json] [--rounds N] [--files N] [--in FOLDER]

Bare means: write a temporary file, fsync it, rename it over the old one; no journal, no check, no undo. The two
take turns, so a busy disk is busy for both; the middle of all rounds counts.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from _shape import finish, show

from sill.adapters.vault.apply import Applied, Stamp, apply, approve
from sill.adapters.vault.transact import Workspace
from sill.adapters.vault.undo import undo
from sill.core.edits import Scope
from sill.core.ops import Anchor, Replace
from sill.core.proposal import Preview, Proposal, preview, propose

LIMIT = 5.0


def text(number: int, version: int) -> str:
    return f"# Note {number}\n\nversion {version}.\n\n" + f"A line of note {number}.\n" * 200


def bare(folder: Path, files: int, version: int) -> float:
    data = [text(number, version).encode() for number in range(files)]
    started = time.perf_counter()
    for number, content in enumerate(data):
        path = folder / f"{number}.md"
        temp = folder / f".{number}.tmp"
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(descriptor, content)
        os.fsync(descriptor)
        os.close(descriptor)
        temp.rename(path)
    return time.perf_counter() - started


def proposed(workspace: Workspace, files: int, version: int) -> tuple[Proposal, Preview]:
    texts = {f"{n}.md": (workspace.root / f"{n}.md").read_text() for n in range(files)}
    ops = [
        Replace(path, Anchor(f"version {version - 1}."), f"version {version}.") for path in texts
    ]
    made = propose("", ops, Scope(texts))
    assert isinstance(made, Proposal)
    shown = preview(made)
    assert isinstance(shown, Preview)
    return made, shown


def timed_apply(workspace: Workspace, files: int, version: int) -> float:
    made, shown = proposed(workspace, files, version)
    agreed = approve(shown)
    started = time.perf_counter()
    result = apply(workspace, made, agreed, Stamp(version))
    took = time.perf_counter() - started
    assert isinstance(result, Applied), result
    return took


def timed_undo(workspace: Workspace, version: int) -> float:
    started = time.perf_counter()
    result = undo(workspace, Stamp(version))
    took = time.perf_counter() - started
    assert isinstance(result, Applied), result
    return took


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument(
        "--in", dest="folder", type=Path, help="which disk (default: the temporary folder's)"
    )
    options = parser.parse_args()
    times: dict[str, list[float]] = {"bare": [], "apply": [], "undo": []}
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        top = Path(name)
        workspace = Workspace(top / "ws", top / "state")
        for folder in (workspace.root, top / "bare"):
            folder.mkdir()
            for number in range(options.files):
                (folder / f"{number}.md").write_text(text(number, 0))
        for round in range(1, options.rounds + 1):
            times["bare"].append(bare(top / "bare", options.files, round))
            times["apply"].append(timed_apply(workspace, options.files, 1))
            times["undo"].append(timed_undo(workspace, round))

    middle = {name: median(all_of) * 1000 for name, all_of in times.items()}
    ratio = middle["apply"] / middle["bare"]
    show(
        f"{options.files} files, {options.rounds} rounds",
        ["way", "median ms", "best ms", "times bare"],
        [
            [
                name,
                f"{middle[name]:.1f}",
                f"{min(times[name]) * 1000:.1f}",
                f"{middle[name] / middle['bare']:.2f}",
            ]
            for name in times
        ],
    )
    finish(
        {
            "benchmark": "apply",
            "files": options.files,
            "rounds": options.rounds,
            "bare_ms": round_to(middle["bare"]),
            "apply_ms": round_to(middle["apply"]),
            "undo_ms": round_to(middle["undo"]),
            "ratio": round_to(ratio),
            "limit": LIMIT,
            "ok": ratio <= LIMIT,
        }
    )
    return 0 if ratio <= LIMIT else 1


def round_to(value: float) -> float:
    return round(value, 2)


if __name__ == "__main__":
    sys.exit(main())
