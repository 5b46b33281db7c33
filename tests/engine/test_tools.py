"""Sill's own tools over a real folder: what they bring, and what they never touch."""

import asyncio
from pathlib import Path

import pytest

from sill.adapters.vault.index import DiskVault
from sill.app.tools import built_in
from sill.core.messages import fingerprint
from sill.core.references import Reference
from sill.engine.offering import Boxes
from sill.engine.proposals import read
from sill.errors import FileRefused
from sill.ports import Caller, ToolOutcome
from sill.testing import MemoryStore

NOTES = {
    "Garden/Soil.md": "---\naliases: [Earth]\n---\n# Soil\n\nClay holds water. See [[Compost]].\n",
    "Garden/Compost.md": "# Compost\n\nWorms turn leaves into compost.\n",
    ".gitignore": "secret.md\n",
    "secret.md": "the password\n",
    ".env": "KEY=1\n",
}
AT = Caller("chat", "turn")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    for name, text in NOTES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (tmp_path / "outside.md").write_text("not yours\n")
    (root / "way_out.md").symlink_to(tmp_path / "outside.md")
    return root


def use(
    folder: Path, *calls: tuple[str, dict], store: MemoryStore | None = None
) -> list[ToolOutcome]:
    async def run() -> list[ToolOutcome]:
        vault = DiskVault(folder, folder.parent / "index.sqlite")

        async def opened() -> DiskVault:
            return vault

        box = Boxes(built_in(store or MemoryStore(), folder, opened, 8_000_000))
        try:
            return [await box.call(name, arguments, AT) for name, arguments in calls]
        finally:
            await vault.close()

    return asyncio.run(run())


@pytest.mark.parametrize(
    "name, arguments, text",
    [
        pytest.param("read_document", {"path": "Garden/Compost.md"}, NOTES["Garden/Compost.md"], id="by path"),
        pytest.param("read_document", {"path": "./Garden/Compost.md"}, NOTES["Garden/Compost.md"], id="by ./path"),
        pytest.param("read_document", {"path": "Compost"}, NOTES["Garden/Compost.md"], id="by name"),
        pytest.param("read_document", {"path": "[[Earth]]"}, NOTES["Garden/Soil.md"], id="by alias"),
        pytest.param(
            "read_document",
            {"path": "Compost", "start_line": 3},
            "Worms turn leaves into compost.\n",
            id="from a line",
        ),
        pytest.param("list_documents", {"folder": "Garden/"}, "Garden/Compost.md\nGarden/Soil.md", id="list"),
        pytest.param("resolve_wikilink", {"link": "[[Earth]]"}, "Garden/Soil.md, lines 1 to 6", id="alias resolves"),
        pytest.param("find_backlinks", {"path": "Compost"}, "Garden/Soil.md:6", id="backlinks"),
        pytest.param(
            "find_forward_links",
            {"path": "Soil"},
            "line 6: [[Compost]] -> Garden/Compost.md",
            id="forward links",
        ),
        pytest.param(
            "find_documents",
            {"query": "worms"},
            "Garden/Compost.md: Worms turn leaves into compost.\nGarden/Soil.md: Clay holds water. See Compost.",
            id="documents",
        ),
    ],
)  # fmt: skip
def test_a_tool_brings(folder, name, arguments, text):
    [outcome] = use(folder, (name, arguments))

    assert (outcome.text, outcome.is_error) == (text, False)


def test_what_was_read_and_found_is_referred_to(folder):
    read_one, found = use(
        folder,
        ("read_document", {"path": "Compost", "start_line": 3}),
        ("find_excerpts", {"query": "worms"}),
    )

    text = NOTES["Garden/Compost.md"]
    quoted = "Worms turn leaves into compost.\n"
    assert read_one.references == (
        Reference("read", "Garden/Compost.md", (3, 4), fingerprint(text), quoted),
    )
    assert read_one.first_line == 3
    assert [(r.origin, r.path) for r in found.references] == [
        ("search", "Garden/Compost.md"),
        ("search", "Garden/Soil.md"),  # its neighbour by a link
    ]
    assert found.text.startswith("Garden/Compost.md:1-")


