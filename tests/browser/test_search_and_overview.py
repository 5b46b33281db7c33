"""Search everywhere, and the views of the overview: what they show is what the server knows."""

import pytest

from .acts import ask_and_wait
from .model import ScriptedServer
from .site import Site

pytestmark = pytest.mark.slow


def test_search_finds_names_passages_and_chats(page, model: ScriptedServer):
    model.says("the zeppelin", "It flew on Tuesday.")
    ask_and_wait(page, "What of the zeppelin?")

    page.keyboard.press("Control+k")
    page.keyboard.type("zeppelin")
    page.get_by_role("option").filter(has_text="zeppelin").first.wait_for()
    assert page.locator("#hits .group").all_text_contents()[-1] == "In chats"

    page.get_by_role("combobox").fill("Compost")
    page.get_by_text("In the text").wait_for()
    assert page.locator("#hits .group").all_text_contents()[:2] == ["Names", "In the text"]
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Compost").wait_for()


def test_search_opens_a_passage_at_its_lines(page):
    page.keyboard.press("Control+k")
    page.keyboard.type("ground limestone a square metre")
    hit = page.locator("#hits [role=option]").filter(has_text="Acidity").first
    hit.click()

    page.locator(".cm-cited", has_text="limestone").first.wait_for()


def test_costs_add_up_to_what_the_server_says(page, site: Site, model: ScriptedServer):
    ask_and_wait(page, "Anything at all")
    page.keyboard.press("Alt+o")
    total = site.get("/cost", since=0)["total"]
    page.get_by_role("heading", name="By model").wait_for()

    sums = dict(
        zip(
            page.locator(".sums dt").all_inner_texts(),
            page.locator(".sums dd").all_inner_texts(),
            strict=True,
        )
    )
    assert sums["Calls"] == f"{total['calls']:,}"
    assert sums["Answer tokens"] == f"{total['completion']:,}"


def test_the_graph_is_filtered_and_opens_notes(page, site: Site):
    graph = site.get("/graph", limit=250)
    page.goto(f"{site.url}/#view=overview&topic=graph")
    page.locator("svg circle").first.wait_for()
    assert page.locator("svg circle").count() == len(graph["nodes"])
    assert page.locator("svg line").count() == len(graph["edges"])

    page.get_by_label("Filter the graph").fill("Recipes/")
    faint = page.locator("svg g.faint").count()
    assert faint == sum("recipes/" not in node["path"].lower() for node in graph["nodes"])

    page.get_by_text("As a list").click()
    page.get_by_role("button", name="Oven/Recipes/Flatbread.md").click()
    page.get_by_role("heading", name="Flatbread").wait_for()


@pytest.mark.parametrize(
    "topic, shown",
    [
        pytest.param("documents", "Most used in chats", id="documents"),
        pytest.param("index", "Passages", id="index"),
        pytest.param("settings", "base_url", id="settings"),
    ],
)
def test_each_view_shows_what_it_is_for(page, site: Site, topic: str, shown: str):
    page.goto(f"{site.url}/#view=overview&topic={topic}")

    page.get_by_text(shown, exact=True).first.wait_for()


def test_settings_show_no_secret(page, site: Site):
    page.goto(f"{site.url}/#view=overview&topic=settings")
    page.get_by_text("base_url", exact=True).wait_for()
    row = page.locator("tr", has=page.get_by_text("api_key", exact=True)).first

    assert row.locator("td").nth(1).inner_text() == "(set)"


def test_a_fact_is_remembered_and_forgotten(page, site: Site):
    page.goto(f"{site.url}/#view=overview&topic=memory")
    page.get_by_label("Something to remember").fill("The cat is called Ophelia")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Forget: The cat is called Ophelia").click()
    page.get_by_text("Nothing yet.").wait_for()

    assert site.get("/memory")["notes"] == []


def test_chats_are_renamed_archived_and_deleted(page, site: Site):
    ask_and_wait(page, "A chat to be renamed")
    page.get_by_role("button", name="More about “A chat to be renamed”").click()
    page.get_by_role("textbox", name="Title").fill("Renamed by hand")
    page.keyboard.press("Enter")
    page.locator("aside .title", has_text="Renamed by hand").wait_for()

    page.get_by_role("button", name="More about “Renamed by hand”").click()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete for good").click()
    page.locator("aside .title", has_text="Renamed by hand").wait_for(state="detached")
    assert "Renamed by hand" not in [chat["title"] for chat in site.get("/chats")["chats"]]
