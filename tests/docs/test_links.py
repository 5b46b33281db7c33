"""Links between the pages lead somewhere, and no page names this machine."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    targets = [target.split("#")[0] for target in LINK.findall(text)]
    local = [target for target in targets if target and "://" not in target]

    assert [target for target in local if not (page.parent / target).exists()] == []


def test_the_working_notes_stay_short():
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 60
