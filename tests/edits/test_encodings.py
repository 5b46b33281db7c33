"""Whatever a file looks like, what is not edited comes back byte for byte."""

import codecs
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sill.adapters.vault.apply import Applied, Stamp, apply, approve
from sill.adapters.vault.lines import Decoded, decode
from sill.adapters.vault.transact import Workspace
from sill.adapters.vault.undo import undo
from sill.core.edits import Edited, Scope, edit
from sill.core.ops import Anchor, Delete, Insert, Patch, Replace, Whole
from sill.core.proposal import Proposal, preview, propose

CODECS = [
    pytest.param("utf-8", b"", id="UTF-8"),
    pytest.param("utf-8", codecs.BOM_UTF8, id="UTF-8 with mark"),
    pytest.param("utf-16-le", codecs.BOM_UTF16_LE, id="UTF-16 little-endian"),
    pytest.param("utf-16-be", codecs.BOM_UTF16_BE, id="UTF-16 big-endian"),
]
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n:")
endings = st.sampled_from(["\n", "\r\n", "\r"])
# Line k opens with its number, so every line can be found and no two are equal.
contents = st.lists(
    st.text(characters | st.sampled_from("\ufeff\u2028\x0c\x85 \té😀"), max_size=6),
    min_size=1,
    max_size=7,
)
line_ends = st.one_of(
    st.sampled_from(["\n", "\r\n", "\r"]).map(lambda one: [one] * 7),
    st.lists(endings, min_size=7, max_size=7),
)
PATH = "n.md"
MARK = "«new»"


@pytest.mark.parametrize("codec, mark", CODECS)
@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(contents, line_ends, st.booleans(), st.data())
def test_bytes_outside_the_edited_line_stay(codec, mark, contents, line_ends, is_closed, data):
    """Five edits of one line each, in four encodings, of 500 files: 10,000 cases."""
    lines = [f"{number}:{text}" for number, text in enumerate(contents)]
    ends = line_ends[: len(lines)]
    if not is_closed:
        ends[-1] = ""
    raw = mark + b"".join((line + end).encode(codec) for line, end in zip(lines, ends, strict=True))
    found = decode(raw)
    assert found is not None
    assert found.encode(found.text) == raw
    newline = most_common(ends)
    at = data.draw(st.integers(0, len(lines) - 1))
    before = mark + b"".join(
        (a + b).encode(codec) for a, b in zip(lines[:at], ends[:at], strict=True)
    )
    after = b"".join(
        (a + b).encode(codec) for a, b in zip(lines[at + 1 :], ends[at + 1 :], strict=True)
    )
    own = (lines[at] + ends[at]).encode(codec)
    is_last = at == len(lines) - 1

    for op, middle in edits_of(lines, ends, at, newline):
        result = edit(Scope({PATH: found.text}), [op])
        assert isinstance(result, Edited), (op, result)
        changed = found.encode(result.changes[PATH].after)
        assert (
            changed
            == before + (own if isinstance(op, Insert) else b"") + middle.encode(codec) + after
        ), op
        assert changed.startswith(before)
        assert is_last or changed.endswith(after)


def most_common(ends: list[str]) -> str:
    used = [end for end in ends if end]
    return max(used, key=lambda end: (used.count(end), -used.index(end)), default="\n")


def edits_of(lines: list[str], ends: list[str], at: int, newline: str):
    """One-line edits of line ``at``, each with what must stand in its place."""
    line, end = lines[at], ends[at]
    is_open = not end
    yield Replace(PATH, Anchor(f"{at}:"), MARK), MARK + line.removeprefix(f"{at}:") + end
    yield (
        Patch(PATH, (f"@@ -{at + 1},1 +{at + 1},1 @@", f"-{line}", f"+{MARK}")),
        MARK + ("" if is_open else newline),
    )
    yield (
        Patch(PATH, ("@@", f"-{line}", f"+{MARK}", "+more")),
        MARK + newline + "more" + ("" if is_open else newline),
    )
    yield Patch(PATH, (f"@@ -{at + 1},1 +{at + 1},0 @@", f"-{line}")), ""
    added = newline + MARK if is_open else MARK + newline
    yield Insert(PATH, Anchor(line, *context(lines, ends, at)), MARK), added


