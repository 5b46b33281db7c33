"""What a scan lists, what it leaves out, and that it never leaves the folder."""

import os

import pytest

from sill.adapters.vault.scan import DEEPEST, Skipped, choice, open_inside, read_inside, scan


def make(root, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def names(found) -> list[str]:
    return [entry.path for entry in found.entries]


def test_notes_text_code_and_attachments_are_listed_by_kind(tmp_path):
    make(tmp_path, "b/Note.MD", "a.txt", "main.py", "pic.png", "LICENSE", "odd.xyz")

    kinds = {entry.path: entry.kind for entry in scan(tmp_path).entries}

    assert kinds == {
        "b/Note.MD": "markdown",
        "a.txt": "text",
        "main.py": "code",
        "pic.png": "attachment",
        "LICENSE": "text",
        "odd.xyz": "text",
    }


@pytest.mark.parametrize(
    "path",
    [".obsidian/app.json", ".git/config", ".trash/old.md", ".hidden.md", "deep/.sill/chat.md"],
)
def test_hidden_files_and_folders_are_left_out(tmp_path, path):
    make(tmp_path, "note.md", path)

    assert names(scan(tmp_path)) == ["note.md"]


def test_ignored_files_are_left_out_by_the_nearest_rule(tmp_path):
    make(tmp_path, "a.md", "build/b.md", "sub/c.log", "sub/keep.log", "sub/deep/d.tmp")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    (tmp_path / "sub/.gitignore").write_text("!keep.log\n/deep\n")

    assert names(scan(tmp_path)) == ["a.md", "sub/keep.log"]


def test_include_and_exclude_lists_and_own_folders(tmp_path):
    make(tmp_path, "a.md", "b.txt", "priv/c.md", "Chats/d.md")

    wanted = choice(include=("*.md",), exclude=("priv/",), own=("Chats",))

    assert names(scan(tmp_path, wanted)) == ["a.md"]


def test_links_are_not_followed_and_odd_files_are_not_opened(tmp_path):
    root = tmp_path / "vault"
    outside = tmp_path / "outside"
    make(root, "a.md")
    make(outside, "secret.md")
    (root / "folder").symlink_to(outside)
    (root / "passwd.md").symlink_to("/etc/passwd")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe.md")

    found = scan(root)

    assert names(found) == ["a.md"]
    assert sorted(found.skipped, key=lambda one: one.path) == [
        Skipped("folder", "is a link"),
        Skipped("loop", "is a link"),
        Skipped("passwd.md", "is a link"),
        Skipped("pipe.md", "is not a regular file"),
    ]


def test_names_that_are_not_text_are_named_and_left_out(tmp_path):
    make(tmp_path, "a.md")
    os.close(os.open(os.fsencode(tmp_path) + b"/bad\xff.md", os.O_CREAT | os.O_WRONLY))

    found = scan(tmp_path)

    assert (names(found), found.skipped) == (
        ["a.md"],
        (Skipped("bad\N{REPLACEMENT CHARACTER}.md", "its name is not valid text"),),
    )


def test_folders_that_are_too_deep_are_named_and_left_out(tmp_path):
    make(tmp_path, "/".join(["d"] * (DEEPEST + 5)) + "/deep.md", "a.md")

    found = scan(tmp_path)

    assert names(found) == ["a.md"]
    assert [one.reason for one in found.skipped] == ["is too deep"]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("../outside.md", id="upwards"),
        pytest.param("/etc/passwd", id="absolute"),
        pytest.param("link.md", id="a link"),
        pytest.param("folder/secret.md", id="behind a link"),
        pytest.param("./a.md", id="a dot"),
        pytest.param("", id="nothing"),
        pytest.param("sub", id="a folder"),
        pytest.param("pipe", id="a pipe"),
        pytest.param("a.md\0.png", id="a zero byte"),
        pytest.param("gone.md", id="missing"),
    ],
)
def test_nothing_but_a_regular_file_inside_is_opened(tmp_path, path):
    root = tmp_path / "vault"
    make(root, "a.md", "sub/b.md")
    make(tmp_path, "outside.md", "elsewhere/secret.md")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    (root / "folder").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(root / "pipe")

    assert open_inside(root, path) is None


def test_at_most_the_asked_number_of_bytes_is_read(tmp_path):
    (tmp_path / "a.md").write_bytes(b"abcdef")

    assert (read_inside(tmp_path, "a.md"), read_inside(tmp_path, "a.md", 4)) == (b"abcdef", b"abcd")
