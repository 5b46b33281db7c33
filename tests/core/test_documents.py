"""A document knows its state and its language."""

import pytest

from sill.core.documents import Document, language_of
from sill.core.messages import FileStamp, fingerprint


@pytest.mark.parametrize(
    "path, expected",
    [
        ("a.py", "python"),
        ("notes/Ideas.MD", "markdown"),
        ("src/Makefile", "makefile"),
        ("a.b/c", "text"),
        ("archive.tar.gz", "text"),
        ("", "text"),
    ],
)
def test_language_by_name(path, expected):
    assert language_of(path) == expected


def test_the_stamp_is_of_the_exact_text():
    assert Document("a.md", "x\r\n").stamp == FileStamp("a.md", fingerprint("x\r\n"))
    assert Document("a.md", "x\r\n").stamp != Document("a.md", "x\n").stamp