def context(lines: list[str], ends: list[str], at: int) -> tuple[str, str]:
    """The line's neighbours, so that a line that is also a part of another is still found."""
    return (
        lines[at - 1] + ends[at - 1] if at else "",
        ends[at] and ends[at] + "".join(lines[at + 1 : at + 2]),
    )


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("é".encode("latin-1"), id="Latin-1"),
        pytest.param(b"a\0b", id="NUL"),
        pytest.param(codecs.BOM_UTF16_LE + b"a", id="half a UTF-16 unit"),
        pytest.param(codecs.BOM_UTF16_LE + b"\0\xd8", id="half a surrogate pair"),
        pytest.param("text".encode("utf-32"), id="UTF-32"),
        pytest.param("text".encode("utf-16-le"), id="UTF-16 without its mark"),
    ],
)
def test_bytes_that_are_not_text_are_not_read(data):
    assert decode(data) is None


@given(st.binary(max_size=40))
def test_whatever_is_read_is_written_back(data):
    found = decode(data)

    assert found is None or found.encode(found.text) == data


def changed_by(workspace: Workspace, path: str, old: str, new: str) -> Proposal:
    found = decode((workspace.root / path).read_bytes())
    assert found is not None
    made = propose("", [Replace(path, Anchor(old), new)], Scope({path: found.text}))
    assert isinstance(made, Proposal)
    return made


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    (tmp_path / "ws").mkdir()
    return Workspace(tmp_path / "ws", tmp_path / "state")


def test_mode_and_attributes_stay_with_the_file(workspace):
    path = workspace.root / "a.sh"
    path.write_text("#!/bin/sh\necho old\n")
    path.chmod(0o751)
    os.setxattr(path, "user.tag", b"mine")
    made = changed_by(workspace, "a.sh", "old", "new")

    assert isinstance(apply(workspace, made, approve(preview(made)), Stamp(1)), Applied)
    assert path.read_text() == "#!/bin/sh\necho new\n"
    assert path.stat().st_mode & 0o7777 == 0o751
    assert os.getxattr(path, "user.tag") == b"mine"


def test_a_deleted_file_comes_back_as_it_was(workspace):
    path = workspace.root / "a.sh"
    path.write_bytes(codecs.BOM_UTF16_LE + "x\r\n".encode("utf-16-le"))
    path.chmod(0o640)
    os.setxattr(path, "user.tag", b"mine")
    made = propose("", [Delete("a.sh", Whole())], Scope({"a.sh": "x\r\n"}))
    assert isinstance(apply(workspace, made, approve(preview(made)), Stamp(1)), Applied)
    assert not path.exists()

    assert isinstance(undo(workspace, Stamp(2)), Applied)
    assert path.read_bytes() == codecs.BOM_UTF16_LE + "x\r\n".encode("utf-16-le")
    assert path.stat().st_mode & 0o7777 == 0o640
    assert os.getxattr(path, "user.tag") == b"mine"


@pytest.mark.parametrize("umask, mode", [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_has_the_mode_of_any_new_file(workspace, umask, mode):
    made = propose("", [Insert("new.md", Whole(), "x")], Scope({"new.md": None}))
    before = os.umask(umask)
    try:
        apply(workspace, made, approve(preview(made)), Stamp(1))
    finally:
        os.umask(before)

    assert (workspace.root / "new.md").stat().st_mode & 0o7777 == mode


def test_a_utf16_file_takes_an_emoji(workspace):
    path = workspace.root / "a.md"
    path.write_bytes(Decoded("", "utf-16-be").encode("eins\r\nzwei\r\n"))
    made = changed_by(workspace, "a.md", "zwei", "😀")

    assert isinstance(apply(workspace, made, approve(preview(made)), Stamp(1)), Applied)
    assert path.read_bytes() == Decoded("", "utf-16-be").encode("eins\r\n😀\r\n")
