"""What is said about licences follows from the packages that are really used."""

import runpy
from pathlib import Path

WRITER = runpy.run_path(
    str(Path(__file__).resolve().parent.parent / "scripts" / "write_licences.py")
)


def test_the_page_of_licences_is_up_to_date():
    assert WRITER["PAGE"].read_text() == WRITER["page"](), "run scripts/write_licences.py"


def test_every_package_of_the_page_has_its_notice():
    lock, texts = WRITER["packages"](), WRITER["TEXTS"].read_text()
    headings = {
        name: f"\n{name} {lock[name]['version']} ({lock[name]['license']})\n"
        for name in WRITER["bundled"]()
    }

    assert [name for name, heading in headings.items() if heading not in texts] == []


def test_what_the_page_is_rendered_with_is_among_them():
    assert {"svelte", "markdown-it", "dompurify", "@codemirror/view"} <= set(WRITER["bundled"]())
