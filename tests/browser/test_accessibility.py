"""axe-core finds nothing serious in any view, in either theme; and narrow screens do not overflow."""

from pathlib import Path

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


def prepare(page, site: Site, model: ScriptedServer, name: str) -> None:
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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_view_has_a_serious_violation(browser, site: Site, model: ScriptedServer, theme: str):
    name = f"Axe{theme}"
    prepare(None, site, model, name)
    # The page's content policy stays as it is; only the checker is let in beside it.
    with opened_page(browser, site, color_scheme=theme) as page:
        page.context.add_init_script(Path(AXE).read_text())
        page.reload()
        found: dict[str, list[str]] = {}
        page.get_by_role("heading", name="Ask about this folder").wait_for()
        found["first view"] = serious(page)

        ask_and_wait(page, f"All kinds of {name} [[Soil]] [[Missing note]]")
        page.keyboard.press("Alt+w")
        page.get_by_test_id("group-total").wait_for()
        found["answer and window"] = serious(page)

        page.goto(f"{page.url}&doc={name}.md".replace("side=window", "side=document"))
        page.locator(".cm-content").wait_for()
        found["document"] = serious(page)
        page.get_by_role("button", name="Preview").click()
        found["preview"] = serious(page)

        page.get_by_label("Message", exact=True).fill(f"/edit Renew {name} [[{name}]]")
        page.keyboard.press("Enter")
        page.locator(".hunk").wait_for()
        found["proposal"] = serious(page)
        page.get_by_role("button", name="Side by side").click()
        found["proposal side by side"] = serious(page)
        page.get_by_role("button", name="All changes").click()
        found["changes"] = serious(page)

        page.get_by_role("tab", name="Files").click()
        found["files"] = serious(page)
        page.keyboard.press("Control+k")
        page.keyboard.type("soil")
        page.locator("#hits [role=option]").first.wait_for()
        found["search"] = serious(page)
        page.keyboard.press("Escape")
        page.get_by_label("Message", exact=True).fill("")
        page.get_by_label("Message", exact=True).press_sequentially("[[so")
        page.locator("#choices").wait_for()
        found["completion"] = serious(page)
        page.get_by_label("Message", exact=True).fill("")

        for topic in OVERVIEW:
            page.goto(f"{site.url}/#view=overview&topic={topic}")
            page.locator(f"#topic[aria-labelledby='topic-{topic}']").wait_for()
            page.wait_for_function("() => !document.querySelector('#topic [role=status]')")
            found[topic] = serious(page)
        page.get_by_role("tab", name="Settings").focus()
        page.keyboard.press("?")
        page.get_by_role("dialog").wait_for()
        found["keys"] = serious(page)

    assert {view: list_ for view, list_ in found.items() if list_} == {}


@pytest.mark.parametrize("width", [360, 760, 1100, 3840])
def test_no_width_overflows(browser, site: Site, width: int):
    with opened_page(browser, site, viewport={"width": width, "height": 800}) as page:
        wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        over = {"start": page.evaluate(wide)}
        for side in ("window", "document", "changes"):
            page.goto(f"{site.url}/#side={side}&doc=Garden/Soil.md")
            page.locator("#right-pane").wait_for()
            page.wait_for_timeout(300)
            over[side] = page.evaluate(wide)
        for topic in OVERVIEW:
            page.goto(f"{site.url}/#view=overview&topic={topic}")
            page.wait_for_timeout(150)
            over[topic] = page.evaluate(wide)

    assert over == dict.fromkeys(over, 0)


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
