"""Passages: where a text is cut, and that nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sill.core.chunks import Passage, passages

LONG = "A sentence of some length that fills the paragraph with words. " * 10  # 630 characters


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("", [], id="nothing"),
        pytest.param("\n \n", [], id="blank"),
        pytest.param("one\ntwo\n", [Passage("one\ntwo", (1, 2))], id="short text is one passage"),
        pytest.param(
            "---\ntitle: x\n---\n\nbody", [Passage("body", (5, 5))], id="front matter is left out"
        ),
        pytest.param(
            "intro\n# A\na\n## B\nb\n# C\nc",
            [
                Passage("intro", (1, 1)),
                Passage("# A\na", (2, 3), ("A",)),
                Passage("## B\nb", (4, 5), ("A", "B")),
                Passage("# C\nc", (6, 7), ("C",)),
            ],
            id="cut at headings",
        ),
        pytest.param(
            "# A\n\n## B\ntext",
            [Passage("# A\n\n## B\ntext", (1, 4), ("A", "B"))],
            id="a heading without text stays with what follows",
        ),
        pytest.param(
            "```\n# no heading\n```\n",
            [Passage("```\n# no heading\n```", (1, 3))],
            id="no heading in code",
        ),
        pytest.param(
            f"{LONG}\n\n{LONG}",
            [Passage(LONG.strip(), (1, 1)), Passage(LONG.strip(), (3, 3))],
            id="cut between paragraphs",
        ),
        pytest.param(
            "text\n```compressed-json\nabc\n```\n",
            [Passage("text\n```compressed-json\nabc\n```", (1, 4))],
            id="a small drawing is not worth a cut",
        ),
    ],
)
def test_text_is_cut_where_a_reader_would_pause(text, expected):
    assert passages(text) == expected


def test_a_code_block_is_not_cut_while_it_fits():
    block = "```py\n" + "x = 1\n\n" * 100 + "```"

    cut = passages(f"{LONG}\n\n{block}\n\n{LONG}")

    assert block in [passage.text for passage in cut]


def test_code_is_cut_before_a_line_at_the_margin():
    code = "".join(f"def f{n}():\n    return {n}\n" + "    # why\n" * 12 for n in range(20))

    cut = passages(code, markdown=False)

    assert len(cut) > 1
    assert all(passage.text.startswith("def ") for passage in cut)


def test_drawings_that_plugins_keep_in_notes_are_left_out():
    text = "# Drawing\n\n" + LONG + "\n\n```compressed-json\n" + "N4Ig" * 2_000 + "\n```\n"

    assert not any("N4IgN4IgN4Ig" in passage.text for passage in passages(text))


@given(st.text(alphabet="#`~ab \n.-", max_size=300), st.booleans())
def test_every_line_with_something_on_it_is_in_a_passage(text, markdown):
    text = "x" + text  # no front matter
    cut = passages(text, markdown=markdown)

    covered = {line for passage in cut for line in range(passage.lines[0], passage.lines[1] + 1)}
    filled = {number for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    assert filled <= covered


@given(
    st.lists(st.sampled_from(["word", "\n", "\n\n", "# Head\n", "```\n", "é日", LONG]), max_size=60)
)
def test_a_passage_is_what_stands_on_its_lines(pieces):
    text = "x " + " ".join(pieces)

    for passage in passages(text):
        lines = text.split("\n")[passage.lines[0] - 1 : passage.lines[1]]
        assert passage.text in "\n".join(lines)
        assert len(passage.text.encode()) <= 1_300


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * 1_000_000, id="one word"),
        pytest.param("# a\n" * 100_000, id="headings"),
        pytest.param("```\na\n```\n" * 30_000, id="fences"),
        pytest.param("    \n" * 200_000, id="blank lines"),
    ],
)
def test_no_text_makes_cutting_slow(text):
    # Anything worse than linear would take minutes here, and the run would be stopped.
    assert len(passages(text)) < 1_000
