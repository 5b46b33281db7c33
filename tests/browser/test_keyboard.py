"""Everything by keyboard: ask, read, open the source, change it, decide, look at the window, search."""

import pytest

from .acts import answered
from .model import ScriptedServer
from .site import Site

pytestmark = pytest.mark.slow

TEXT = "# Keys\n\nred\n"


def press_until(page, key: str, reached: str) -> None:
    """Press a key until the focus is on something that matches."""
    for _ in range(80):
        if page.evaluate("sought => document.activeElement?.matches(sought) ?? false", reached):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} never led to {reached}")


def test_the_whole_way_without_a_mouse(page, site: Site, model: ScriptedServer):
    (site.vault / "Keys.md").write_text(TEXT)
    replace = {
        "op": "replace",
        "target_file": "Keys.md",
        "target": "anchor",
        "anchor": "red",
        "content": "blue",
    }
    model.says("Which colour", "It is red, says [[Keys]].")
    model.proposes("Make it blue", "Blue now.", replace)
    page.reload()
    page.get_by_role("heading", name="Ask about this folder").wait_for()
    page.wait_for_function("() => document.querySelector('.fit .number') !== null")

    page.keyboard.press("/")
    page.keyboard.type("Which colour? [[Key")
    page.get_by_role("option", name="Keys", selected=True).wait_for()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    turn = answered(page)

    press_until(page, "Shift+Tab", ".references .chip")
    page.keyboard.press("Enter")
    page.locator(".cm-content", has_text="red").wait_for()

    page.keyboard.press("Alt+2")
    page.wait_for_function("() => document.activeElement?.id === 'composer'")
    page.keyboard.type("/edit Make it blue [[Keys]]")
    page.keyboard.press("Enter")
    page.locator(".hunk").wait_for()
    page.keyboard.press("Alt+3")
    page.wait_for_function(
        "() => document.getElementById('right-pane').contains(document.activeElement)"
    )
    press_until(page, "Tab", ".decide .button.primary")
    page.keyboard.press("Enter")
    page.get_by_text("Applied to 1 file.").wait_for()
    assert (site.vault / "Keys.md").read_text() == TEXT.replace("red", "blue")

    page.keyboard.press("Alt+w")
    page.get_by_test_id("group-total").wait_for()
    page.keyboard.press("Control+k")
    page.keyboard.type("Keys")
    page.locator("#hits [role=option]").first.wait_for()
    page.keyboard.press("Enter")
    page.locator(".cm-content", has_text="blue").wait_for()

    page.keyboard.press("Alt+1")
    page.keyboard.press("Alt+n")
    page.get_by_role("heading", name="Ask about this folder").wait_for()
    page.keyboard.press("Alt+ArrowDown")
    page.get_by_role("article").first.wait_for()
    page.keyboard.press("Alt+3")
    page.wait_for_function(
        "() => document.getElementById('right-pane').contains(document.activeElement)"
    )
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard shortcuts").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    assert turn is not None


def test_no_letter_is_lost_after_the_key_that_leads_to_the_message(page):
    page.locator(".fit .number").first.wait_for()
    for _ in range(5):
        page.evaluate("() => document.activeElement?.blur()")
        page.keyboard.press("/")
        page.keyboard.type("every letter")
        assert page.get_by_label("Message", exact=True).input_value() == "every letter"
        page.get_by_label("Message", exact=True).fill("")


def test_the_file_tree_and_the_dividers_move_by_arrow_keys(page):
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("treeitem", name="Garden").wait_for()
    page.get_by_role("tree").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_role("treeitem", name="Soil").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".cm-content").wait_for()

    left = page.get_by_role("separator", name="Width of the left pane")
    before = int(left.get_attribute("aria-valuenow"))
    left.focus()
    page.keyboard.press("ArrowRight")
    assert int(left.get_attribute("aria-valuenow")) == before + 16
