"""Pictures of each main view for the documentation: made where one is missing, or all with ``SCREENSHOTS=1``."""

import os
from pathlib import Path

import pytest

from .acts import ask_and_wait
from .conftest import ROOT, opened_page
from .model import ScriptedServer
from .site import Site

pytestmark = pytest.mark.slow

IMAGES = ROOT / "docs" / "images"
ANSWER = """Lime goes on **in autumn or early spring**, and never together with manure, says [[Soil]].

| Date | pH of bed 5 | Done |
|---|--:|---|
| 24 February 2024 | 5.9 | 200 g of limestone a square metre |
| 1 March 2025 | 6.5 | nothing |

The potato bed is left alone ([[Rotation]]). To see the trend:

```python
readings = {2024: 5.9, 2025: 6.5}
print(max(readings.values()) - min(readings.values()))  # 0.6
```
"""


def kept(page, name: str, folder: Path) -> None:
    """The picture, in ``folder`` always, and in the documentation where it is wanted."""
    page.mouse.move(0, 0)
    page.wait_for_timeout(250)
    picture = folder / f"{name}.png"
    page.screenshot(path=picture)
    assert picture.stat().st_size > 10_000
    if os.environ.get("SCREENSHOTS") or not (IMAGES / picture.name).exists():
        IMAGES.mkdir(parents=True, exist_ok=True)
        (IMAGES / picture.name).write_bytes(picture.read_bytes())


@pytest.fixture(scope="module")
def garden(built_page, tmp_path_factory: pytest.TempPathFactory):
    """A folder and chats that only the pictures see."""
    with ScriptedServer() as model:
        model.says("about lime", ANSWER)
        model.says("rest of the year", "Compost 3 cm deep every autumn, laid on top ([[Compost]]).")
        model.proposes(
            "make it shorter",
            "Two sentences are shorter; nothing is left out.",
            shorter("small, then pushed to the middle, then fed.", "then in the middle."),
            shorter("Bread first, talk later.", "Bread first."),
        )
        variables = {"SILL_TOKENIZER": "o200k_base", "SILL_PROBE": "false", "OPENAI_API_KEY": "k"}
        more = ("--window", "16384")
        site = Site(tmp_path_factory.mktemp("shots"), model.url, "scripted", more, variables)
        site.start()
        yield site
        site.stop()


def shorter(anchor: str, content: str) -> dict[str, str]:
    target = {"target_file": "Oven/Firing.md", "target": "anchor"}
    return {"op": "replace", **target, "anchor": anchor, "content": content}


def test_pictures_of_every_main_view(browser, garden: Site, tmp_path: Path):
    with opened_page(browser, garden, viewport={"width": 1360, "height": 850}) as page:
        page.get_by_text("What does [[Soil]] say").wait_for()
        kept(page, "first-run", tmp_path)

        ask_and_wait(page, "What do my notes say about lime? [[Soil]]")
        ask_and_wait(page, "And the rest of the year? [[Compost]]")
        page.keyboard.press("Alt+w")
        page.get_by_label("Message", exact=True).fill("Compare that with [[Rotation]]")
        page.locator("table.items a", has_text="Garden/Rotation.md").wait_for()
        page.get_by_role("log").evaluate("list => list.scrollTop = 0")
        kept(page, "window", tmp_path)
        page.get_by_label("Message", exact=True).fill("")

        page.locator(".references .chip").first.click()
        page.locator(".cm-content").wait_for()
        page.get_by_role("button", name="Backlinks").click()
        kept(page, "document", tmp_path)

        page.keyboard.press("Control+k")
        page.keyboard.type("clay")
        page.get_by_text("In the text").wait_for()
        kept(page, "search", tmp_path)
        page.keyboard.press("Escape")

        page.get_by_label("Message", exact=True).fill("/edit make it shorter [[Firing]]")
        page.keyboard.press("Enter")
        page.locator(".hunk").first.wait_for()
        kept(page, "changes", tmp_path)

        for topic in ("cost", "graph"):
            page.goto(f"{garden.url}/#view=overview&topic={topic}")
            page.wait_for_function("() => !document.querySelector('#topic [role=status]')")
            kept(page, topic, tmp_path)


@pytest.mark.parametrize(
    "name, options",
    [
        pytest.param(
            "dark", {"color_scheme": "dark", "viewport": {"width": 1360, "height": 850}}, id="dark"
        ),
        pytest.param("narrow", {"viewport": {"width": 360, "height": 740}}, id="narrow"),
    ],
)
def test_pictures_of_other_screens(browser, garden: Site, tmp_path: Path, name: str, options):
    chat = garden.get("/chats")["chats"][-1]["id"]
    with opened_page(browser, garden, **options) as page:
        page.goto(f"{garden.url}/#chat={chat}" + ("&side=window" if name == "dark" else ""))
        page.locator("article").last.wait_for()
        kept(page, name, tmp_path)
