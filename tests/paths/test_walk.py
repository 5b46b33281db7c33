"""Paths on a real disk that is full of links leading out of the folder."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from sill.adapters.vault.apply import Applied, Conflict, Refused, Stamp, allowed, apply, approve
from sill.adapters.vault.files import DiskFs, Held
from sill.adapters.vault.job import look
from sill.adapters.vault.paths import RefusedPath, SafePath, check_path
from sill.adapters.vault.transact import Workspace, at_work
from sill.core.edits import Scope
from sill.core.ops import Insert, Replace, Whole
from sill.core.proposal import Preview, Proposal, preview, propose

from .test_names import generated

NOW = Stamp(1_000)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("secret")
    (root / "a").mkdir(parents=True)
    (root / "Notes").mkdir()
    (root / "Notes/b.md").write_text("note")
    (root / "link").symlink_to(outside)
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    (root / "file-link").symlink_to(outside / "a")
    (root / "a/link").symlink_to(outside)
    (root / "a/b.md").symlink_to("../Notes/b.md")
    return Workspace(root, tmp_path / "state", fs=DiskFs(durable=False))


def put(workspace: Workspace, path: str, before: str | None, after: str, **more: object) -> object:
    op = Insert(path, Whole(), after) if before is None else Replace(path, Whole(), after)
    made = propose("", [op], Scope({path: before}))
    assert isinstance(made, Proposal)
    shown = preview(made)
    assert isinstance(shown, Preview)
    return apply(workspace, made, approve(shown, **more), NOW)  # type: ignore[arg-type]


def test_generated_paths_never_lead_out(workspace):
    """Each accepted path is looked up; whatever can be opened lies inside, with no link on the way."""
    root = workspace.root.resolve()
    opened = refused = 0
    with at_work(workspace) as desk:
        for path in generated(20_000, seed=2):
            safe = check_path(path)
            if isinstance(safe, RefusedPath):
                continue
            found = look(desk, safe)
            if isinstance(found, RefusedPath):
                refused += 1
                continue
            opened += isinstance(found, Held)
            real = (workspace.root / path).resolve()
            assert real == root / path, path
    assert opened > 0
    assert refused > 50


@pytest.mark.parametrize(
    "path", ["link/a", "link/new", "up/outside/a", "loop/x", "file-link", "a/b.md", "a/link/a"]
)
@pytest.mark.parametrize("before", [None, "secret", "note"])
def test_nothing_is_written_through_a_link(workspace, path, before):
    result = put(workspace, path, before, "changed")

    assert result == Refused((RefusedPath(path, "is not a regular file in a real folder"),))
    assert (workspace.root.parent / "outside/a").read_text() == "secret"
    assert sorted(os.listdir(workspace.root.parent / "outside")) == ["a"]  # noqa: PTH208


def test_a_file_with_two_names_is_refused(workspace):
    os.link(workspace.root / "Notes/b.md", workspace.root / "Notes/twin.md")

    result = put(workspace, "Notes/b.md", "note", "changed")

    assert isinstance(result, Refused)
    assert (workspace.root / "Notes/twin.md").read_text() == "note"


def test_a_linked_note_can_be_edited_by_its_own_name(workspace):
    assert isinstance(put(workspace, "Notes/b.md", "note", "changed"), Applied)
    assert (workspace.root / "a/b.md").read_text() == "changed"


def test_a_read_only_file_is_left_alone(workspace):
    (workspace.root / "Notes/b.md").chmod(0o444)

    assert put(workspace, "Notes/b.md", "note", "x") == Refused(
        (RefusedPath("Notes/b.md", "is read-only"),)
    )


@pytest.mark.parametrize("kind", ["a folder", "a pipe"])
def test_what_is_not_a_file_is_refused(workspace, kind):
    target = workspace.root / "thing"
    target.mkdir() if kind == "a folder" else os.mkfifo(target)

    assert isinstance(put(workspace, "thing", None, "x"), Refused)


def test_a_hidden_file_wants_an_approval_of_its_own(workspace):
    refused = put(workspace, ".env", None, "KEY=1")
    agreed = put(workspace, ".env", None, "KEY=1", sensitive=[".env"])

    assert refused == Refused((RefusedPath(".env", "is hidden: it wants an approval of its own"),))
    assert isinstance(agreed, Applied)


def test_no_approval_helps_a_protected_file():
    assert allowed([".git/config"], frozenset([".git/config"])) == Refused(
        (RefusedPath(".git/config", "is protected: it can change what programs do"),)
    )
    assert allowed(["a.md"], frozenset()) == (SafePath("a.md", ("a.md",), False),)


def turn_into_a_link_for_ever(root: Path) -> None:
    """The folder ``sub`` and a link to the outside trade names, again and again."""
    chance = random.Random(3)
    fs = DiskFs()
    folder = fs.root(root)
    while True:
        fs.exchange(folder, "sub", "link")
        time.sleep(chance.choice((0, 0.0002, 0.001, 0.004)))


def race(tmp_path: Path, seconds: float) -> tuple[int, int]:
    """Edit a file in a folder that somebody keeps replacing by a link to the outside."""
    root, outside = tmp_path / "ws", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (root / "link").symlink_to(outside)
    for folder in (root / "sub", outside):
        (folder / "x.md").write_text("x")
    workspace = Workspace(root, tmp_path / "state", fs=DiskFs(durable=False))
    child = os.fork()
    if child == 0:
        # Whatever happens, this process must not go on as a second test run.
        try:
            turn_into_a_link_for_ever(root)
        finally:
            os._exit(3)
    tries = applied = 0
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            tries += 1
            old, new = ("x", "y") if applied % 2 == 0 else ("y", "x")
            result = put(workspace, "sub/x.md", old, new)
            assert isinstance(result, Applied | Conflict | Refused), result
            applied += isinstance(result, Applied)
            put(workspace, f"sub/new {tries}.md", None, "made")
            assert (outside / "x.md").read_text() == "x"
            assert os.listdir(outside) == ["x.md"]  # noqa: PTH208
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return tries, applied


@pytest.mark.slow
def test_a_folder_that_turns_into_a_link_is_no_way_out(tmp_path):
    tries, applied = race(tmp_path, 2)

    assert 0 < applied < tries


@pytest.mark.long
def test_a_long_race_against_links(tmp_path):
    race(tmp_path, 10)
