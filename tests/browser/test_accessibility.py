"""axe-core finds nothing serious in any view, in either theme; and narrow screens do not overflow."""

from pathlib import Path
from typing import Any

import pytest

from .acts import ask_and_wait
from .conftest import ROOT, opened_page
from .model import ScriptedServer
from .site import Site

pytestmark = pytest.mark.slow

AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
OVERVIEW = ("cost", "documents", "graph", "index", "memory", "settings")


def serious(page) -> list[str]:
    """What axe calls serious or critical: the rule and where. It runs beside the page's own scripts."""
    found = page.evaluate(
        "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
    )
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def prepare(site: Site, model: ScriptedServer, name: str) -> None:
    (site.vault / f"{name}.md").write_text(
        "# Axe\n\nold text\n\nSee [[Soil]] and [[No such note]].\n" + "\nmore\n" * 60
    )
    replace = {
        "op": "replace",
        "target_file": f"{name}.md",
        "target": "anchor",
        "anchor": "old",
        "content": "new",
    }
    model.proposes(f"Renew {name}", "Renewed.", replace)
    model.says(
        f"All kinds of {name}",
        "# Title\n\nA [[Soil]], a [[Nowhere]], `code`, a [link](https://example.org/).\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n"
        "```python\ndef f(x):  # why\n    return 'text' + 1\n```\n\n> said\n",
    )


class Checked:
    """What is wrong with each view that was looked at, in both themes."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.views: list[str] = []
        self.wrong: dict[str, list[str]] = {}

    def look(self, view: str) -> None:
        self.views.append(view)
        for theme in ("dark", "light"):
            self.page.emulate_media(color_scheme=theme)
            if found := serious(self.page):
                self.wrong[f"{view}, {theme}"] = found


def test_no_view_has_a_serious_violation_in_either_theme(
    browser, site: Site, model: ScriptedServer
):
    name = "Axe"
    prepare(site, model, name)
    # The page's content policy stays as it is; only the checker is let in beside it.
    with opened_page(browser, site) as page:
        page.context.add_init_script(Path(AXE).read_text())
        page.reload()
        checked = Checked(page)
        page.get_by_role("heading", name="Ask about this folder").wait_for()
        checked.look("first view")

        ask_and_wait(page, f"All kinds of {name} [[Soil]] [[Missing note]]")
        page.keyboard.press("Alt+w")
        page.get_by_test_id("group-total").wait_for()
        checked.look("answer and window")

        page.goto(f"{page.url}&doc={name}.md".replace("side=window", "side=document"))
        page.locator(".cm-content").wait_for()
        checked.look("document")
        page.get_by_role("button", name="Preview").click()
        checked.look("preview")

        page.get_by_label("Message", exact=True).fill(f"/edit Renew {name} [[{name}]]")
        page.keyboard.press("Enter")
        page.locator(".hunk").wait_for()
        checked.look("proposal")
        page.get_by_role("button", name="Side by side").click()
        checked.look("proposal side by side")
        note = site.vault / f"{name}.md"
        note.write_text(note.read_text().replace("old text", "older text"))
        page.get_by_role("button", name="Apply", exact=True).click()
        page.get_by_role("radio", name="By hand").check()
        page.get_by_text("All decided.").wait_for()
        checked.look("merge")
        page.get_by_role("button", name="All changes").click()
        checked.look("changes")

        page.get_by_role("tab", name="Files").click()
        checked.look("files")
        page.keyboard.press("Control+k")
        page.keyboard.type("soil")
        page.locator("#hits [role=option]").first.wait_for()
        checked.look("search")
        page.keyboard.press("Escape")
        page.get_by_label("Message", exact=True).fill("")
        page.get_by_label("Message", exact=True).press_sequentially("[[so")
        page.locator("#choices").wait_for()
        checked.look("completion")
        page.get_by_label("Message", exact=True).fill("")

        for topic in OVERVIEW:
            show_topic(page, site, topic)
            checked.look(topic)
        page.get_by_role("tab", name="Settings").focus()
        page.keyboard.press("?")
        page.get_by_role("dialog").wait_for()
        checked.look("keys")
        page.keyboard.press("Escape")
        page.goto(f"{site.url}/#chat=none&doc=None.md")
        page.get_by_role("button", name="Begin a new chat").wait_for()
        checked.look("errors")

    assert checked.wrong == {}
    assert len(checked.views) == 19


def show_topic(page: Any, site: Site, topic: str) -> None:
    page.goto(f"{site.url}/#view=overview&topic={topic}")
    page.locator(f"#topic[aria-labelledby='topic-{topic}']").wait_for()
    page.wait_for_function("() => !document.querySelector('#topic [role=status]')")


SIDES = {
    "side=window": "[data-testid=group-total]",
    "doc=Garden/Soil.md": ".cm-content",
    "side=changes": ".changes h2",
}


def test_no_width_overflows(browser, site: Site):
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    over: dict[tuple[int, str], int] = {}
    with opened_page(browser, site) as page:
        for width in (360, 760, 1100, 3840):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(f"{site.url}/?{width}")
            page.get_by_role("heading", name="Ask about this folder").wait_for()
            over[width, "start"] = page.evaluate(wide)
            for side, there in SIDES.items():
                page.goto(f"{site.url}/?{width}#{side}")
                page.locator(there).first.wait_for()
                over[width, side] = page.evaluate(wide)
            for topic in OVERVIEW:
                page.goto(f"{site.url}/?{width}#view=overview&topic={topic}")
                page.locator(f"#topic[aria-labelledby='topic-{topic}']").wait_for()
                page.wait_for_function("() => !document.querySelector('#topic [role=status]')")
                over[width, topic] = page.evaluate(wide)

    assert len(over) == 40
    assert {where: by for where, by in over.items() if by} == {}


def test_reduced_motion_is_respected(browser, site: Site, model: ScriptedServer):
    gate = model.holds("sit still", "Still ", "sitting.")
    with opened_page(browser, site, reduced_motion="reduce") as page:
        page.get_by_label("Message", exact=True).fill("Please sit still")
        page.keyboard.press("Enter")
        page.locator(".pulse").wait_for()

        assert (
            page.locator(".pulse").evaluate("dot => getComputedStyle(dot).animationName") == "none"
        )
        gate.set()
