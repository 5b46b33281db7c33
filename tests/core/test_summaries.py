"""A document in a line, from the document itself."""

import pytest

from sill.core.frontmatter import Properties
from sill.core.summaries import Summary, shortened, summarize, summarize_with


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
        pytest.param("---\ntags: [a]\n---\nBody.", Summary("Body.", "paragraph"), id="properties that say nothing"),
        pytest.param("----\nsummary: S.\n---\n", Summary("", "none"), id="a rule is no front matter"),
        pytest.param("First\n# T\nsame.", Summary("First", "paragraph"), id="a heading parts paragraphs"),
        pytest.param("***\n\nProse.", Summary("Prose.", "paragraph"), id="nothing but marks"),
        pytest.param("See ![alt](x.png) and ![[a#b|shown]] ~~now~~.", Summary("See alt and shown now.", "paragraph"), id="pictures by what they show"),
        pytest.param("1. one\n2) two", Summary("one two", "paragraph"), id="nothing but numbers"),
        pytest.param("> quoted\n\n| a | b |\n\n<br>\n\n%% note", Summary("", "none"), id="nothing that is prose"),
        pytest.param("#" + "-" * 20_010 + "\n\nlate", Summary(("#" + "-" * 198) + "…", "paragraph"), id="one long word"),
        pytest.param("- " + "a" * 20_000 + "\n\nlate", Summary("a" * 199 + "…", "paragraph"), id="prose that stands far below"),
        pytest.param("x" * 200, Summary("x" * 200, "paragraph"), id="two hundred characters"),
        pytest.param("x" * 201, Summary("x" * 199 + "…", "paragraph"), id="one character more"),
        pytest.param(f"---\nsummary: {'x' * 201}\n---\n", Summary("x" * 199 + "…", "property"), id="a long summary"),
    ],
)  # fmt: skip
def test_a_document_says_what_it_is_about(text, expected):
    assert summarize(text) == expected


@pytest.mark.parametrize(
    "about, expected",
    [
        pytest.param(Properties(summary="One two. Three four."), Summary("One two.", "property"), id="known"),
        pytest.param(Properties(), Summary("Body and…", "paragraph"), id="nothing known"),
    ],
)  # fmt: skip
def test_properties_that_are_known_are_not_read_again(about, expected):
    text = "---\nsummary: another\n---\nBody and more of it"

    assert summarize_with(about, text, 12) == expected
    assert summarize("Body and more of it", 12) == Summary("Body and…", "paragraph")
    assert summarize_with(about, "x" * 201).text == (about.summary or "x" * 199 + "…")


@pytest.mark.parametrize(
    "text, most, expected",
    [
        pytest.param("short", 10, "short", id="fits"),
        pytest.param("One two. Three four.", 12, "One two.", id="whole sentences"),
        pytest.param("one two three four", 9, "one two…", id="whole words"),
        pytest.param("abcdefghij", 5, "abcd…", id="one long word"),
        pytest.param("exact", 5, "exact", id="fits to the letter"),
        pytest.param("One two. Three four.", 8, "One two.", id="a sentence that just fits"),
        pytest.param("One two. Three four.", 7, "One…", id="a sentence that just does not"),
        pytest.param("Oh. And so it went on", 11, "Oh.", id="a sentence of a third"),
        pytest.param("the X twothree", 7, "the X…", id="a letter stays before the ellipsis"),
        pytest.param("Oh. And so it went on", 12, "Oh. And so…", id="a sentence that is too short"),
        pytest.param("! abc def", 3, "!", id="a sentence of one letter"),
        pytest.param("One. Two! Three four five", 12, "One. Two!", id="as many sentences as fit"),
        pytest.param(
            'He said "no." Then he left', 16, 'He said "no."', id="a sentence ends after its quotes"
        ),
        pytest.param(" abcdefgh", 5, " abc…", id="a space before the word"),
        pytest.param("a bcdefgh", 5, "a…", id="a word of one letter"),
        pytest.param("one, twothree", 6, "one…", id="no comma before the ellipsis"),
        pytest.param("one;: twothree", 7, "one…", id="nor other marks"),
        pytest.param("a  bcdef", 4, "a…", id="nor spaces"),
    ],
)
def test_long_texts_are_shortened_at_a_pause(text, most, expected):
    assert shortened(text, most) == expected
