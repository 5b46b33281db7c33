"""Proposals: looked at, taken in part, refused, merged on conflict, undone."""

import pytest

from .acts import ask
from .model import ScriptedServer
from .site import Site

pytestmark = pytest.mark.slow

LIST = "# List\n\nmilk\n\n" + "".join(f"line {n}\n" for n in range(12)) + "\nbread\n"


def replaces(path: str, anchor: str, content: str) -> dict[str, str]:
    return {
        "op": "replace",
        "target_file": path,
        "target": "anchor",
        "anchor": anchor,
        "content": content,
    }


def propose(page, site: Site, model: ScriptedServer, name: str) -> None:
    (site.vault / f"{name}.md").write_text(LIST)
    model.proposes(
        f"better {name}",
        "Two better things.",
        replaces(f"{name}.md", "milk", "oat milk"),
        replaces(f"{name}.md", "bread", "rye bread"),
    )
    page.reload()
    page.get_by_role("heading", name="Ask about this folder").wait_for()
    ask(page, f"/edit make a better {name}: [[{name}]]")
    page.locator(".hunk").first.wait_for()


def test_one_hunk_is_taken_and_the_other_left(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Partial")
    assert page.locator(".hunk").count() == 2
    assert page.locator(".hunk mark").all_text_contents() == ["oat ", "rye "]

    page.get_by_role("checkbox", name="Take change 2 of Partial.md").uncheck()
    page.get_by_role("button", name="Apply 1 of 2").click()
    page.get_by_text("Applied to 1 file.").wait_for()

    assert (site.vault / "Partial.md").read_text() == LIST.replace("milk", "oat milk")


def test_side_by_side_shows_the_same_lines(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Beside")
    page.get_by_role("button", name="Side by side").click()
    page.locator("table.beside").first.wait_for()

    assert page.locator("table.beside td.removed").all_text_contents() == ["milk", "bread"]
    assert page.locator("table.beside td.added").all_text_contents() == ["oat milk", "rye bread"]
    page.get_by_role("button", name="Below each other").click()


def test_a_refused_proposal_writes_nothing(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Refused")
    page.get_by_role("button", name="Refuse", exact=True).click()
    page.get_by_text("Refused: nothing of it was written.").wait_for()

    assert (site.vault / "Refused.md").read_text() == LIST


def test_a_conflict_offers_the_same_change_merged(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Conflict")
    note = site.vault / "Conflict.md"
    note.write_text(LIST.replace("bread", "white bread"))

    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_text("Nothing was written").wait_for()
    assert note.read_text() == LIST.replace("bread", "white bread")
    three = page.locator("table.three")
    three.wait_for()
    assert [cell.strip() for cell in three.locator("td").all_text_contents()] == [
        "bread",
        "rye bread",
        "white bread",
    ]

    page.get_by_role("button", name="Look at the merged change").click()
    page.locator(".hunk", has_text="oat milk").wait_for()
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_text("Applied to 1 file.").wait_for()
    assert note.read_text() == LIST.replace("milk", "oat milk").replace("bread", "white bread")


def test_an_applied_change_is_undone_and_done_again(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Undone")
    note = site.vault / "Undone.md"
    better = LIST.replace("milk", "oat milk").replace("bread", "rye bread")
    page.get_by_role("button", name="Apply", exact=True).click()
    page.get_by_text("Applied to 1 file.").wait_for()
    assert note.read_text() == better

    page.get_by_role("button", name="All changes").click()
    history = page.get_by_role("region", name="History")
    history.get_by_role("button", name="Undo: Two better things.").first.click()
    page.get_by_text("Undone.", exact=True).wait_for()
    assert note.read_text() == LIST

    history.get_by_role("button", name="Redo: Two better things.").first.click()
    page.get_by_text("Done again.").wait_for()
    assert note.read_text() == better
