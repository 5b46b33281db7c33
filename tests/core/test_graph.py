"""Reports and pictures of a vault's links."""

from sill.core.graph import BadLink, LinkReport, as_dot, edges_of, report
from sill.core.outline import outline
from sill.core.resolve import Files

NOTES = {
    "a.md": "# Top\n[[b]] [[B]] ![[pic.png]] `[[code]]` [[none]]\n[[b#Here]] [[b#There]] [[#Top]]",
    "b.md": "# Here\n[[a]] ![[b]]",
    "pic.png": "",
}


def edges():
    files = Files(NOTES)
    return [edge for path, text in NOTES.items() for edge in edges_of(path, text, files)]


def test_a_report_counts_links_and_embeds_but_not_code():
    outlines = {path: outline(text) for path, text in NOTES.items()}

    found = report(edges(), Files(NOTES), outlines)

    assert found == LinkReport(
        total=9,
        broken=(BadLink("a.md", 2, "[[none]]"),),
        places=(BadLink("a.md", 3, "[[b#There]]"),),
    )
    assert found.resolved == 8


def test_the_graph_has_each_pair_once_and_no_loops():
    assert as_dot(edges()).splitlines() == [
        "digraph vault {",
        "  node [shape=box];",
        '  "a.md" -> "b.md";',
        '  "a.md" -> "pic.png";',
        '  "b.md" -> "a.md";',
        "}",
    ]


def test_names_cannot_break_out_of_the_graph():
    files = Files(['x".md', "a.md"])
    (edge,) = edges_of("a.md", '[[x"]]', files)

    assert '  "a.md" -> "x\\".md";' in as_dot([edge]).splitlines()
