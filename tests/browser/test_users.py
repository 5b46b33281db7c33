"""A server that several people share: each is offered what they may do, and the rest is not there or says why."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from .acts import answer_of, ask_and_wait
from .conftest import ROOT, pictured
from .model import ScriptedServer
from .shared import SharedSite, log_in

pytestmark = pytest.mark.slow

PEOPLE = {"ann": "contributor", "vic": "viewer", "adm": "admin"}
AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def house(
    built_page, model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedSite]:
    variables = {"SILL_TOKENIZER": "o200k_base", "SILL_PROBE": "false", "OPENAI_API_KEY": "k"}
    place = tmp_path_factory.mktemp("house")
    site = SharedSite(place, model.url, "scripted", ("--window", "16384"), variables)
    yield site.open_for(PEOPLE)
    site.stop()


KNOWN: dict[str, Any] = {}  # cookies by name: only so many may log in within a minute


@contextmanager
def visit(browser: Any, house: SharedSite, name: str, *, anew: bool = False) -> Iterator[Any]:
    """The page as ``name`` sees it. Nothing they do may be answered with a refusal."""
    known = None if anew else KNOWN.get(name)
    context = browser.new_context(
        storage_state=known, ignore_https_errors=True, viewport={"width": 1280, "height": 800}
    )
    refused: list[str] = []
    page = context.new_page()
    page.set_default_timeout(float(os.environ.get("PAGE_TIMEOUT", "60000")))
    page.on(
        "response",
        lambda answer: (
            refused.append(f"{answer.request.method} {answer.url}")
            if answer.status == 403
            else None
        ),
    )
    try:
        if known is None:
            log_in(page, house, name)
        else:
            page.goto(house.url)
            page.wait_for_selector("header h1")
        if not anew:
            KNOWN[name] = {"cookies": context.cookies(), "origins": []}
        with pictured(page):
            yield page
    finally:
        context.close()
    assert refused == []


def test_a_viewer_reads_and_is_offered_nothing_else(browser, house: SharedSite):
    with visit(browser, house, "vic") as page:
        page.get_by_role("heading", name="Read this folder").wait_for()
        page.get_by_text("Asking and changing need the role contributor").wait_for()
        found = {
            "message": page.get_by_label("Message", exact=True).count(),
            "new chat": page.get_by_role("button", name="New chat").count(),
            "examples": page.locator(".example").count(),
        }

        page.goto(f"{house.url}/#doc=Garden/Soil.md")
        page.locator(".cm-content", has_text="jam jar").wait_for()
        page.get_by_text("read only", exact=True).wait_for()
        page.locator(".cm-content").click()
        page.keyboard.type("written by a viewer")
        page.keyboard.press("Control+a")
        found["save"] = page.get_by_role("button", name="Save").count()
        found["suggest"] = page.get_by_label("How to change the selection").count()
        found["attach"] = page.get_by_role("button", name="Send it with the message").count()
        found["complete"] = page.get_by_label("complete as I type").count()
        assert "written by a viewer" not in page.locator(".cm-content").inner_text()

        page.keyboard.press("Alt+c")
        page.get_by_text("Nothing was applied yet.").wait_for()
        page.keyboard.press("Alt+w")
        page.get_by_text("asking needs the role contributor").wait_for()
        page.goto(f"{house.url}/#view=overview&topic=memory")
        page.get_by_text("Nothing yet.").wait_for()
        found["remember"] = page.get_by_role("button", name="Remember").count()
        found["settings"] = page.get_by_role("tab", name="Settings").count()
        page.goto(f"{house.url}/#view=overview&topic=settings")
        page.get_by_text("Settings are shown to admins").wait_for()

        page.keyboard.press("Control+k")
        page.keyboard.type("limestone")
        page.locator("#hits [role=option]").first.wait_for()

    assert found == dict.fromkeys(found, 0)


def test_a_contributor_asks_and_edits_and_sees_no_settings(
    browser, house: SharedSite, model: ScriptedServer
):
    model.says("as a contributor", "You may.")
    with visit(browser, house, "ann") as page:
        page.get_by_role("heading", name="Ask about this folder").wait_for()
        page.locator(".fit .number").first.wait_for()
        assert answer_of(ask_and_wait(page, "May I ask as a contributor?")) == "You may."

        (house.vault / "Ann.md").write_text("hers\n")
        page.goto(f"{house.url}/#doc=Ann.md")
        page.locator(".cm-content", has_text="hers").click()
        page.keyboard.press("Control+End")
        page.keyboard.type("too")
        page.keyboard.press("Control+s")
        page.get_by_text("Saved.").wait_for()
        assert (house.vault / "Ann.md").read_text() == "hers\ntoo"

        page.goto(f"{house.url}/#view=overview&topic=cost")
        page.get_by_role("tab", name="Memory").wait_for()
        assert page.get_by_role("tab", name="Settings").count() == 0


def test_an_admin_sees_settings_and_nobody_elses_chats(browser, house: SharedSite):
    with visit(browser, house, "adm") as page:
        page.get_by_text("No chats yet.").wait_for()
        page.goto(f"{house.url}/#view=overview&topic=settings")
        page.get_by_text("base_url", exact=True).first.wait_for()


def test_who_logs_out_is_out_and_a_wrong_password_says_so(browser, house: SharedSite):
    with visit(browser, house, "vic", anew=True) as page:
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Password").wait_for()
        page.goto(house.url)
        page.get_by_label("Name").fill("vic")
        page.get_by_label("Password").fill("something else")
        page.get_by_role("button", name="Log in").click()

        page.get_by_role("alert").get_by_text("do not go together").wait_for()


def test_a_session_that_was_ended_elsewhere_leads_back_to_the_form(browser, house: SharedSite):
    with visit(browser, house, "adm") as page:
        page.get_by_label("Message", exact=True).fill("half a thought")
        page.wait_for_function("() => localStorage.getItem('sill.draft.new') === 'half a thought'")
        page.context.clear_cookies()
        # Whatever is asked for next is refused; that may have been something of the page's own already.
        page.evaluate("() => dispatchEvent(new Event('sill:moved'))")
        page.get_by_role("link", name="Log in again").click()
        page.get_by_label("Password").wait_for()

        assert page.evaluate("() => localStorage.getItem('sill.draft.new')") == "half a thought"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_form_and_a_viewers_page_have_no_serious_violation(
    browser, house: SharedSite, theme: str
):
    from .test_accessibility import serious

    with visit(browser, house, "vic") as page:
        page.emulate_media(color_scheme=theme)
        page.context.add_init_script(AXE.read_text())
        page.goto(f"{house.url}/?again#doc=Garden/Soil.md")
        page.get_by_text("read only", exact=True).wait_for()
        viewer = serious(page)
        page.goto(f"{house.url}/login")
        page.get_by_label("Password").wait_for()

        assert (viewer, serious(page)) == ([], [])
