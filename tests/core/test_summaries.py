"""A document in a line, from the document itself."""

import pytest

from sill.core.summaries import Summary, shortened, summarize


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("---\nsummary: S.\n---\nbody", Summary("S.", "property"), id="summary"),
        pytest.param("---\ndescription: D\n---\nbody", Summary("D", "property"), id="description"),
        pytest.param("# T\n\nFirst *one*\nhere.\n\nSecond.", Summary("First one here.", "paragraph"), id="paragraph"),
        pytest.param("- list\n- of\n\nProse.", Summary("Prose.", "paragraph"), id="lists are passed over"),
        pytest.param("```\ncode\n\nmore\n```\n\nProse.", Summary("Prose.", "paragraph"), id="code is passed over"),
        pytest.param("![[pic.png]]\n\nSee [[a|b]] and [c](d.md).", Summary("See b and c.", "paragraph"), id="links by what they show"),
        pytest.param("# T\n- [ ] one\n- two\n", Summary("one two", "paragraph"), id="nothing but a list"),
        pytest.param("`code` first.", Summary("code first.", "paragraph"), id="a paragraph may begin with code"),
        pytest.param("# only\n## headings", Summary("", "none"), id="nothing to say"),
        pytest.param("", Summary("", "none"), id="empty"),
    ],
)  # fmt: skip
def test_a_document_says_what_it_is_about(text, expected):
    assert summarize(text) == expected


@pytest.mark.parametrize(
    "text, most, expected",
    [
        pytest.param("short", 10, "short", id="fits"),
        pytest.param("One two. Three four.", 12, "One two.", id="whole sentences"),
        pytest.param("one two three four", 9, "one two…", id="whole words"),
        pytest.param("abcdefghij", 5, "abcd…", id="one long word"),
    ],
)
def test_long_texts_are_shortened_at_a_pause(text, most, expected):
    assert shortened(text, most) == expected
