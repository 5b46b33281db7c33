"""Answers of the server that come late or in another order: nothing typed is lost, and nothing old is shown."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from .acts import answered, ask, ask_and_wait
from .model import ScriptedServer
from .site import Site
from .test_changes import propose
from .test_documents import edit, type_at_end
from .test_window import shown

pytestmark = pytest.mark.slow

API = "**/api/v1"


class Late:
    """The server has done what it was asked for; its answer is on the way until ``arrives``."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._held: list[tuple[Any, Any]] = []

    def hold(self, route: Any) -> None:
        self._held.append((route, route.fetch()))

    def is_on_its_way(self) -> None:
        for _ in range(1200):
            if self._held:
                return
            self._page.wait_for_timeout(50)
        raise AssertionError("it was never asked for")

    def arrives(self) -> None:
        self.is_on_its_way()
        for route, answer in self._held:
            with suppress(Exception):  # who asked may not want it any more
                route.fulfill(response=answer)
        self._held.clear()
        self._page.wait_for_timeout(200)


@contextmanager
def late(page: Any, path: str, method: str = "GET") -> Iterator[Late]:
    """The first answer of this route is late."""
    found = Late(page)
    asked: list[Any] = []

    def take(route: Any) -> None:
        if route.request.method != method or asked:
            route.fallback()
            return
        asked.append(route)
        found.hold(route)

    page.route(f"{API}{path}", take)
    yield found


def message(page: Any) -> Any:
    return page.get_by_label("Message", exact=True)


def chat_of(page: Any) -> str:
    return page.evaluate("() => new URLSearchParams(location.hash.slice(1)).get('chat')")


def test_what_is_typed_while_a_question_is_on_its_way_stays(page, model: ScriptedServer):
    model.says("on its way", "Arrived.")
    with late(page, "/turns", "POST") as asked:
        ask(page, "This one is on its way")
        asked.is_on_its_way()
        message(page).fill("and the next thought")
        asked.arrives()
        answered(page)

    assert message(page).input_value() == "and the next thought"
    page.reload()
    page.wait_for_function(
        "() => document.getElementById('composer')?.value === 'and the next thought'"
    )


def test_what_is_typed_while_a_change_is_made_stays_and_belongs_to_its_chat(
    page, site: Site, model: ScriptedServer
):
    with late(page, "/proposals", "POST") as made:
        (site.vault / "Meanwhile.md").write_text("milk\n")
        replace = {"op": "replace", "target_file": "Meanwhile.md", "target": "anchor"}
        model.proposes("Meanwhile", "Better.", {**replace, "anchor": "milk", "content": "oats"})
        ask(page, "/edit Change [[Meanwhile]]")
        made.is_on_its_way()
        message(page).fill("and the next thought")
        made.arrives()
        page.locator(".hunk").wait_for()

    assert message(page).input_value() == "and the next thought"
    with page.expect_request(f"{API}/plan") as planned:
        message(page).fill("and one more")
    assert planned.value.post_data_json["chat"] == chat_of(page) is not None
    page.reload()
    page.wait_for_function("() => document.getElementById('composer')?.value === 'and one more'")


def test_after_a_change_in_a_new_chat_its_command_is_gone(page, site: Site, model: ScriptedServer):
    propose(page, site, model, "Commanded")
    page.wait_for_function("() => document.getElementById('composer')?.value === ''")
    page.keyboard.press("Alt+n")
    page.get_by_role("heading", name="Ask about this folder").wait_for()

    assert message(page).input_value() == ""


def test_a_document_that_is_opened_twice_at_once_has_one_editor(page, site: Site):
    (site.vault / "Twice.md").write_text("twice\n")
    (site.vault / "Between.md").write_text("between\n")
    with late(page, "/files/Twice.md") as first:
        page.goto(f"{site.url}/#doc=Twice.md")
        first.is_on_its_way()
        edit(page, "Between.md")
        page.locator(".cm-content", has_text="between").wait_for()
        edit(page, "Twice.md")
        page.locator(".cm-content", has_text="twice").wait_for()
        type_at_end(page, "typed")
        first.arrives()

    assert page.locator(".cm-content").all_inner_texts() == ["twice\ntyped"]


def test_another_document_can_be_opened_while_one_is_saved(page, site: Site):
    note = site.vault / "Slowly.md"
    note.write_text("slowly\n")
    (site.vault / "Other.md").write_text("other\n")
    edit(page, "Slowly.md")
    page.locator(".cm-content", has_text="slowly").wait_for()
    type_at_end(page, "saved")
    with late(page, "/files/Slowly.md", "PUT") as saving:
        page.keyboard.press("Control+s")
        saving.is_on_its_way()
        edit(page, "Other.md")
        page.locator(".cm-content", has_text="other").wait_for()
        saving.arrives()
        page.get_by_text("Slowly was saved.").wait_for()

    assert note.read_text() == "slowly\nsaved"
    assert [text.strip() for text in page.locator(".cm-content").all_inner_texts()] == ["other"]
    assert page.get_by_role("button", name="Save").is_disabled()
    assert page.evaluate("() => localStorage.getItem('sill.unsaved.Slowly.md')") is None


def test_the_ledger_is_that_of_the_turn_that_was_chosen_last(
    page, site: Site, model: ScriptedServer
):
    model.says("ledger", "Told.")
    ask_and_wait(page, "A first ledger")
    ask_and_wait(page, "A second ledger, [[Frost]]")
    stored = site.get(f"/chats/{chat_of(page)}/turns")["turns"]
    wanted = site.get(f"/turns/{stored[1]['id']}")["plan"]["tokens"]
    with late(page, f"/turns/{stored[0]['id']}") as first:
        page.locator("article .facts").first.click()
        first.is_on_its_way()
        page.locator("article .facts").nth(1).click()
        page.locator("table.items a", has_text="Weather/Frost.md").wait_for()
        first.arrives()

    assert shown(page, "prompt-tokens") == wanted