@pytest.mark.parametrize(
    "name, arguments",
    [
        pytest.param("read_document", {"path": path}, id=path)
        for path in (
            "../outside.md",
            "/etc/passwd",
            "secret.md",
            ".env",
            ".gitignore",
            "way_out.md",
            "Garden/../../outside.md",
            "Garden",
            "",
            "nothing.md",
        )
    ]
    + [
        pytest.param("read_document", {"path": "Compost", "start_line": 99}, id="no such line"),
        pytest.param("resolve_wikilink", {"link": "Nowhere"}, id="a link to nowhere"),
        pytest.param("find_backlinks", {"path": "secret.md"}, id="links of an ignored file"),
        pytest.param("list_documents", {"folder": ".."}, id="list the folder above"),
    ],
)
def test_nothing_outside_and_nothing_that_is_skipped_is_read(folder, name, arguments):
    [outcome] = use(folder, (name, arguments))

    assert outcome.is_error
    assert not {"not yours", "password", "KEY=1", "root:"} & {outcome.text}
    assert outcome.references == ()


def edit(path, find, replace):
    return (
        "propose_edit",
        {"explanation": "why", "edits": [{"path": path, "find": find, "replace": replace}]},
    )


def test_a_proposed_edit_is_stored_and_no_file_is_written(folder):
    store = MemoryStore()

    [outcome] = use(folder, edit("Garden/Compost.md", "Worms", "Many worms"), store=store)

    [stored] = asyncio.run(store.proposals("chat"))
    kept = read(stored.body)
    assert (stored.turn, stored.status, kept.proposal.explanation) == ("turn", "open", "why")
    assert (
        outcome.text
        == f"proposal {stored.id} for Garden/Compost.md is stored; it is not applied yet"
    )
    assert (folder / "Garden/Compost.md").read_text() == NOTES["Garden/Compost.md"]


def test_a_new_file_can_be_proposed(folder):
    store = MemoryStore()

    use(folder, edit("Garden/New.md", "", "# New\n"), store=store)

    [stored] = asyncio.run(store.proposals("chat"))
    assert read(stored.body).proposal.base == {"Garden/New.md": None}
    assert not (folder / "Garden/New.md").exists()


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(edit("Garden/Compost.md", "nowhere", "x"), id="text that is not there"),
        pytest.param(edit("Garden/Compost.md", "o", "x"), id="text that is there twice"),
        pytest.param(edit("Garden/Compost.md", "Worms", "Worms"), id="no change"),
        pytest.param(edit("secret.md", "the", "a"), id="an ignored file"),
        pytest.param(edit(".git/config", "", "x"), id="a protected name"),
        pytest.param(edit("../outside.md", "", "x"), id="outside"),
    ],
)
def test_an_edit_that_cannot_be_is_not_stored(folder, call):
    store = MemoryStore()

    try:
        [outcome] = use(folder, call, store=store)
    except FileRefused as error:  # which the model reads as an error
        outcome = ToolOutcome(str(error), is_error=True)

    assert outcome.is_error
    assert asyncio.run(store.proposals("chat")) == []


def test_facts_are_remembered_with_their_turn_and_found_again(folder):
    store = MemoryStore()

    outcomes = use(
        folder,
        ("store_in_memory", {"text": "The plot is number 14."}),
        ("store_in_memory", {"text": "Tea is taken without milk."}),
        ("store_in_memory", {"text": "Tea is taken without milk."}),
        ("retrieve_from_memory", {"query": "which plots do I have?"}),
        ("retrieve_from_memory", {"query": ""}),
        ("retrieve_from_memory", {"query": "zebra"}),
        ("store_in_memory", {"text": "  "}),
        store=store,
    )

    assert [outcome.text for outcome in outcomes[:6]] == [
        "remembered",
        "remembered",
        "this was remembered already",
        "- The plot is number 14.",
        "- Tea is taken without milk.\n- The plot is number 14.",
        "nothing is remembered",
    ]
    assert outcomes[6].is_error
    notes = asyncio.run(store.notes(str(folder)))
    assert [note.turn for note in notes] == ["turn", "turn"]
