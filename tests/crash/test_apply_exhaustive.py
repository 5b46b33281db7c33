"""A crash before every effect on the disk, and another one before every effect of the recovery.

Whatever happens, the files are all old or all new afterwards, and nothing else is left in the folder.
"""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sill.adapters.vault.apply import Applied, Conflict, Stamp, apply, approve
from sill.adapters.vault.files import DiskFs
from sill.adapters.vault.recover import Recovered, recover
from sill.adapters.vault.transact import Workspace
from sill.adapters.vault.undo import history, redo, undo
from sill.core.edits import Scope
from sill.core.ops import Delete, Insert, Replace, Span, Whole
from sill.core.proposal import Proposal, preview, propose
from sill.errors import VaultError

from .fake_disk import Crash, MemoryFs, Stopping

OLD = {"a.md": b"one\n", "b.md": b"two\r\n", "gone.md": b"bye\n", "sub/": b"", "sub/c.md": b"three"}
NEW = {
    "a.md": b"ONE\n",
    "b.md": b"TWO\r\n",
    "new/": b"",
    "new/deep/": b"",
    "new/deep/d.md": b"four\n",
    "sub/": b"",
    "sub/c.md": b"THREE",
}
NOW = Stamp(10_000, token="0badcafe")
NOW_ID = "00000001-0badcafe"
LATER = Stamp(20_000, token="deadbeef")


def proposal() -> Proposal:
    documents = {path: data.decode() for path, data in OLD.items() if not path.endswith("/")}
    made = propose(
        "shout",
        [
            Replace("a.md", Span(0, 3), "ONE"),
            Replace("b.md", Span(0, 3), "TWO"),
            Replace("sub/c.md", Whole(), "THREE"),
            Insert("new/deep/d.md", Whole(), "four\n"),
            Delete("gone.md", Whole()),
        ],
        Scope({**documents, "new/deep/d.md": None}),
    )
    assert isinstance(made, Proposal)
    return made


PROPOSAL = proposal()
APPROVAL = approve(preview(PROPOSAL))  # type: ignore[arg-type]


def workspace(fs: Any) -> Workspace:
    return Workspace(Path("ws"), Path("state"), fs=fs)


def do(fs: Any, stamp: Stamp = NOW) -> Any:
    return apply(workspace(fs), PROPOSAL, APPROVAL, stamp)


def fresh(tree: dict[str, bytes] = OLD, **can: bool) -> MemoryFs:
    fs = MemoryFs(**can)
    for path, data in tree.items():
        if not path.endswith("/"):
            fs.put(f"ws/{path}", data)
    return fs


def crashed(make: Any, action: Any, *, torn: bool = False) -> Iterator[tuple[int, Any]]:
    """A disk for every effect of ``action``, dead just before it."""
    stop = 0
    while True:
        fs = make()
        stopping = Stopping(fs, stop, torn=torn)
        try:
            action(stopping)
        except Crash:
            fs.restart()
            yield stop, fs
        else:
            return
        stop += 1


DISKS = [
    pytest.param({}, id="exchange"),
    pytest.param({"can_exchange": False}, id="hard links only"),
    pytest.param({"can_exchange": False, "can_link": False}, id="renames only"),
]


@pytest.mark.parametrize("can", DISKS)
@pytest.mark.parametrize("torn", [False, True], ids=["before", "in the middle of a write"])
def test_after_a_crash_all_files_are_old_or_all_are_new(can, torn):
    outcomes = []
    for stop, fs in crashed(partial(fresh, **can), do, torn=torn):
        recover(workspace(fs), LATER.when_ms)
        assert fs.tree() in (OLD, NEW), stop
        outcomes.append(fs.tree() == NEW)

    # Old until the decision, new from then on.
    assert outcomes == sorted(outcomes)
    assert 0 < sum(outcomes) < len(outcomes)


@pytest.mark.parametrize("can", DISKS)
def test_a_crash_during_the_recovery_from_a_crash(can):
    recoveries = 0
    for stop, dead in crashed(partial(fresh, **can), do):
        seen = set()

        def again(stop: int = stop) -> MemoryFs:
            fs = fresh(**can)
            with pytest.raises(Crash):
                do(Stopping(fs, stop))
            fs.restart()
            return fs

        recover(workspace(dead), LATER.when_ms)
        for _, fs in crashed(again, lambda fs: recover(workspace(fs), LATER.when_ms)):
            recover(workspace(fs), LATER.when_ms)
            seen.add(fs.tree() == NEW)
            assert fs.tree() == dead.tree(), stop
            recoveries += 1
    assert recoveries > 150


@pytest.mark.parametrize(
    "turn, before, after", [(undo, NEW, OLD), (redo, OLD, NEW)], ids=["undo", "redo"]
)
def test_a_crash_during_undo_or_redo(turn, before, after):
    def prepared() -> MemoryFs:
        fs = fresh()
        do(fs)
        if turn is redo:
            undo(workspace(fs), NOW)
        assert fs.tree() == before
        return fs

    outcomes = []
    for stop, fs in crashed(prepared, lambda fs: turn(workspace(fs), LATER)):
        recover(workspace(fs), LATER.when_ms)
        assert fs.tree() in (before, after), stop
        outcomes.append(fs.tree() == after)
    assert outcomes == sorted(outcomes)
    assert 0 < sum(outcomes) < len(outcomes)


