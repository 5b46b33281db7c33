import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.diff import DiffLine, hunks, unified
from sill.core.edits import Splice, splice

line = st.sampled_from(["a", "b", "c", "", "\ufeffd", "e\u2028f"])
endings = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
texts = st.tuples(
    st.lists(st.tuples(line, endings).map("".join), max_size=25).map("".join), line
).map("".join)


@given(texts, texts)
def test_all_hunks_together_make_the_new_text(before, after):
    cuts = [Splice(c.start, c.end, 0, c.new) for hunk in hunks(before, after) for c in hunk.cuts]

    assert splice(before, cuts) == after


@given(texts)
def test_equal_texts_have_no_hunks(text):
    assert hunks(text, text) == ()


@given(texts, texts)
def test_a_hunk_counts_its_own_lines(before, after):
    for hunk in hunks(before, after):
        assert hunk.old_count == sum(line.tag != "+" for line in hunk.lines)
        assert hunk.new_count == sum(line.tag != "-" for line in hunk.lines)


def test_changes_far_apart_are_hunks_of_their_own():
    before = "".join(f"{n}\n" for n in range(30))
    after = before.replace("3\n", "three\n", 1).replace("20\n", "twenty\n")

    assert [hunk.header for hunk in hunks(before, after)] == [
        "@@ -1,7 +1,7 @@",
        "@@ -18,7 +18,7 @@",
    ]


def test_a_missing_newline_is_said():
    (hunk,) = hunks("a", "b\n")

    assert hunk.lines == (DiffLine("-", "a", ""), DiffLine("+", "b", "\n"))
    assert unified("x", "a", "b\n") == (
        "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n"
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="git reads the diff")
def test_git_applies_the_diff(tmp_path):
    before = "a\r\n" + "".join(f"{n}\n" for n in range(20)) + "end"
    after = before.replace("3\n", "", 1).replace("a\r\n", "A\r\n").replace("end", "end\nmore")
    (tmp_path / "x").write_bytes(before.encode())
    (tmp_path / "diff").write_bytes(unified("x", before, after).encode())
    subprocess.run(["git", "apply", "diff"], cwd=tmp_path, check=True, env={"HOME": str(tmp_path)})

    assert (tmp_path / "x").read_bytes() == after.encode()
