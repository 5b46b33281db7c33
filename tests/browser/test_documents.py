"""Documents: what is typed is saved, and never over what somebody else wrote."""

import pytest

from .conftest import opened_page
from .model import ScriptedServer
from .site import Site

pytestmark = pytest.mark.slow


def edit(page, path: str) -> None:
    page.goto(page.url.split("#")[0] + f"#side=document&doc={path}")
    page.locator(".cm-content").wait_for()


def type_at_end(page, text: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def test_what_is_typed_is_saved_byte_for_byte_and_can_be_undone(page, site: Site):
    note = site.vault / "Lines.md"
    note.write_bytes(b"one\r\ntwo\r\n")
    edit(page, "Lines.md")

    type_at_end(page, "three")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved.").wait_for()
    assert note.read_bytes() == b"one\r\ntwo\r\nthree"

    page.get_by_role("button", name="Undo", exact=True).click()
    page.locator(".cm-content", has_text="three").wait_for(state="detached")
    assert note.read_bytes() == b"one\r\ntwo\r\n"


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(b"one\ntwo\r\nthree", id="mixed line ends"),
        pytest.param(b"one\rtwo\n", id="a lone carriage return"),
        pytest.param(b"no newline at the end", id="no last newline"),
    ],
)
def test_lines_that_are_not_edited_keep_their_bytes(page, site: Site, before: bytes):
    note = site.vault / "Bytes.md"
    note.write_bytes(before)
    edit(page, "Bytes.md")

    type_at_end(page, "!")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved.").wait_for()

    assert note.read_bytes() == before + b"!"


def test_a_file_that_changed_on_disk_is_never_overwritten(page, site: Site):
    note = site.vault / "Shared.md"
    note.write_text("# Shared\n\nfirst\n\nlast\n")
    edit(page, "Shared.md")
    page.locator(".cm-content", has_text="last").wait_for()
    note.write_text("# Shared\n\nfirst, theirs\n\nlast\n")

    type_at_end(page, "mine\n")
    page.keyboard.press("Control+s")
    page.get_by_text("changed on disk").wait_for()
    assert note.read_text() == "# Shared\n\nfirst, theirs\n\nlast\n"

    page.get_by_role("button", name="Compare and merge").click()
    page.locator(".cm-deletedChunk").first.wait_for()
    # Take theirs where they changed the line, keep mine at the end.
    page.locator(".cm-deletedChunk", has_text="theirs").get_by_role("button", name="Reject").click()
    page.get_by_role("button", name="Save the result").click()
    page.get_by_text("Saved.").wait_for()
    assert note.read_text() == "# Shared\n\nfirst, theirs\n\nlast\nmine\n"


def test_typed_text_outlives_a_reload(page, site: Site):
    (site.vault / "Kept.md").write_text("kept\n")
    edit(page, "Kept.md")
    type_at_end(page, "not saved yet")
    page.wait_for_function("() => localStorage.getItem('sill.unsaved.Kept.md') !== null")
    page.reload()

    page.locator(".cm-content", has_text="not saved yet").wait_for()
    assert (site.vault / "Kept.md").read_text() == "kept\n"


def test_backlinks_outline_and_broken_links(page):
    edit(page, "Garden/Wishlist.md")
    page.get_by_role("button", name="Broken links 1").click()
    page.get_by_role("button", name="Bee hotel").wait_for()
    page.locator(".cm-broken", has_text="Bee hotel").wait_for()

    edit(page, "Garden/Soil.md")
    page.get_by_role("button", name="Outline 5").click()
    page.get_by_role("button", name="Acidity").click()
    page.locator(".cm-cited", has_text="## Acidity").wait_for()
    page.get_by_role("button", name="Backlinks").click()
    page.get_by_role("button", name="Bread oven").click()
    page.locator(".cm-cited", has_text="[[Soil#Under the topsoil]]").wait_for()


def test_a_completion_is_shown_in_grey_and_taken_with_tab(page, site: Site, model: ScriptedServer):
    (site.vault / "Ghost.md").write_text("The quick brown fox")
    model.says("quick brown fox", " jumps over the dog")
    edit(page, "Ghost.md")
    # Only a model of this machine completes unasked, and which one it is may not be known yet.
    page.locator("input:checked").and_(page.get_by_label("complete as I type")).wait_for()

    type_at_end(page, " and")
    page.locator(".cm-ghost").wait_for()
    offered = page.locator(".cm-ghost").text_content()
    page.keyboard.press("Tab")

    assert page.locator(".cm-line").first.text_content() == f"The quick brown fox and{offered}"


def test_a_selection_is_changed_on_request_and_only_if_wanted(
    page, site: Site, model: ScriptedServer
):
    (site.vault / "Select.md").write_text("a very long sentence indeed\n")
    model.says("Make it short", "short")
    edit(page, "Select.md")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.get_by_label("How to change the selection").fill("Make it short")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Use it").click()

    page.locator(".cm-line", has_text="short").first.wait_for()
    assert page.locator(".cm-content").inner_text().strip() == "short"


def test_images_of_the_vault_are_shown_in_a_preview(browser, site: Site):
    (site.vault / "Pictures.md").write_text("![chart](Weather/images/temperatures%202025.png)\n")
    with opened_page(browser, site) as page:
        edit(page, "Pictures.md")
        page.get_by_role("button", name="Preview").click()
        picture = page.get_by_role("img", name="chart")
        picture.wait_for()

        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth > 0)")