def test_the_next_apply_finishes_what_a_crash_left_behind():
    """Nobody called ``recover``: whoever comes next does it first."""
    for stop, fs in crashed(fresh, do):
        again = do(fs, LATER)
        assert fs.tree() == NEW, stop
        # Finished by the recovery, the files are no longer what the proposal was made from.
        assert isinstance(again, Applied | Conflict), stop
        assert [record.is_applied for record in history(workspace(fs))] == [True], stop
    assert stop > 20


@pytest.mark.parametrize(
    "kept", [lambda n: 0, lambda n: n // 2, lambda n: n], ids=["none", "half", "all"]
)
def test_the_power_goes(kept):
    for stop, fs in crashed(fresh, do):
        fs.lose_power(kept)
        recover(workspace(fs), LATER.when_ms)
        assert fs.tree() in (OLD, NEW), stop
    assert stop > 20


def test_what_was_reported_survives_the_power():
    fs = fresh()
    done = do(fs)
    fs.lose_power(lambda n: 0)
    recover(workspace(fs), LATER.when_ms)

    assert isinstance(done, Applied)
    assert fs.tree() == NEW
    assert undo(workspace(fs), LATER) == Applied("00000002-deadbeef", done.files)
    assert fs.tree() == OLD


@pytest.mark.parametrize(
    "number", [28, 5, 30], ids=["disk full", "input/output error", "read-only"]
)
def test_an_error_of_the_disk_leaves_all_or_nothing(number):
    for stop in range(100):
        fs = fresh()
        stopping = Stopping(fs, stop, lambda: OSError(number, "no"))
        try:
            result = do(stopping)
        except VaultError:
            result = None
        if stopping.effects <= stop:
            break
        fs.restart()
        left = fs.tree()
        recover(workspace(fs), LATER.when_ms)
        assert fs.tree() in (OLD, NEW), stop
        if isinstance(result, Applied):
            assert {path: left[path] for path in NEW} == NEW
            assert fs.tree() == NEW
    else:
        pytest.fail("it never ended")


class Editor:
    """Somebody who saves a file just before each of these effects; ``saved`` is what they saved last."""

    def __init__(self, fs: MemoryFs, path: str, style: str, *moments: int) -> None:
        self.fs, self.path, self.style, self.moments = fs, f"ws/{path}", style, moments
        self.saved: bytes | None = None
        self.opened = fs.file(self.path) if style == "opened before" else None
        if self.opened:
            self.opened.writers = 1

    def __call__(self, number: int, name: str, arguments: Any) -> None:
        if number not in self.moments:
            return
        text = b"theirs %d" % number
        found = self.opened or self.fs.file(self.path)
        if self.style == "by renaming":
            self.fs.put(self.path, text)
        elif found is None:
            return
        else:
            found.data, found.writers = text, 0
        self.saved = text

    def close(self) -> None:
        if self.opened:
            self.opened.writers = 0

    def is_satisfied(self, path: str, tree: dict[str, bytes]) -> bool:
        """What they saved has the file's name; or, saved into a file opened before, is there at least."""
        if self.saved is None:
            return True
        return self.saved in tree.values() if self.opened else tree.get(path) == self.saved


STYLES = ["by renaming", "in place", "opened before"]


@pytest.mark.parametrize(
    "path, style",
    [
        *((path, style) for path in ("a.md", "sub/c.md", "gone.md") for style in STYLES),
        ("new/deep/d.md", "by renaming"),
    ],
)
def test_a_save_at_any_moment_is_never_lost(path, style):
    saves = conflicts = 0
    for moment in range(60):
        fs = fresh()
        stopping = Stopping(fs, None)
        stopping.before = editor = Editor(fs, path, style, moment)
        result = do(stopping)
        editor.close()
        recover(workspace(fs), LATER.when_ms)
        tree = fs.tree()
        saves += editor.saved is not None
        assert editor.is_satisfied(path, tree), (moment, result)
        assert not any(name.split("/")[-1].startswith(".~") for name in tree), moment
        if isinstance(result, Conflict):
            conflicts += 1
            assert without(path, tree) == without(path, OLD), moment
        else:
            assert without(path, tree) == without(path, NEW), moment
    assert saves > 10
    assert conflicts > 3


def without(path: str, tree: dict[str, bytes]) -> dict[str, bytes]:
    """All other files; the folders of one that may be there or not are not looked at."""
    return {
        name: data
        for name, data in tree.items()
        if name != path and not data.startswith(b"theirs") and not name.endswith("/")
    }


@pytest.mark.parametrize("path", ["a.md", "gone.md"])
@pytest.mark.parametrize("style", ["by renaming", "in place"])
def test_of_two_saves_the_newest_has_the_name(path, style):
    for moment in range(6, 30):
        for later in range(moment + 1, moment + 4):
            fs = fresh()
            stopping = Stopping(fs, None)
            stopping.before = editor = Editor(fs, path, style, moment, later)
            do(stopping)
            recover(workspace(fs), LATER.when_ms)
            assert editor.is_satisfied(path, fs.tree()), (moment, later)


@pytest.mark.parametrize("path", ["a.md", "sub/c.md", "gone.md"])
@pytest.mark.parametrize("style", STYLES)
def test_a_save_and_then_a_crash_loses_nothing_either(path, style):
    for moment in range(6, 30, 2):
        for stop in range(moment, 30, 2):
            fs = fresh()
            stopping = Stopping(fs, stop)
            stopping.before = editor = Editor(fs, path, style, moment)
            with suppress(Crash):
                do(stopping)
            fs.restart()
            editor.close()
            recover(workspace(fs), LATER.when_ms)
            tree = fs.tree()
            assert editor.is_satisfied(path, tree), (moment, stop)
            assert without(path, tree) in (without(path, OLD), without(path, NEW)), (moment, stop)


def test_an_editor_that_still_has_the_old_file_open_loses_nothing():
    fs = fresh()
    held = fs.file("ws/a.md")
    held.writers = 1
    assert isinstance(do(fs), Applied)
    assert b"one\n" in fs.tree().values()

    held.data, held.writers = b"typed after the swap", 0
    (found,) = recover(workspace(fs), LATER.when_ms)

    assert [(one.path, fs.tree()[one.copy]) for one in found.kept] == [
        ("a.md", b"typed after the swap")
    ]
    assert {path: data for path, data in fs.tree().items() if "conflict" not in path} == NEW


@pytest.mark.parametrize("path", ["new", "new/deep"])
def test_a_folder_that_turns_into_something_else_is_a_conflict(path):
    """Somebody puts a file where a new folder should be, just before effect n."""
    conflicts = 0
    for moment in range(2, 30):
        fs = fresh()
        stopping = Stopping(fs, None)

        def before(number: int, *_: Any, fs: MemoryFs = fs, moment: int = moment) -> None:
            if number == moment:
                fs.put(f"ws/{path}", b"in the way")

        stopping.before = before
        conflicts += isinstance(do(stopping), Conflict)
        recover(workspace(fs), LATER.when_ms)
        tree = fs.tree()
        assert stopping.effects <= moment or tree[path] == b"in the way", moment
        rest = ("a.md", "b.md", "gone.md")
        assert {name: tree.get(name) for name in rest} in (
            {name: OLD.get(name) for name in rest},
            {name: NEW.get(name) for name in rest},
        ), moment
    assert conflicts


def test_a_damaged_record_is_left_for_people_to_look_at():
    fs = fresh()
    with pytest.raises(Crash):
        do(Stopping(fs, 16))
    fs.restart()
    (record,) = (name for name in fs.tree("state") if name.endswith(".prepared"))
    fs.put(f"state/{record}", b"{")
    before = fs.tree()

    assert recover(workspace(fs), LATER.when_ms) == (Recovered(NOW_ID, "unreadable"),)
    assert fs.tree() == before


def test_history_is_told_until_it_listens():
    told: list[str] = []

    def deaf(transaction: Any) -> None:
        raise RuntimeError("the database is away")

    fs = fresh()
    result = apply(Workspace(Path("ws"), Path("state"), deaf, fs), PROPOSAL, APPROVAL, NOW)
    assert isinstance(result, Applied)
    assert not result.is_recorded

    ears = Workspace(Path("ws"), Path("state"), lambda transaction: told.append(transaction.id), fs)
    recover(ears, LATER.when_ms)
    recover(ears, LATER.when_ms)

    assert told == [result.id]
    assert [record.id for record in history(ears)] == [result.id]


@pytest.mark.parametrize("can", DISKS)
def test_a_crash_on_the_real_disk(tmp_path, can):
    """The same loop where the kernel answers."""

    def tree(root: Path) -> dict[str, bytes]:
        return {
            path.relative_to(root).as_posix() + "/" * path.is_dir(): b""
            if path.is_dir()
            else path.read_bytes()
            for path in sorted(root.rglob("*"))
        }

    root, state = tmp_path / "ws", tmp_path / "state"
    for stop in range(200):
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(state, ignore_errors=True)
        for path, data in OLD.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            if not path.endswith("/"):
                (root / path).write_bytes(data)
        stopping = Stopping(DiskFs(**can), stop, torn=stop % 2 == 0)
        try:
            result = apply(Workspace(root, state, fs=stopping), PROPOSAL, APPROVAL, NOW)  # type: ignore[arg-type]
        except Crash:
            recover(Workspace(root, state, fs=DiskFs(**can)), LATER.when_ms)
            assert tree(root) in (OLD, NEW), stop
        else:
            assert isinstance(result, Applied)
            assert tree(root) == NEW
            assert stop > 25
            return
    pytest.fail("it never ended")
