"""Proposals on real files: what is applied, what is refused, what is offered instead."""

import fcntl
import os
from dataclasses import replace
from pathlib import Path

import pytest

from sill.adapters.vault.apply import (
    Applied,
    Approval,
    Conflict,
    NotApproved,
    Outcome,
    Stamp,
    apply,
    approve,
)
from sill.adapters.vault.files import DiskFs
from sill.adapters.vault.recover import recover
from sill.adapters.vault.transact import Workspace
from sill.adapters.vault.undo import (
    FileChange,
    Nothing,
    Record,
    history,
    kept_bytes,
    prune,
    redo,
    undo,
)
from sill.core.edits import Rejected, Scope
from sill.core.merge import Clash
from sill.core.ops import Anchor, Delete, Insert, Op, Problem, Replace, Whole
from sill.core.proposal import Preview, Proposal, preview, propose
from sill.errors import VaultBusy

DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.md").write_text("1\n2\n3\n4\n5\n6\n7\n8\n9\n")
    (root / "b.md").write_text("b\n")
    return Workspace(root, tmp_path / "state")


def stamp(number: int = 1) -> Stamp:
    return Stamp(number * 1000, "ann", f"{number:08x}")


def proposal(workspace: Workspace, *ops: Op) -> Proposal:
    paths = dict.fromkeys(op.path for op in ops)
    texts = {
        path: (workspace.root / path).read_text() if (workspace.root / path).exists() else None
        for path in paths
    }
    made = propose("why", ops, Scope(texts))
    assert isinstance(made, Proposal)
    return made


def carry_out(workspace: Workspace, made: Proposal, number: int = 1) -> Outcome:
    shown = preview(made)
    assert isinstance(shown, Preview)
    return apply(workspace, made, approve(shown), stamp(number))


def tree(workspace: Workspace) -> dict[str, str]:
    root = workspace.root
    return {
        p.relative_to(root).as_posix(): p.read_text()
        for p in sorted(root.rglob("*"))
        if p.is_file()
    }


