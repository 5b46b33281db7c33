"""References that tell when their document is no longer what was quoted; completion; pins."""

import pytest

from .acts import ask_and_wait
from .model import ScriptedServer
from .site import Site

pytestmark = pytest.mark.slow


def test_a_reference_tells_when_its_document_changed_or_is_gone(
    page, site: Site, model: ScriptedServer
):
    note = site.vault / "Fresh.md"
    note.write_text("# Fresh\n\nfirst line\n\n## Part\n\nquoted words\n")
    model.says("of freshness", "Said [[Fresh]].")
    page.reload()
    turn = ask_and_wait(page, "Tell me of freshness [[Fresh#Part]]")
    chip = turn.locator(".references .chip").first
    assert chip.inner_text().split() == ["1", "Fresh", "5–7"]

    note.write_text("# Fresh\n\nfirst line\n\nsecond line\n\n## Part\n\nquoted words\n")
    page.reload()
    chip = page.locator(".references .chip").first
    chip.get_by_text("changed since").wait_for()
    chip.click()
    page.locator(".cm-cited", has_text="quoted words").wait_for()

    note.unlink()
    page.reload()
    page.locator(".references .chip.missing").get_by_text("gone").wait_for()


def test_pointing_at_a_reference_shows_what_it_is_about(page, site: Site, model: ScriptedServer):
    model.says("of firing", "Long.")
    turn = ask_and_wait(page, "Speak of firing [[Oven/Firing]]")
    turn.locator(".references .chip").first.hover()
    about = turn.get_by_role("tooltip").first
    about.get_by_text("From cold oven to first loaf in about four hours.", exact=True).wait_for()

    assert "you linked to it" in about.inner_text()


@pytest.mark.parametrize(
    "typed, option, written",
    [
        pytest.param("[[comp", "Compost", "[[Compost]]", id="a note"),
        pytest.param("[[Soil#acid", "Acidity", "[[Soil#Acidity]]", id="a heading"),
        pytest.param("[[Oven/Log#^fir", "^firings", "[[Oven/Log#^firings]]", id="a block"),
        pytest.param("/ag", "/again", "/again ", id="a command"),
    ],
)
def test_what_is_typed_is_completed(page, typed: str, option: str, written: str):
    area = page.get_by_label("Message", exact=True)
    page.get_by_text("vault holds").wait_for()
    page.wait_for_function(
        "() => document.querySelector('.welcome')?.textContent.includes('notes and')"
    )
    area.press_sequentially(typed)
    page.get_by_role("option", name=option, selected=True).wait_for()
    page.keyboard.press("Enter")

    assert area.input_value() == written
    area.fill("")


def test_an_attached_file_stays_with_the_chat_until_it_is_taken_away(page, model: ScriptedServer):
    model.says("at the chart", "A chart.")
    area = page.get_by_label("Message", exact=True)
    area.press_sequentially("Look at the chart @chart")
    page.get_by_role("option", name="chart.py").first.click()
    assert area.input_value() == "Look at the chart "
    page.locator(".chips .cost").filter(has_text="+").wait_for()
    page.keyboard.press("Enter")
    page.locator("article .answer").first.wait_for()

    page.locator(".chips .cost").filter(has_text="in the window").wait_for()
    page.get_by_role("button", name="Remove Weather/code/chart.py").click()
    page.locator(".chips").wait_for(state="detached")


def test_a_pinned_turn_is_pinned_in_the_ledger_too(page, site: Site, model: ScriptedServer):
    model.says("to be pinned", "Remember this.")
    turn = ask_and_wait(page, "Something to be pinned")
    turn.get_by_role("button", name="Pin this turn").click()
    turn.get_by_role("button", name="Pin this turn", pressed=True).wait_for()
    page.keyboard.press("Alt+w")
    page.get_by_role(
        "button", name="Pin the turn “Something to be pinned”", pressed=True
    ).first.wait_for()

    chat = page.evaluate("() => new URLSearchParams(location.hash.slice(1)).get('chat')")
    assert len(site.get(f"/chats/{chat}/pins")["pins"]) == 1


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("../serve.log", id="above the folder"),
        pytest.param("/etc/hostname", id="an absolute path"),
        pytest.param(".hidden.md", id="a hidden file"),
        pytest.param("Garden", id="a folder"),
        pytest.param("No such note.md", id="nothing"),
    ],
)
def test_nothing_is_told_of_files_that_are_not_documents_of_the_folder(site: Site, path: str):
    (site.vault / ".hidden.md").write_text("secret")
    asked = {"references": [{"path": path, "fingerprint": None, "lines": None, "excerpt": ""}]}

    assert site.post("/references/freshness", asked) == {
        "states": [{"stale": True, "gone": True, "lines": None, "summary": ""}]
    }
