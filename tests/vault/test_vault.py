"""The vault's contract: the same on disk and in memory, and wherever the index is kept."""

import asyncio

import pytest

from sill.adapters.vault.index import DiskVault
from sill.core.graph import BadLink, LinkReport
from sill.core.messages import fingerprint
from sill.core.references import Reference
from sill.testing import MemoryVault
from tests.vault.conftest import HOMES, home

NOTES = {
    "Tea.md": "---\naliases: [Cha]\nsummary: Leaves in water.\n---\n# Tea\n\nGreen tea wants eighty degrees.\n\n"
    "## Black\n\nBlack tea boils. See [[Kettle]] and [[nowhere]].\n",
    "kitchen/Kettle.md": "The kettle whistles. ^whistle\n\nBack to [[Tea#Black|black tea]] and [[Tea#Lost]].\n",
    "kitchen/pot.py": "def pour(cup):\n    return cup\n",
}


def write(root, texts):
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@pytest.fixture(params=[*HOMES, "memory"])
def vault(request, tmp_path):
    if request.param == "memory":
        yield MemoryVault(NOTES)
        return
    root = tmp_path / "vault"
    root.mkdir()
    write(root, NOTES)
    made = DiskVault(root, home(request, tmp_path)("index"))
    yield made
    asyncio.run(made.close())


def asked(vault, name, *arguments):
    async def run():
        await vault.refresh()
        return await getattr(vault, name)(*arguments)

    return asyncio.run(run())


def test_it_knows_its_files(vault):
    assert asked(vault, "paths") == sorted(NOTES)


def test_a_second_look_finds_nothing_new(vault):
    assert asked(vault, "refresh") == 0


@pytest.mark.parametrize(
    "path, expected",
    [
        pytest.param("Tea.md", NOTES["Tea.md"], id="a note"),
        pytest.param("gone.md", None, id="missing"),
        pytest.param("../Tea.md", None, id="outside"),
    ],
)
def test_reading(vault, path, expected):
    assert asked(vault, "read", path) == expected


@pytest.mark.parametrize(
    "question, expected",
    [
        pytest.param("whistles", ("kitchen/Kettle.md", (1, 3)), id="a word"),
        pytest.param("pour cup", ("kitchen/pot.py", (1, 2)), id="code"),
        pytest.param('"black tea boils"', ("Tea.md", (9, 11)), id="a phrase"),
        pytest.param("what is it that whistles?", ("kitchen/Kettle.md", (1, 3)), id="a question"),
        pytest.param("tea -black", ("Tea.md", (5, 7)), id="without a word"),
    ],
)
def test_the_first_hit_is_the_passage_that_says_it(vault, question, expected):
    (hit, *_) = asked(vault, "search", question, 10, "text")

    assert (hit.path, hit.lines) == expected
    assert hit.fingerprint == fingerprint(NOTES[hit.path])
    assert hit.text in NOTES[hit.path]


@pytest.mark.parametrize(
    "question", ["", "   ", '"', "zzzqqq", "()", "* OR NEAR(", "-", '"" -""', "path:"]
)
def test_questions_that_mean_nothing_find_nothing(vault, question):
    assert asked(vault, "search", question) == []


@pytest.mark.parametrize(
    "message, path, lines, note",
    [
        pytest.param("[[tea]]", "Tea.md", (1, 11), "", id="a note"),
        pytest.param("[[Tea#Black]]", "Tea.md", (9, 11), "", id="a section"),
        pytest.param("[[Kettle#^whistle]]", "kitchen/Kettle.md", (1, 1), "", id="a block"),
        pytest.param("[[cha]]", "Tea.md", (1, 11), "found by its alias “cha”", id="an alias"),
        pytest.param("[[none]]", None, None, "no such file", id="nothing"),
    ],
)
def test_wikilinks_of_a_message_become_references(vault, message, path, lines, note):
    (reference,) = asked(vault, "references", f"What about {message}?")

    assert (reference.path, reference.lines, reference.note) == (path, lines, note)
    assert reference.origin == "link"
    if path is not None:
        assert reference.fingerprint == fingerprint(NOTES[path])


def test_the_same_link_twice_is_one_reference(vault):
    found = asked(vault, "references", "[[Tea]] or [[tea]]? And [[x]], [[X]]?")

    assert [reference.path for reference in found] == ["Tea.md", None]
    assert all(isinstance(reference, Reference) for reference in found)


def test_links_forward_and_backward(vault):
    links = asked(vault, "links", "Tea.md")

    assert [(edge.target, edge.link.written) for edge in links.forward] == [
        ("kitchen/Kettle.md", "[[Kettle]]"),
        (None, "[[nowhere]]"),
    ]
    assert [(edge.source, edge.link.line) for edge in links.backward] == [
        ("kitchen/Kettle.md", 3),
        ("kitchen/Kettle.md", 3),
    ]


def test_broken_links_of_the_whole_vault(vault):
    assert asked(vault, "check_links") == LinkReport(
        total=4,
        broken=(BadLink("Tea.md", 11, "[[nowhere]]"),),
        places=(BadLink("kitchen/Kettle.md", 3, "[[Tea#Lost]]"),),
    )


def test_related_notes_are_those_that_link_here_or_there(vault):
    assert "kitchen/Kettle.md" in [hit.path for hit in asked(vault, "related", "Tea.md")]


def test_a_note_says_what_it_is_about(vault):
    assert asked(vault, "summary", "Tea.md") == "Leaves in water."
