"""Ignore rules mean what git means by them."""

import shutil
import subprocess

import pytest

from sill.adapters.vault.ignore import is_ignored, parse_rules

PATHS = [
    "a.md", "a.log", "build/x.md", "build/deep/y.md", "docs/build/z.md", "docs/a.log", "notes/a b.md",
    "notes/#tag.md", "notes/!bang.md", "foo/bar/baz.md", "foo/x/y/baz.md", "x1.md", "x2.md", "xa.md",
    "tmp", "deep/tmp/file.md", "keep/a.log", "[odd].md", "star*.md",
]  # fmt: skip

RULES = [
    pytest.param(["*.log"], id="by extension"),
    pytest.param(["build/"], id="folders of a name"),
    pytest.param(["/build"], id="from the root"),
    pytest.param(["docs/build"], id="a path"),
    pytest.param(["tmp"], id="file or folder"),
    pytest.param(["tmp/"], id="folders only"),
    pytest.param(["foo/**/baz.md"], id="any folders between"),
    pytest.param(["**/deep"], id="any folders before"),
    pytest.param(["foo/**"], id="everything inside"),
    pytest.param(["x[12].md"], id="character class"),
    pytest.param(["x[!12].md"], id="negated class"),
    pytest.param(["x?.md"], id="one character"),
    pytest.param(["*.log", "!keep/a.log"], id="taken after all"),
    pytest.param(["keep/", "!keep/a.log"], id="not out of an ignored folder"),
    pytest.param(["\\#tag.md", "\\!bang.md"], id="escaped marks"),
    pytest.param(["# a comment", "", "a.md   "], id="comments and trailing spaces"),
    pytest.param(["notes/a\\ b.md"], id="escaped space"),
    pytest.param(["\\[odd\\].md", "star\\*.md"], id="escaped specials"),
    pytest.param(["[", "a.md"], id="a class that never ends"),
    pytest.param(["*", "!*.md"], id="only some"),
    pytest.param(["*", "!*/", "!*.md"], id="only some, in every folder"),
]


def ours(rules: list[str]) -> set[str]:
    parsed = [("", parse_rules(rules))]
    ignored = set()
    for path in PATHS:
        parts = path.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts))]
        if any(is_ignored(folder, True, parsed) for folder in above) or is_ignored(
            path, False, parsed
        ):
            ignored.add(path)
    return ignored


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge here")
@pytest.mark.parametrize("rules", RULES)
def test_the_same_files_are_ignored_as_by_git(rules, tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / ".gitignore").write_text("\n".join(rules) + "\n")

    command = ["git", "-C", tmp_path, "check-ignore", "--no-index", "-z", "--stdin"]
    told = subprocess.run(command, input="\0".join(PATHS), capture_output=True, text=True)

    assert ours(rules) == {path for path in told.stdout.split("\0") if path}
