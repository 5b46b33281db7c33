"""What people type leads to notes: by name, by another name, to a place in one, or nowhere."""

import pytest

from sill.app.gather import gather
from sill.core.messages import fingerprint
from sill.core.references import Reference

OVEN = '---\naliases: ["The Dome", backofen]\n---\n# Oven\n\nbrick\n\n## Dome\n\ncracked ^crack\n'
STAMP = fingerprint(OVEN)
WHOLE = "\n".join(OVEN.splitlines())


@pytest.fixture
def vault(tmp_path):
    (tmp_path / "Notes").mkdir()
    (tmp_path / "Notes" / "Oven.md").write_text(OVEN)
    (tmp_path / "Other.md").write_text("aliases: not front matter\n")
    return tmp_path


def reference(lines: tuple[int, int], excerpt: str, link: str, note: str = "") -> Reference:
    return Reference("link", "Notes/Oven.md", lines, STAMP, excerpt, link, note)


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("no link", [], id="no link"),
        pytest.param("[[oven]]?", [reference((1, 10), WHOLE, "[[oven]]")], id="by name"),
        pytest.param(
            "[[the dome]]?",
            [reference((1, 10), WHOLE, "[[the dome]]", "found by its alias “the dome”")],
            id="by an alias, with a note",
        ),
        pytest.param(
            "[[Oven#Dome]]",
            [reference((8, 10), "## Dome\n\ncracked ^crack", "[[Oven#Dome]]")],
            id="a heading",
        ),
        pytest.param(
            "[[Backofen#^crack]]",
            [
                reference(
                    (10, 10), "cracked ^crack", "[[Backofen#^crack]]",
                    "found by its alias “Backofen”",
                )
            ],
            id="a block, by an alias",
        ),
        pytest.param(
            "[[Oven#Roof]]",
            [reference((1, 10), WHOLE, "[[Oven#Roof]]", "no such heading")],
            id="a heading that is not there: the note is meant",
        ),
    ],
)  # fmt: skip
def test_a_typed_link_is_a_reference_to_what_it_means(vault, text, expected):
    found = gather(vault, text, [], 1_000_000)

    assert list(found.question.references) == expected
    assert [one.path for one in found.question.documents] == (["Notes/Oven.md"] if expected else [])
    assert found.unresolved == ()


def test_a_link_that_leads_nowhere_is_named_and_kept_as_not_found(vault):
    found = gather(vault, "[[Kiln]] and [[Kiln]]", [], 1_000_000)

    assert found.question.references == (
        Reference("link", None, link="[[Kiln]]", note="no such file"),
    )
    assert found.unresolved == ("Kiln",)


def test_a_linked_file_that_cannot_be_read_is_said_to_be_so(vault):
    (vault / "Oven.md").write_bytes(b"\0\1\2")

    found = gather(vault, "[[Oven.md]]", [], 1_000_000)

    assert found.question.references == (
        Reference("link", None, link="[[Oven.md]]", note="the file cannot be read"),
    )
    assert [one.path for one in found.refused] == ["Oven.md"]
