"""Which file and which lines a link means."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.links import parse_links
from sill.core.outline import outline
from sill.core.resolve import Files, Resolved, Unresolved, key, link_target, resolve

FILES = [
    "Root.md",
    "Log.md",
    "Note.md",
    "a/b/Twin.md",
    "zzzz/Twin.md",
    "zzzz/deep/here.md",
    "b/Same.md",
    "deep/er/Same.md",
    "proj/Note.md",
    "proj/img.png",
    "proj/sub/Note.md",
    "proj/sub/Plan.md",
    "Ext.md",
    "data.v2.md",
    "pic.png",
    "pic.png.md",
    "src/main.py",
    "Caf\u00e9.md",
    "LICENSE",
    "LICENSE.md",
    "With space/My Note.md",
    "C#.md",
    "Xray.md",
    "v1.2/READ",
    "v1.2/READ.md",
]

RESOLVED = [
    pytest.param("[[Root]]", "x.md", "Root.md", id="by name"),
    pytest.param("[[Root.md]]", "x.md", "Root.md", id="with extension"),
    pytest.param("[[Ext.MD]]", "x.md", "Ext.md", id="extension in capitals"),
    pytest.param("[[LOG]]", "x.md", "Log.md", id="capitals"),
    pytest.param("[[log]]", "x.md", "Log.md", id="small letters"),
    pytest.param("[[Note]]", "proj/x.md", "Note.md", id="an exact path wins over the own folder"),
    pytest.param("[[proj/Note]]", "proj/sub/x.md", "proj/Note.md", id="exact path with folder"),
    pytest.param("[[Twin]]", "x.md", "a/b/Twin.md", id="shortest path string, not fewest folders"),
    pytest.param("[[Twin]]", "zzzz/x.md", "zzzz/Twin.md", id="the own folder first"),
    pytest.param("[[Twin]]", "zzzz/deep/here.md", "a/b/Twin.md", id="ancestors do not count"),
    pytest.param("[[Same]]", "x.md", "b/Same.md", id="shortest of two"),
    pytest.param("[[er/Same]]", "x.md", "deep/er/Same.md", id="end of a path"),
    pytest.param("[[r/Same]]", "x.md", None, id="only whole folder names"),
    pytest.param("[[sub/Note]]", "x.md", "proj/sub/Note.md", id="end of a path with folder"),
    pytest.param("[[./Plan]]", "proj/sub/x.md", "proj/sub/Plan.md", id="relative"),
    pytest.param("[[./Plan]]", "proj/x.md", None, id="relative has no fallback"),
    pytest.param("[[../Note]]", "proj/sub/x.md", "proj/Note.md", id="relative upwards"),
    pytest.param("[[../../Note]]", "proj/sub/x.md", "Note.md", id="relative up to the root"),
    pytest.param("[[../../../Note]]", "proj/sub/x.md", None, id="out of the vault"),
    pytest.param("[[../../../../etc/passwd]]", "proj/x.md", None, id="far out of the vault"),
    pytest.param("[[/etc/passwd]]", "x.md", None, id="absolute path of the machine"),
    pytest.param("[[/Note]]", "proj/x.md", "Note.md", id="leading slash is the root"),
    pytest.param("[[img]]", "x.md", None, id="another type needs its extension"),
    pytest.param("![[img.png]]", "x.md", "proj/img.png", id="another type with extension"),
    pytest.param("[[data.v2]]", "x.md", "data.v2.md", id="a dot in the name"),
    pytest.param("[[pic.png]]", "x.md", "pic.png", id="the spelt-out type first"),
    pytest.param("[[pic.png.md]]", "x.md", "pic.png.md", id="the note of that name"),
    pytest.param("[[License]]", "x.md", "LICENSE.md", id="a note before a file without type"),
    pytest.param("[[main.py]]", "x.md", "src/main.py", id="code"),
    pytest.param("[[Cafe\u0301]]", "x.md", "Caf\u00e9.md", id="decomposed accent"),
    pytest.param("[[CAFÉ]]", "x.md", "Caf\u00e9.md", id="accent in capitals"),
    pytest.param("[y](My%20Note.md)", "x.md", "With space/My Note.md", id="Markdown, vault-wide"),
    pytest.param("[y](With%20space/My%20Note.md)", "With space/z.md", "With space/My Note.md", id="Markdown, path"),
    pytest.param("[y](../Note.md)", "proj/x.md", "Note.md", id="Markdown, relative"),
    pytest.param("[y](C%23.md)", "x.md", "C#.md", id="Markdown, hash in the name"),
    pytest.param("[[#Here]]", "x.md", "x.md", id="same note"),
    pytest.param("[[https://x.org]]", "x.md", None, id="an address"),
    pytest.param("[[Nowhere]]", "x.md", None, id="missing"),
    pytest.param("[[nowhere/Root]]", "x.md", None, id="its only namesake stands elsewhere"),
    pytest.param("[[Xray]]", "x.md", "Xray.md", id="a name is taken as it is"),
    pytest.param("[[v1.2/Read]]", "x.md", "v1.2/READ.md", id="a dot in a folder's name asks for no type"),
    pytest.param("[[./Root]]", "x.md", "Root.md", id="relative at the root"),
    pytest.param("[[.//./Plan]]", "proj/sub/x.md", "proj/sub/Plan.md", id="what means nothing in a path"),
    pytest.param("[[.]]", "proj/x.md", None, id="a folder"),
    pytest.param("[[..]]", "proj/sub/x.md", None, id="the folder above"),
]  # fmt: skip


@pytest.mark.parametrize("text, source, expected", RESOLVED)
def test_a_link_means_the_file_obsidian_opens(text, source, expected):
    files = Files([*FILES, source])
    (link,) = parse_links(text)

    assert files.find(link.target, source) == expected


def test_files_come_and_go():
    files = Files(["a/n.md"])
    files.add("b/n.md")
    files.add("b/n.md")
    both = (files.find("n", ""), files.is_unique("a/n.md"), sorted(files.paths))
    files.remove("a/n.md")
    files.remove("a/n.md")
    one = (files.find("n", ""), files.is_unique("b/n.md"), sorted(files.paths))

    assert both == ("a/n.md", False, ["a/n.md", "b/n.md"])
    assert one == ("b/n.md", True, ["b/n.md"])


def test_files_saved_with_decomposed_names_are_found_by_composed_links():
    files = Files([unicodedata.normalize("NFD", "Übung.md")])

    assert files.find("übung", "x.md") == unicodedata.normalize("NFD", "Übung.md")


NOTE = """\
---
aliases: [Other]
---
# Top
intro ^intro
## Part: one
- first ^one
- second
  more ^two
