"""Links as Obsidian 1.13 parses them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.links import MOST_LINKS, Link, parse_links


def shape(link: Link) -> tuple[object, ...]:
    """What a row of the table says: kind, target, place, display."""
    kind = ("!" if link.embed else "") + ("md" if link.markdown else "wiki")
    return kind, link.target, link.headings, link.block, link.display


def wiki(target="", *headings, block=None, display=None, embed=False):
    return ("!wiki" if embed else "wiki", target, headings, block, display)


def md(target="", *headings, block=None, display="x", embed=False):
    return ("!md" if embed else "md", target, headings, block, display)


PARSED = [
    pytest.param("[[note]]", [wiki("note")], id="plain"),
    pytest.param("[[ note ]]", [wiki("note")], id="space around a target"),
    pytest.param("[[note|shown]]", [wiki("note", display="shown")], id="display text"),
    pytest.param("[[note|a|b]]", [wiki("note", display="a|b")], id="split at the first bar"),
    pytest.param("[[note|]]", [wiki("note", display="")], id="empty display text"),
    pytest.param("[[note#Head]]", [wiki("note", "Head")], id="heading"),
    pytest.param("[[note#H1#H2]]", [wiki("note", "H1", "H2")], id="heading below a heading"),
    pytest.param("[[note#^b-1]]", [wiki("note", block="b-1")], id="block"),
    pytest.param("[[note#H#^b]]", [wiki("note", "H", block="b")], id="block below a heading"),
    pytest.param("[[note#H|d]]", [wiki("note", "H", display="d")], id="heading and display"),
    pytest.param("[[note|d#H]]", [wiki("note", display="d#H")], id="bar before hash"),
    pytest.param("[[#Head]]", [wiki("", "Head")], id="heading of the same note"),
    pytest.param("[[#^b]]", [wiki("", block="b")], id="block of the same note"),
    pytest.param("![[note]]", [wiki("note", embed=True)], id="embed"),
    pytest.param("![[a.png|100x145]]", [wiki("a.png", display="100x145", embed=True)], id="size"),
    pytest.param("![[a.pdf#page=3]]", [wiki("a.pdf", "page=3", embed=True)], id="page of a PDF"),
    pytest.param("[[folder/note]]", [wiki("folder/note")], id="path"),
    pytest.param("[[note.md]]", [wiki("note.md")], id="extension"),
    pytest.param("[[Sq]uare]]", [wiki("Sq]uare")], id="one bracket does not end a target"),
    pytest.param("[[Sq[uare]]", [wiki("Sq[uare")], id="one bracket does not open a target"),
    pytest.param("[[outer [[Inner]] x]]", [wiki("Inner")], id="innermost opener wins"),
    pytest.param("[[[note]]]", [wiki("note")], id="three brackets"),
    pytest.param("| [[note\\|shown]] |", [wiki("note", display="shown")], id="bar in a table"),
    pytest.param("| ![[a.png\\|50]] |", [wiki("a.png", display="50", embed=True)], id="table size"),
    pytest.param("[[https://x.org]]", [wiki("https://x.org")], id="an address is a note's name"),
    pytest.param("[[a]][[b]]", [wiki("a"), wiki("b")], id="side by side"),
    pytest.param(
        "[[a]] ![[b]] [x](c.md)", [wiki("a"), wiki("b", embed=True), md("c.md")], id="mixed"
    ),
    pytest.param("[[日本語#見出し]]", [wiki("日本語", "見出し")], id="other scripts"),
    pytest.param("> [[q]]", [wiki("q")], id="in a quote"),
    pytest.param("# [[h]]", [wiki("h")], id="in a heading"),
    pytest.param("**[[b]]**", [wiki("b")], id="in bold text"),
    pytest.param("a\r\n[[b]]\r\n", [wiki("b")], id="Windows line ends"),
    pytest.param("[[a]]!", [wiki("a")], id="an exclamation mark at the end"),
    pytest.param("[x](a.md)!", [md("a.md")], id="one behind a Markdown link"),
    # No links.
    pytest.param("[[##search]] [[a]]", [wiki("a")], id="a search of the editor, and a link"),
    pytest.param("[[ ]] [[a]]", [wiki("a")], id="nothing named, and a link"),
    pytest.param("\\\\\\[[a]]", [], id="escaped after an escaped backslash"),
    pytest.param("\\[[a]]\\", [], id="escaped at the very start"),
    pytest.param("[[]]", [], id="nothing named"),
    pytest.param("[[ ]]", [], id="a space named"),
    pytest.param("[[|x]]", [], id="display text without a target"),
    pytest.param("[[#]]", [], id="an empty heading"),
    pytest.param("[[##search]]", [], id="heading search of the editor"),
    pytest.param("[[^^search]]", [], id="block search of the editor"),
    pytest.param("[[a\nb]]", [], id="across lines"),
    pytest.param("[[open", [], id="never closed"),
    pytest.param("[ [a] ]", [], id="single brackets"),
    pytest.param("\\[[a]]", [], id="escaped"),
    pytest.param("\\\\[[a]]", [wiki("a")], id="escaped backslash"),
    # Code.
    pytest.param("`[[a]]`", [], id="code span"),
    pytest.param("``[[a]] ` ``[[b]]", [wiki("b")], id="span with two backticks"),
    pytest.param("a ` b [[c]]", [wiki("c")], id="a lone backtick is no code"),
    pytest.param("a ` b\n\n[[c]] ` d", [wiki("c")], id="a span ends with its paragraph"),
    pytest.param("- a ` b\n- [[c]] ` d", [wiki("c")], id="a span ends with its list item"),
    pytest.param("\\`[[a]]\\`", [wiki("a")], id="escaped backticks are no code"),
    pytest.param("```\n[[a]]\n```\n[[b]]", [wiki("b")], id="fence"),
    pytest.param("~~~ md\n[[a]]\n~~~\n[[b]]", [wiki("b")], id="fence of tildes"),
    pytest.param("````\n```\n[[a]]\n````\n[[b]]", [wiki("b")], id="longer fence"),
    pytest.param("```\n~~~\n[[a]]\n```\n[[b]]", [wiki("b")], id="other marks do not close a fence"),
    pytest.param("```\n[[a]]", [], id="fence to the end"),
    pytest.param("```a``` [[b]]", [wiki("b")], id="three backticks within a line"),
    pytest.param("> ```\n> [[a]]\n> ```\n> [[b]]", [wiki("b")], id="fence in a quote"),
    pytest.param("> ```\n> [[a]]\n\n[[b]]", [wiki("b")], id="the quote's end closes its fence"),
    pytest.param("- ```\n  [[a]]\n  ```\n- [[b]]", [wiki("b")], id="fence in a list"),
    pytest.param("text\n\n    [[a]]\n\n[[b]]", [wiki("b")], id="indented code"),
    pytest.param("- item\n\n    [[a]]", [wiki("a")], id="indented text of a list item"),
    pytest.param("[[a `b]]` c", [], id="code binds tighter than a link"),
    # Markdown links.
    pytest.param("[x](note.md)", [md("note.md")], id="Markdown link"),
    pytest.param("[x](My%20Note.md)", [md("My Note.md")], id="percent sign"),
    pytest.param("[x](<My Note.md>)", [md("My Note.md")], id="angle brackets"),
    pytest.param("[x](n.md#A%20B)", [md("n.md", "A B")], id="Markdown heading"),
    pytest.param("[x](n.md#^b)", [md("n.md", block="b")], id="Markdown block"),
    pytest.param("[x](#Here)", [md("", "Here")], id="Markdown link to the same note"),
    pytest.param("[x](C%23.md)", [md("C#.md")], id="an encoded hash is part of the name"),
    pytest.param("[x](a_(b).md)", [md("a_(b).md")], id="parentheses in a name"),
    pytest.param('[x](a.md "Title")', [md("a.md")], id="title"),
    pytest.param("![x](a.png)", [md("a.png", embed=True)], id="Markdown picture"),
    pytest.param("[a [b] c](d.md)", [md("d.md", display="a [b] c")], id="brackets in the text"),
    pytest.param(
        "[![x](a.png)](b.md)",
        [md("b.md", display="![x](a.png)"), md("a.png", embed=True)],
        id="picture that is a link",
    ),
    pytest.param("[x](https://x.org/a.md)", [], id="web address"),
    pytest.param("[x](mailto:a@b.c)", [], id="mail address"),
    pytest.param("[x](//x.org/a)", [], id="address without a scheme"),
    pytest.param("[x]()", [], id="empty address"),
    pytest.param("[x] (a.md)", [], id="space before the address"),
    pytest.param("`[x](a.md)`", [], id="Markdown link in code"),
    pytest.param("[[a]](b.md)", [wiki("a")], id="a wikilink wins over a Markdown link"),
    pytest.param("[x](a\\_b.md)", [md("a_b.md")], id="escaped sign in an address"),
    pytest.param("[x](%FF.md)", [md("\ufffd.md")], id="what is no text"),
    pytest.param("`[x](a.md)` [x](b.md)", [md("b.md")], id="in code, and a link"),
    pytest.param("[x](https://x.org) [x](b.md)", [md("b.md")], id="web address, and a link"),
    pytest.param("[x](#) [x](b.md)", [md("b.md")], id="no address, and a link"),
    pytest.param("x](a.md)", [], id="no opening bracket"),
    pytest.param("\\[x](a.md)", [], id="escaped opening bracket"),
    pytest.param("[x\\](a.md)", [], id="escaped closing bracket"),
    pytest.param("`[`x](a.md)", [], id="opening bracket in code"),
    pytest.param("[x `](a`.md)", [], id="closing bracket in code"),
    pytest.param("[x](a`.md)`", [], id="end of the address in code"),
    pytest.param("[x\ny](a.md)", [], id="text across lines"),
    pytest.param("[\nx](a.md)", [], id="opened at the end of a line"),
    pytest.param("a\n[b\nx](c.md)", [], id="opened on the second of three lines"),
    pytest.param("[x](a.md)\nb", [md("a.md")], id="at the end of a line"),
    # Properties.
    pytest.param(
        "---\nup: [x](a.md)\n---\n[x](b.md)", [md("b.md")], id="Markdown link in a property"
    ),
    pytest.param('---\nup: "[[a]] b"\n---\n', [], id="a property that only begins with a link"),
    pytest.param("---\nup: X[[a]]X\n---\n", [], id="between letters"),
    pytest.param('---\nup: "[[a]]"\n---\n[[b]]', [wiki("a"), wiki("b")], id="quoted property"),
    pytest.param("---\nup: [[a]]\n---\n[[b]]", [wiki("b")], id="unquoted property is a list"),
    pytest.param("---\nup: '[[a]]'\n---\n", [wiki("a")], id="single quotes"),
    pytest.param(
        "---\nx: `\n---\n[[b]] `", [wiki("b")], id="a backtick in a property opens no code"
    ),
]


@pytest.mark.parametrize("text, expected", PARSED)
def test_links_are_parsed_as_obsidian_parses_them(text, expected):
    assert [shape(link) for link in parse_links(text)] == expected


def test_a_link_knows_its_line_and_its_characters():
    text = "\none\ntwo ![[a|b]] three\n\n[x](c.md) ![y](d.png) four\n[[e]]"

    links = parse_links(text)

    assert [(link.line, text[link.start : link.end]) for link in links] == [
        (3, "![[a|b]]"),
        (5, "[x](c.md)"),
        (5, "![y](d.png)"),
        (6, "[[e]]"),
    ]


@pytest.mark.parametrize("text", ["\n[[a]]", "\n[x](a.md)"])
def test_a_first_line_with_nothing_in_it_counts(text):
    assert [link.line for link in parse_links(text)] == [2]


@pytest.mark.parametrize("link", ["[[a]]", "[x](a)"])
def test_so_many_links_and_no_more_are_read(link):
    assert len(parse_links(link * (MOST_LINKS + 9))) == MOST_LINKS


@pytest.mark.parametrize("no_link, link", [("[[ ]]", "[[a]]"), ("\\](a)", "[x](a)")])
def test_after_many_that_are_none_no_link_is_looked_for(no_link, link):
    assert parse_links(no_link * 2 * MOST_LINKS + link) == ()


@pytest.mark.parametrize(
    "text, size",
    [
        pytest.param("![[a.png|100]]", (100, None), id="width"),
        pytest.param("![[a.png|100x145]]", (100, 145), id="width and height"),
        pytest.param("![[a.png|caption]]", None, id="caption"),
        pytest.param("[[a|100]]", None, id="no embed"),
    ],
)
def test_an_embeds_display_text_may_be_a_size(text, size):
    assert parse_links(text)[0].size == size


@given(st.text(alphabet="[]()|#^!`~\\ \n>-a.", max_size=80))
def test_whatever_is_written_every_link_lies_where_it_says(text):
    for link in parse_links(text):
        written = text[link.start : link.end]
        assert written.endswith(")" if link.markdown else "]]")
        assert written.startswith(("![", "["))
        assert text.count("\n", 0, link.start) + 1 == link.line
        assert link.target or link.headings or link.block


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 400_000, id="openers"),
        pytest.param("[[" + "a" * 400_000, id="never closed"),
        pytest.param("[a]a" * 100_000, id="brackets in a row"),
        pytest.param("](" * 200_000, id="addresses without text"),
        pytest.param("`" * 400_000, id="backticks"),
        pytest.param(
            "".join("`" * (n % 900) + " " for n in range(900)) + "[[", id="runs of many lengths"
        ),
        pytest.param(" " * 400_000 + "[[a]]", id="spaces"),
        pytest.param("\n" * 400_000 + "[[a]]", id="blank lines"),
        pytest.param("    \n\n" * 60_000 + "[[a]]", id="indented blank lines"),
        pytest.param("\n\n    a" * 60_000 + "[[a]]", id="indented lines"),
        pytest.param("> ```\n" * 60_000 + "[[a]]", id="fences in quotes"),
        pytest.param("```\n~~~\n" * 40_000 + "[[a]]", id="fences of both kinds"),
        pytest.param("\\" * 400_000 + "[[a]]", id="backslashes"),
    ],
)
def test_no_text_makes_parsing_slow(text):
    # Anything worse than linear would take minutes here, and the run would be stopped.
    assert len(parse_links(text)) <= 1
