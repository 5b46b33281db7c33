"""How long people wait for the first prompt, against Python itself and the ``llm`` command, in one run.

    python bench/start.py [--json] [--runs N]

Every program is started the same number of times, in turns, in a pseudo-terminal, with warm files. For ``sill`` the
clock stops when the prompt can be typed at; for the others when they have ended.
"""

import os
import pty
import select
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from _shape import finish, show

BIN = Path(sys.executable).parent
PROMPT = "›".encode()
MOST_MS = 300


def until(
    arguments: Sequence[str], home: Path, is_there: Callable[[bytes], bool]
) -> tuple[float, float]:
    """Milliseconds from starting the program to the first output that will do, or to its end; and of its CPU."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        # No model is looked for or started: the prompt does not wait for one, and the machine is the same for all.
        "SILL_BASE_URL": "http://127.0.0.1:9/v1",
        "SILL_MODEL": "none",
    }
    begun = time.perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(home)
        os.execve(arguments[0], list(arguments), environment)
    seen, ended, cpu = b"", 0.0, 0.0
    try:
        while not ended:
            select.select([terminal], [], [], 30)
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the program has ended
                piece = b""
            seen += piece
            if not piece or is_there(seen):
                ended = time.perf_counter()
                cpu = spent(process)
    finally:
        os.close(terminal)  # hangs up
        _, _, used = os.wait4(process, 0)
    return (ended - begun) * 1e3, cpu or (used.ru_utime + used.ru_stime) * 1e3


def spent(process: int) -> float:
    """Milliseconds of CPU by now, on Linux; 0 elsewhere and for a process that has ended."""
    try:
        return sum(
            int(each.read_text().split()[0]) / 1e6
            for each in Path(f"/proc/{process}/task").glob("*/schedstat")
        )
    except OSError:
        return 0.0


def never(_: bytes) -> bool:
    return False


def prompted(seen: bytes) -> bool:
    return PROMPT in seen


def main() -> None:
    runs = int(sys.argv[sys.argv.index("--runs") + 1]) if "--runs" in sys.argv else 9
    programs: dict[str, tuple[list[str], Callable[[bytes], bool]]] = {
        "python -c pass": ([sys.executable, "-c", "pass"], never),
        "sill --help": ([str(BIN / "sill"), "--help"], never),
        "sill, to the first prompt": ([str(BIN / "sill")], prompted),
    }
    if shutil.which("llm", path=str(BIN)):
        programs["llm --help"] = ([str(BIN / "llm"), "--help"], never)
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as home:
        for number in range(runs + 1):
            for name, (arguments, is_there) in programs.items():
                measured = until(arguments, Path(home), is_there)
                if number:  # the first of each warms the files up
                    took[name].append(measured)
    rows = [
        {
            "program": name,
            "median_ms": round(statistics.median(wall for wall, _ in all_of)),
            "best_ms": round(min(wall for wall, _ in all_of)),
            "worst_ms": round(max(wall for wall, _ in all_of)),
            "cpu_ms": round(statistics.median(cpu for _, cpu in all_of)),
        }
        for name, all_of in took.items()
    ]
    show(
        "Start",
        ["program", "median ms", "best", "worst", "CPU ms"],
        [list(row.values()) for row in rows],
    )
    medians = {row["program"]: row["median_ms"] for row in rows}
    first = medians["sill, to the first prompt"]
    bounds = {f"first prompt: {MOST_MS} ms": first <= MOST_MS}
    if "llm --help" in medians:
        bounds["first prompt: before llm has shown its help"] = first < medians["llm --help"]
    for name, holds in bounds.items():
        print(f"{'holds ' if holds else 'MISSED'}  {name}")
    finish({"bench": "start", "runs": runs, "start": rows, "bounds": bounds})


if __name__ == "__main__":
    main()
