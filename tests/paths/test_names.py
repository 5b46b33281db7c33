import random
import unicodedata

import pytest

from sill.adapters.vault.paths import PROTECTED, RefusedPath, SafePath, check_path, check_paths


@pytest.mark.parametrize(
    "path, reason",
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("/etc/passwd", "is absolute or has an empty part", id="absolute"),
        pytest.param("a//b", "is absolute or has an empty part", id="empty part"),
        pytest.param("a/", "is absolute or has an empty part", id="a folder"),
        pytest.param("../a", "has a part that leads elsewhere", id="up"),
        pytest.param("a/./b", "has a part that leads elsewhere", id="here"),
        pytest.param("．．/a", "has a part that leads elsewhere", id="full-width dots"),
        pytest.param("a／b", "has a part that leads elsewhere", id="full-width slash"),
        pytest.param("a\\b", "has a character that not every file system takes", id="backslash"),
        pytest.param("C:a", "has a character that not every file system takes", id="drive"),
        pytest.param("a\0b", "has a character that not every file system takes", id="NUL"),
        pytest.param("a\nb", "has a character that not every file system takes", id="newline"),
        pytest.param("a\x85b", "has a character that not every file system takes", id="C1"),
        pytest.param("\ud800", "is not valid text", id="lone surrogate"),
        pytest.param("a\u200bb", "has characters that cannot be seen", id="zero width"),
        pytest.param("a\u202eb", "has characters that cannot be seen", id="right to left"),
        pytest.param(".g\u200cit/config", "has characters that cannot be seen", id="HFS+ .git"),
        pytest.param("a\U000e0041", "has characters that cannot be seen", id="tag"),
        pytest.param(
            "a. ",
            "has a name that begins or ends with a space, or ends with a dot",
            id="space at the end",
        ),
        pytest.param(
            "a.",
            "has a name that begins or ends with a space, or ends with a dot",
            id="dot at the end",
        ),
        pytest.param("nul", "is the name of a device", id="device"),
        pytest.param("a/CON.md", "is the name of a device", id="device with an ending"),
        pytest.param("com¹.txt", "is the name of a device", id="device in superscript"),
        pytest.param("x" * 256, "has a name that is too long", id="long name"),
        pytest.param("/".join(["ab"] * 400), "is too long", id="long path"),
    ],
)
def test_a_path_that_could_mean_something_else_is_refused(path, reason):
    result = check_path(path)

    assert isinstance(result, RefusedPath)
    assert result.reason == reason


def spellings(name: str) -> list[str]:
    """Other ways to write a name that some file system takes for it."""
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in name)
    return [
        name,
        name.upper(),
        name.title(),
        wide,
        unicodedata.normalize("NFD", name),
        name.replace("i", "ⅰ"),
        name.replace("s", "ſ"),
        name.lstrip(".").replace(".", "")[:6].upper() + "~1",
    ]


@pytest.mark.parametrize("name", sorted(PROTECTED))
def test_a_protected_name_is_refused_in_every_spelling(name):
    for spelling in spellings(name):
        for path in (spelling, f"{spelling}/hooks/x", f"notes/{spelling}/x"):
            result = check_path(path)
            assert isinstance(result, RefusedPath), path
            assert result.reason == "is protected: it can change what programs do", path


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "Über uns/日本 (1).md",
        "git.md",
        "a/b/c/.env",
        "notes~1.md",
        "café.md",
        "und so…",
        "😀.md",
    ],
)
def test_ordinary_names_are_fine(path):
    assert check_path(path) == SafePath(path, tuple(path.split("/")), "/.env" in path)


@pytest.mark.parametrize(
    "paths",
    [["Note.md", "note.md"], ["é.md", "e\u0301.md"], ["ﬁle", "file"], ["straße", "STRASSE"]],
)
def test_two_names_that_a_disk_could_mix_up_are_refused(paths):
    first, second = paths

    assert check_paths(paths) == (RefusedPath(second, f"could be the same file as {first}"),)


PIECES = ["a", "b.md", "Notes", "..", ".", "", " ", "~", "~1", ".git", ".GIT", "gIt", ".obsidian", "%2e%2e", "\\", "//",
          "．", "／", "\u202e", "\u200d", "\0", "con", "aux.md", "é", "e\u0301", "\ud800", "😀", "C:", "*", ".env",
          "link", "up", "loop", "file-link", "x" * 90]  # fmt: skip


def generated(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return [
        "/".join(
            "".join(chance.choices(PIECES, k=chance.choice((1, 1, 1, 2, 3))))
            for _ in range(chance.randint(1, 4))
        )
        for _ in range(count)
    ]


def test_no_generated_path_is_taken_for_another_one():
    """An oracle of its own: normalised every way we know, an accepted path stays below and is not protected."""
    accepted = 0
    for path in generated(20_000, seed=1):
        result = check_path(path)
        if isinstance(result, RefusedPath):
            continue
        accepted += 1
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            parts = unicodedata.normalize(form, path).casefold().replace("\\", "/").split("/")
            assert not {"", ".", ".."} & {part.strip(" .") and part for part in parts}, path
            assert not PROTECTED & {part.rstrip(" .") for part in parts}, path
    assert 1_000 < accepted < 19_000
