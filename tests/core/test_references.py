"""References say where a message comes from, and whether that is still so."""

import pytest

from sill.core.links import parse_links
from sill.core.messages import fingerprint
from sill.core.outline import outline
from sill.core.references import (
    Freshness,
    Reference,
    deduplicated,
    freshness,
    link_reference,
    most_used,
    quote_lines,
    typed_links,
)
from sill.core.resolve import Files, key

TEXT = "# Top\nintro\n## Part\nthe part\n"
NOTES = {"n.md": TEXT}


def typed(message: str) -> list[Reference]:
    outlines = {path: outline(text) for path, text in NOTES.items()}
    links = typed_links(message, Files(NOTES), outlines, {key("Nick"): "n.md"})
    return [link_reference(link, meaning, NOTES) for link, meaning in links]


STAMP = fingerprint(TEXT)


@pytest.mark.parametrize(
    "message, expected",
    [
        pytest.param("no link", [], id="no link"),
        pytest.param(
            "see [[n]]",
            [Reference("link", "n.md", (1, 4), STAMP, TEXT.rstrip("\n"), "[[n]]")],
            id="whole note",
        ),
        pytest.param(
            "[[n#Part]]?",
            [Reference("link", "n.md", (3, 4), STAMP, "## Part\nthe part", "[[n#Part]]")],
            id="section",
        ),
        pytest.param(
            "[[Nick]]",
            [
                Reference(
                    "link", "n.md", (1, 4), STAMP, TEXT.rstrip("\n"), "[[Nick]]",
                    "found by its alias “Nick”",
                )
            ],
            id="alias, with a note",
        ),
        pytest.param(
            "[[gone]]",
            [Reference("link", None, link="[[gone]]", note="no such file")],
            id="not found",
        ),
        pytest.param(
            "[[n#Nope]]",
            [
                Reference(
                    "link", "n.md", (1, 4), STAMP, TEXT.rstrip("\n"), "[[n#Nope]]",
                    "no such heading",
                )
            ],
            id="no such heading: the note is meant",
        ),
        pytest.param("`[[n]]`", [], id="in code"),
    ],
)  # fmt: skip
def test_typed_links_become_references(message, expected):
    assert typed(message) == expected


def test_a_link_to_a_file_that_cannot_be_read_is_not_found():
    (link,) = parse_links("[[n]]")
    (found,) = typed_links("[[n]]", Files(["n.md"]), {}, {})

    assert link_reference(link, found[1], {}) == Reference(
        "link", None, link="[[n]]", note="the file cannot be read"
    )


def test_each_passage_is_listed_once_with_the_origin_that_says_most():
    search, link = quote_lines("search", "n.md", TEXT), quote_lines("link", "n.md", TEXT)
    part = quote_lines("search", "n.md", TEXT, (3, 4))

    assert deduplicated([search, part, link, part]) == (link, part)


def test_a_missing_link_is_listed_once():
    gone = Reference("link", None, link="[[gone]]", note="no such file")

    assert deduplicated([gone, gone]) == (gone,)


@pytest.mark.parametrize(
    "now, expected",
    [
        pytest.param(TEXT, Freshness(stale=False, lines=(3, 4)), id="unchanged"),
        pytest.param("new\n" + TEXT, Freshness(stale=True, lines=(4, 5)), id="changed elsewhere"),
        pytest.param(TEXT.replace("the", "a"), Freshness(stale=True), id="the quoted text changed"),
        pytest.param(None, Freshness(stale=True, gone=True), id="deleted"),
    ],
)
def test_a_reference_knows_whether_its_document_changed(now, expected):
    reference = quote_lines("read", "n.md", TEXT, (3, 4))

    assert freshness(reference, now) == expected
    assert reference.excerpt == "## Part\nthe part"


def test_the_documents_used_most_come_first():
    a, b = quote_lines("read", "a.md", "a"), quote_lines("read", "b.md", "b")

    assert most_used([("one", a), ("one", b), ("two", b)]) == [
        ("b.md", 2, ("one", "two")),
        ("a.md", 1, ("one",)),
    ]