def test_a_proposal_is_applied_undone_and_redone(workspace):
    before = tree(workspace)
    made = proposal(
        workspace,
        Replace("a.md", Anchor("5"), "five"),
        Delete("b.md", Whole()),
        Insert("sub/dir/c.md", Whole(), "c\n"),
    )

    assert carry_out(workspace, made) == Applied(
        "00000001-00000001", ("a.md", "b.md", "sub/dir/c.md")
    )
    after = tree(workspace)
    assert after == {"a.md": "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "sub/dir/c.md": "c\n"}

    assert isinstance(undo(workspace, stamp(2)), Applied)
    assert tree(workspace) == before
    assert sorted(os.listdir(workspace.root)) == ["a.md", "b.md"]  # noqa: PTH208
    assert isinstance(redo(workspace, stamp(3)), Applied)
    assert tree(workspace) == after


def test_history_says_who_did_what_and_whether_it_stands(workspace):
    first = proposal(workspace, Replace("a.md", Anchor("5"), "five"))
    carry_out(workspace, first)
    carry_out(
        workspace, proposal(workspace, Delete("b.md", Whole()), Insert("c.md", Whole(), "")), 2
    )
    undo(workspace, stamp(3))

    newest, oldest = history(workspace)

    assert newest == Record(
        "00000002-00000002",
        2000,
        "ann",
        "why",
        (FileChange("b.md", "deleted"), FileChange("c.md", "created")),
        False,
        True,
        newest.patch_id,
    )
    assert (oldest.id, oldest.is_applied, oldest.patch_id) == (
        "00000001-00000001",
        True,
        preview(first).patch_id,  # type: ignore[union-attr]
    )
    assert history(workspace, limit=1) == (newest,)


def test_any_apply_can_be_undone_not_only_the_last(workspace):
    carry_out(workspace, proposal(workspace, Replace("a.md", Anchor("5"), "five")))
    carry_out(workspace, proposal(workspace, Replace("b.md", Anchor("b"), "B")), 2)

    assert isinstance(undo(workspace, stamp(3), "00000001-00000001"), Applied)
    assert tree(workspace) == {"a.md": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "b.md": "B\n"}
    assert undo(workspace, stamp(4), "00000001-00000001") == Nothing(
        "00000001-00000001 is already undone"
    )
    assert redo(workspace, stamp(4), "00000002-00000002") == Nothing(
        "00000002-00000002 is not undone"
    )
    assert undo(workspace, stamp(4), "x") == Nothing("there is no x")


def test_there_is_nothing_to_undo_at_first(workspace):
    assert undo(workspace, stamp()) == Nothing("nothing to undo")
    assert redo(workspace, stamp()) == Nothing("nothing to redo")
    assert history(workspace) == ()


def test_an_approval_of_something_else_is_none(workspace):
    before = tree(workspace)
    made = proposal(workspace, Replace("a.md", Anchor("5"), "five"))
    other = preview(proposal(workspace, Replace("a.md", Anchor("5"), "six")))
    shown = preview(made)

    assert apply(workspace, made, approve(other), stamp()) == NotApproved(
        shown.base_hash, shown.patch_id
    )
    assert apply(workspace, made, Approval(shown.base_hash, ""), stamp()) == NotApproved(
        shown.base_hash, shown.patch_id
    )
    assert tree(workspace) == before


def test_a_proposal_that_changes_nothing_is_not_history(workspace):
    made = proposal(workspace, Replace("a.md", Anchor("5"), "5"))

    assert carry_out(workspace, made) == Rejected(
        (Problem(None, "", "nothing proposed", "the files are like this already"),)
    )
    assert history(workspace) == ()


def test_a_file_that_changed_meanwhile_is_a_conflict_with_a_merge_on_offer(workspace):
    made = proposal(
        workspace, Replace("a.md", Anchor("2"), "two"), Replace("b.md", Anchor("b"), "B")
    )
    (workspace.root / "a.md").write_text("1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
    before = tree(workspace)
    result = carry_out(workspace, made)

    assert isinstance(result, Conflict)
    assert result.files == {"a.md": "changed since the proposal was made"}
    assert tree(workspace) == before

    assert result.merge is not None
    assert result.merge.is_whole
    assert isinstance(carry_out(workspace, result.merge.proposal, 2), Applied)
    assert tree(workspace) == {"a.md": "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n", "b.md": "B\n"}


@pytest.mark.parametrize(
    "spoil, reason",
    [
        pytest.param(lambda path: path.unlink(), "no longer there", id="deleted"),
        pytest.param(
            lambda path: path.write_bytes(b"\xff"),
            "changed since the proposal was made",
            id="binary",
        ),
        pytest.param(
            lambda path: path.write_text("1\r\n"),
            "changed since the proposal was made",
            id="another ending",
        ),
    ],
)
def test_whatever_happened_to_the_file_it_is_named(workspace, spoil, reason):
    made = proposal(workspace, Replace("a.md", Anchor("5"), "five"))
    spoil(workspace.root / "a.md")
    result = carry_out(workspace, made)

    assert isinstance(result, Conflict)
    assert result.files == {"a.md": reason}


def test_a_new_file_never_replaces_one_that_came_meanwhile(workspace):
    made = proposal(workspace, Insert("new.md", Whole(), "ours"))
    (workspace.root / "new.md").write_text("theirs")
    result = carry_out(workspace, made)

    assert isinstance(result, Conflict)
    assert result.files == {"new.md": "already there"}
    assert result.merge is not None
    assert result.merge.clashes == {"new.md": (Clash(1, "", "theirs", "ours"),)}
    assert (workspace.root / "new.md").read_text() == "theirs"


def test_undo_after_a_later_edit_offers_to_undo_around_it(workspace):
    carry_out(workspace, proposal(workspace, Replace("a.md", Anchor("2"), "two")))
    text = (workspace.root / "a.md").read_text().replace("9", "nine")
    (workspace.root / "a.md").write_text(text)
    result = undo(workspace, stamp(2))

    assert isinstance(result, Conflict)
    assert (workspace.root / "a.md").read_text() == text
    assert result.merge is not None
    assert result.merge.proposal.explanation == "Undo: why"
    assert isinstance(carry_out(workspace, result.merge.proposal, 3), Applied)
    assert (workspace.root / "a.md").read_text() == "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"


def test_undo_works_after_any_number_of_restarts(workspace):
    carry_out(workspace, proposal(workspace, Replace("a.md", Anchor("5"), "five")))
    for number in range(3):
        assert recover(Workspace(workspace.root, workspace.state), number) == ()

    assert isinstance(undo(Workspace(workspace.root, workspace.state), stamp(9)), Applied)
    assert "five" not in (workspace.root / "a.md").read_text()


def test_nothing_but_the_files_is_ever_seen_in_the_folder(workspace):
    for number in range(5):
        carry_out(
            workspace, proposal(workspace, Replace("b.md", Whole(), f"{number}\n")), number + 1
        )

    assert sorted(os.listdir(workspace.root)) == ["a.md", "b.md"]  # noqa: PTH208
    assert {oct(p.stat().st_mode & 0o7777) for p in workspace.state.rglob("*") if p.is_file()} == {
        "0o600"
    }
    assert oct(workspace.state.stat().st_mode & 0o7777) == "0o700"


def test_old_bytes_are_forgotten_only_past_both_limits(workspace):
    for number in range(4):
        carry_out(
            workspace,
            proposal(workspace, Replace("b.md", Whole(), f"{number}\n" * 1000)),
            number + 1,
        )
    total = kept_bytes(workspace)

    assert prune(workspace, 100 * DAY_MS, keep_bytes=total) == ()
    assert prune(workspace, 10 * DAY_MS, keep_bytes=0) == ()
    assert prune(workspace, 100 * DAY_MS, keep_bytes=total * 2 // 3) == (
        "00000001-00000001",
        "00000002-00000002",
    )
    assert [record.is_kept for record in history(workspace)] == [True, True, False, False]
    assert undo(workspace, stamp(9), "00000001-00000001") == Nothing(
        "the bytes of 00000001-00000001 are no longer kept"
    )


def test_bytes_that_went_bad_are_not_put_back(workspace):
    carry_out(workspace, proposal(workspace, Replace("b.md", Anchor("b"), "B")))
    (images,) = (workspace.state / "tx").glob("*.images")
    images.write_bytes(images.read_bytes().replace(b"\nb\n", b"\nx\n"))

    assert undo(workspace, stamp(2)) == Nothing("the bytes of 00000001-00000001 are no longer kept")
    assert (workspace.root / "b.md").read_text() == "B\n"


def test_two_at_once_take_turns(workspace):
    made = proposal(workspace, Replace("a.md", Anchor("5"), "five"))
    impatient = replace(workspace, fs=DiskFs(lock_seconds=0.05))
    history(workspace)
    with (workspace.state / "lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(VaultBusy):
            carry_out(impatient, made)

    assert isinstance(carry_out(impatient, made), Applied)


def test_a_disk_without_exchange_is_named(workspace):
    poorer = replace(workspace, fs=DiskFs(can_exchange=False))
    result = carry_out(poorer, proposal(poorer, Replace("a.md", Anchor("5"), "five")))

    assert isinstance(result, Applied)
    assert result.warning.startswith("this disk cannot exchange two files in one step")
    assert isinstance(undo(poorer, stamp(2)), Applied)
    assert (workspace.root / "a.md").read_text() == "1\n2\n3\n4\n5\n6\n7\n8\n9\n"


def test_a_very_long_name_can_be_edited(workspace):
    name = "é" * 124 + ".md"
    (workspace.root / name).write_text("old")

    assert isinstance(
        carry_out(workspace, proposal(workspace, Replace(name, Whole(), "new"))), Applied
    )
    assert (workspace.root / name).read_text() == "new"
