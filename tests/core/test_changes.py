"""Outlines for files that do not fit, and notices of files that went away."""

import pytest

from sill.core.changes import MOST_LINES, notices, outline_of
from sill.core.documents import Document
from sill.core.envelopes import deleted, renamed, state
from sill.core.ledger import read
from sill.core.messages import Epoch, Sized, Turn

NOTE, OTHER = Document("note.md", "one"), Document("other.md", "two")


@pytest.mark.parametrize(
    "document, expected",
    [
        pytest.param(Document("a.md", "# A\n\ntext\n\n## B\n"), "1: # A\n5: ## B", id="headings"),
        pytest.param(Document("a.py", "import x\n\nclass A:\n    def f(self): ...\n"), "3: class A:\n4:     def f(self): ...", id="definitions"),
        pytest.param(Document("a.txt", "no structure\n"), None, id="nothing to show"),
        pytest.param(Document("a.md", ""), None, id="empty"),
    ],
)  # fmt: skip
def test_outline(document, expected):
    assert outline_of(document) == expected


def test_a_long_outline_is_cut_and_says_so():
    lines = outline_of(Document("a.md", "# H\n" * 100)).splitlines()

    assert (len(lines), lines[-1]) == (MOST_LINES + 1, "… 40 more")


@pytest.mark.parametrize(
    "documents, missing, expected",
    [
        pytest.param([NOTE, OTHER], [], [], id="all there"),
        pytest.param([OTHER], ["note.md"], [deleted("note.md")], id="deleted"),
        pytest.param([Document("new.md", "one")], ["note.md"], [renamed("note.md", "new.md")], id="renamed"),
        pytest.param([Document("new.md", "changed")], ["note.md"], [deleted("note.md")], id="a new file is no rename"),
        pytest.param([], ["unknown.md"], [], id="a file the model never saw"),
        pytest.param([], [], [], id="merely not offered"),
    ],
)  # fmt: skip
def test_notices(documents, missing, expected):
    held = tuple(Sized(state(d.stamp, d.text), 1) for d in (NOTE, OTHER))
    book = read([Turn("t", held)], Epoch())

    assert list(notices(book, documents, missing)) == expected