### Deep
text
## Part two
> quote

^quote

| a | b |
|---|---|
^table
```
# not a heading
not a block ^code
```
Last
====
end
"""


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("[[n]]", Resolved("n.md"), id="whole note"),
        pytest.param("[[n#Top]]", Resolved("n.md", (4, 23)), id="top heading"),
        pytest.param("[[n#Part one]]", Resolved("n.md", (6, 11)), id="a colon is ignored"),
        pytest.param("[[n#part: ONE]]", Resolved("n.md", (6, 11)), id="capitals are ignored"),
        pytest.param(
            "[[n#Part one#Deep]]", Resolved("n.md", (10, 11)), id="heading below a heading"
        ),
        pytest.param("[[n#Top#Deep]]", Resolved("n.md", (10, 11)), id="a rank may be left out"),
        pytest.param("[[n#Part two#Deep]]", Unresolved("no such heading", "n.md"), id="elsewhere"),
        pytest.param("[[n#Last]]", Resolved("n.md", (24, 26)), id="underlined heading"),
        pytest.param("[[n#not a heading]]", Unresolved("no such heading", "n.md"), id="in code"),
        pytest.param("[[n#^intro]]", Resolved("n.md", (5, 5)), id="block of a paragraph"),
        pytest.param("[[n#^one]]", Resolved("n.md", (7, 7)), id="block of an item"),
        pytest.param("[[n#^two]]", Resolved("n.md", (8, 9)), id="block of a longer item"),
        pytest.param("[[n#^quote]]", Resolved("n.md", (13, 13)), id="id below a quote"),
        pytest.param("[[n#^table]]", Resolved("n.md", (17, 18)), id="id below a table"),
        pytest.param("[[n#^ONE]]", Resolved("n.md", (7, 7)), id="block in capitals"),
        pytest.param("[[n#^code]]", Unresolved("no such block", "n.md"), id="block in code"),
        pytest.param("[[p.pdf#page=3]]", Resolved("p.pdf"), id="page of a PDF"),
        pytest.param(
            "[[Other]]", Unresolved("no such file"), id="an alias does not resolve in files"
        ),
    ],
)
def test_headings_and_blocks_resolve_to_lines(text, expected):
    files = Files(["n.md", "p.pdf"])
    (link,) = parse_links(text)

    assert resolve(link, "x.md", files, {"n.md": outline(NOTE)}) == expected


def test_an_alias_resolves_where_people_type_and_says_so():
    links = parse_links("[[other]] [[other#Top]] [[other#^one]]")
    aliases, outlines = {key("Other"): "n.md"}, {"n.md": outline(NOTE)}

    found = [resolve(link, "", Files(["n.md"]), outlines, aliases) for link in links]

    assert found == [
        Resolved("n.md", alias="other"),
        Resolved("n.md", (4, 23), "other"),
        Resolved("n.md", (7, 7), "other"),
    ]


@pytest.mark.parametrize(
    "path, expected",
    [
        pytest.param("Root.md", "Root", id="a unique name"),
        pytest.param("proj/sub/Note.md", "proj/sub/Note", id="one of several"),
        pytest.param("proj/img.png", "img.png", id="another type keeps its extension"),
        pytest.param("a/b/Twin.md", "a/b/Twin", id="a name that means another elsewhere"),
        pytest.param("pic.png.md", "pic.png.md", id="a note named like a picture"),
        pytest.param("LICENSE", None, id="what no spelling finds"),
        pytest.param("a/b/C#.md", None, id="a name that no wikilink holds"),
    ],
)
def test_a_link_is_written_so_that_it_means_the_file(path, expected):
    assert link_target(path, Files(FILES)) == expected


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1)
PATHS = st.lists(NAMES | st.sampled_from(["Note", "note", "a b", "x|y"]), min_size=1, max_size=3)


@given(st.lists(PATHS.map(lambda parts: "/".join(parts) + ".md"), min_size=1, max_size=6))
def test_a_link_that_is_written_leads_back_to_its_file_from_anywhere(paths):
    files = Files(paths)
    for path in paths:
        target = link_target(path, files)
        if target is not None:
            (link,) = parse_links(f"[[{target}]]")

            found = {files.find(link.target, source) for source in ["", "x.md", *paths]}
            assert found == {path}
