"""The commands over a vault: what they print and which code they end with."""

import json

import click
import pytest

from sill.cli import index, links, references, search
from sill.cli.main import run

COMMANDS: dict[str, click.Command] = {
    "links": links.command,
    "search": search.command,
    "index": index.index,
    "status": index.status,
    "references": references.command,
}


@pytest.fixture
def sill(tmp_path, monkeypatch, capsys):
    root = tmp_path / "vault"
    (root / "sub").mkdir(parents=True)
    (root / "Tea.md").write_text(
        "---\naliases: [Cha]\n---\n# Tea\n\nGreen tea. [[Pot]] and [[gone]].\n`[[code]]`\n"
    )
    (root / "sub/Pot.md").write_text("Pots hold tea. ![[Tea]]\n")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(root)

    def call(name, *arguments):
        code = run(COMMANDS[name], list(arguments))
        out = capsys.readouterr()
        return code, out.out, out.err

    return call


def test_links_of_a_note_by_name_path_and_alias(sill):
    for name in ("Tea", "tea.md", "[[Tea]]", "Cha"):
        code, out, _ = sill("links", name, "--json")

        assert code == 0
        assert json.loads(out) == {
            "note": "Tea.md",
            "forward": [
                {
                    "source": "Tea.md",
                    "line": 6,
                    "link": "[[Pot]]",
                    "target": "sub/Pot.md",
                    "embed": False,
                },
                {"source": "Tea.md", "line": 6, "link": "[[gone]]", "target": None, "embed": False},
            ],
            "backward": [
                {
                    "source": "sub/Pot.md",
                    "line": 1,
                    "link": "![[Tea]]",
                    "target": "Tea.md",
                    "embed": True,
                }
            ],
            "related": ["sub/Pot.md"],
        }


def test_a_note_that_is_not_there_is_a_mistake(sill):
    code, out, err = sill("links", "nobody")

    assert (code, out, err) == (2, "", "sill: there is no note “nobody” in this vault\n")


def test_the_check_counts_links_and_names_the_broken_ones(sill):
    code, out, _ = sill("links", "--check", "--json")

    assert code == 1
    assert json.loads(out) == {
        "total": 3,
        "resolved": 2,
        "broken": [{"file": "Tea.md", "line": 6, "link": "[[gone]]"}],
        "missing_places": [],
    }


def test_the_check_for_people(sill):
    code, out, _ = sill("links", "--check")

    assert (code, out) == (1, "Tea.md:6: [[gone]] leads nowhere\n2 of 3 links lead somewhere\n")


def test_the_graph_for_graphviz(sill):
    code, out, _ = sill("links", "--dot")

    assert code == 0
    assert '  "Tea.md" -> "sub/Pot.md";' in out.splitlines()


def test_search_prints_where_and_why(sill):
    code, out, _ = sill("search", "what", "holds", "--mode", "text")

    assert code == 0
    assert out == "sub/Pot.md:1-1  (text 1)\n    Pots hold tea. Tea\n"


def test_a_result_is_shown_where_the_words_are(sill):
    assert sill("search", "gone", "--mode", "text")[1].splitlines() == [
        "Tea.md:4-7  Tea  (text 1)",
        "    … Pot and gone. code",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["tea", "-gone"], id="as a word"),
        pytest.param(["tea -gone"], id="inside the question"),
        pytest.param(["-n5", "tea", "-gone"], id="beside an option"),
        pytest.param(["tea", "-gone", "-n", "5"], id="before an option"),
        pytest.param(["--", "tea", "-gone"], id="behind two dashes"),
    ],
)
def test_an_unwanted_word_is_no_option(sill, arguments):
    code, out, _ = sill("search", "--mode", "text", *arguments)

    assert (code, out) == (0, "sub/Pot.md:1-1  (text 1)\n    Pots hold tea. Tea\n")


def test_search_as_json(sill):
    code, out, _ = sill("search", "green tea", "--json", "-n", "1", "--mode", "text")

    (result,) = json.loads(out)["results"]
    assert code == 0
    assert (result["path"], result["lines"], result["why"]) == ("Tea.md", [4, 7], {"text": 1})


def test_nothing_found_is_an_exit_code(sill):
    assert sill("search", "zebra") == (1, "", "sill: nothing found\n")
    assert sill("search", "zebra", "--json")[::2] == (1, "")


def test_searching_by_meaning_without_an_embedder_says_what_to_do(sill):
    code, out, err = sill("search", "tea", "--mode", "semantic", "--embedder", "none")

    assert (code, out) == (2, "")
    assert "there is no embedder" in err


def test_a_folder_that_is_not_there_is_a_mistake(sill):
    code, _, err = sill("status", "--vault", "nowhere")

    assert code == 2
    assert "there is no such folder" in err


@pytest.mark.parametrize("command", ["index", "status"])
def test_the_index_says_what_it_holds(sill, command):
    code, out, _ = sill(command, "--embedder", "none", "--json")

    told = json.loads(out)
    assert code == 0
    assert (told["files"], told["notes"], told["links"], told["problems"]) == (2, 2, 3, [])


def test_the_whole_index_can_be_made_again(sill):
    assert sill("index", "--full", "--embedder", "none")[0] == 0
    assert sill("search", "pots", "--mode", "text")[0] == 0


def test_without_chats_no_document_was_used(sill):
    assert sill("references", "--json") == (0, "[]\n", "")
    assert sill("references") == (0, "", "sill: no chat over this folder has used a document yet\n")


def test_the_links_of_a_note_for_people(sill):
    assert sill("links", "Pot") == (
        0,
        "sub/Pot.md links to\n      1  ![[Tea]]  Tea.md\nlinked from\n  Tea.md:6  [[Pot]]\nrelated\n  Tea.md\n",
        "",
    )
