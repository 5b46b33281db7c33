"""The sample vault that ships with Sill, as a vault."""

import asyncio
from pathlib import Path

import pytest

import sill
from sill.adapters.vault.index import DiskVault

SAMPLE = Path(sill.__file__).parent / "sample" / "vault"


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    made = DiskVault(SAMPLE, tmp_path_factory.mktemp("sample") / "index.sqlite")
    asyncio.run(made.refresh())
    yield made
    asyncio.run(made.close())


def test_only_the_link_to_a_note_yet_to_be_written_leads_nowhere(vault):
    report = asyncio.run(vault.check_links())

    assert [one.link for one in report.broken] == ["[[Bee hotel]]"]
    assert report.places == ()


def test_every_note_can_be_read_and_found(vault):
    status = asyncio.run(vault.status())

    assert status.problems == ()
    assert status.notes > 30


def test_every_note_says_what_it_is_about(vault):
    paths = [path for path in asyncio.run(vault.paths()) if path.endswith(".md")]

    assert [path for path in paths if not asyncio.run(vault.summary(path))] == []


def test_passages_name_the_lines_they_stand_on(vault):
    for question in ("sourdough starter", "frost", "weather station", "oven dome"):
        hits = asyncio.run(vault.search(question, 10))
        assert hits, question
        for hit in hits:
            text = asyncio.run(vault.read(hit.path))
            lines = text.split("\n")[hit.lines[0] - 1 : hit.lines[1]]
            assert "\n".join(lines).strip() == hit.text
