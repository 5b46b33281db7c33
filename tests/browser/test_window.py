"""The meter and the ledger: every number on the screen is the server's, and they add up."""

import pytest

from .acts import answered, ask, ask_and_wait, number
from .conftest import opened_page
from .site import Site

pytestmark = pytest.mark.slow


def shown(page, test_id: str) -> int:
    return number(page.get_by_test_id(test_id).first.inner_text())


def groups(page) -> dict[str, int]:
    cells = page.locator("td[data-group]")
    return {cell.get_attribute("data-group"): number(cell.inner_text()) for cell in cells.all()}


def items(page) -> list[int]:
    return [
        int(cell.get_attribute("data-item-tokens"))
        for cell in page.locator("[data-item-tokens]").all()
    ]


def test_the_numbers_of_a_real_turn_add_up_and_are_the_servers(real_page, real_site: Site):
    page = real_page
    turn = ask_and_wait(page, "What about [[Compost]]?")
    assert turn.locator(".references .chip").first.inner_text().split()[:2] == ["1", "Compost"]
    turn.locator(".facts").click()
    page.get_by_test_id("group-total").wait_for()
    page.get_by_text("= predicted").wait_for()

    chat = page.evaluate("() => new URLSearchParams(location.hash.slice(1)).get('chat')")
    stored = real_site.get(f"/chats/{chat}/turns")["turns"][0]
    plan = real_site.get(f"/turns/{stored['id']}")["plan"]
    assert shown(page, "window-tokens") == shown(page, "group-total") == plan["window"]
    assert (
        shown(page, "prompt-tokens")
        == shown(page, "item-total")
        == sum(items(page))
        == plan["tokens"]
    )
    assert sum(groups(page).values()) == plan["window"]
    assert groups(page)["reserve"] == plan["reply"] + plan["margin"]
    assert stored["certificate"]["kind"] == "exact"
    assert stored["certificate"]["actual"] == stored["certificate"]["predicted"] == plan["tokens"]


def test_the_plan_of_the_next_message_follows_what_is_typed(real_page, real_site: Site):
    page = real_page
    page.keyboard.press("Alt+w")
    page.get_by_test_id("prompt-tokens").wait_for()
    empty = shown(page, "prompt-tokens")

    page.get_by_label("Message", exact=True).fill("Compare [[Soil]] and [[Compost]].")
    page.locator("table.items a", has_text="Garden/Soil.md").wait_for()

    asked = {"text": "Compare [[Soil]] and [[Compost]].", "chat": None, "files": []}
    planned = real_site.post("/plan", asked)
    assert shown(page, "prompt-tokens") == planned["plan"]["tokens"] == planned["needed"] > empty
    assert sum(items(page)) == planned["plan"]["tokens"]
    chips = page.locator(".chips .chip")
    costs = [number(text) for text in chips.locator(".cost").all_inner_texts()]
    assert costs == [file["tokens"] for file in planned["files"]]


def test_a_file_is_pinned_and_dropped_from_the_ledger_before_sending(page):
    page.keyboard.press("Alt+w")
    page.get_by_label("Message", exact=True).fill("Look at [[Rotation]]")
    page.get_by_role("button", name="Pin Garden/Rotation.md").click()
    page.get_by_label("Message", exact=True).fill("Look")
    page.get_by_role("button", name="Drop Garden/Rotation.md").wait_for()
    with_file = shown(page, "prompt-tokens")

    page.get_by_role("button", name="Drop Garden/Rotation.md").click()
    page.locator("table.items a", has_text="Garden/Rotation.md").wait_for(state="detached")

    assert shown(page, "prompt-tokens") < with_file
    page.get_by_label("Message", exact=True).fill("")


def test_a_pinned_file_is_the_chats_in_every_browser(browser, page, site: Site, model):
    model.says("to begin with", "Begun.")
    ask_and_wait(page, "Something to begin with")
    page.keyboard.press("Alt+w")
    page.get_by_label("Message", exact=True).fill("Look at [[Rotation]]")
    page.get_by_role("button", name="Pin Garden/Rotation.md").click()
    page.get_by_label("Message", exact=True).fill("Look")
    page.get_by_role("button", name="Drop Garden/Rotation.md").wait_for()
    chat = page.evaluate("() => new URLSearchParams(location.hash.slice(1)).get('chat')")
    assert site.get(f"/chats/{chat}/pins")["pins"] == [{"turn": None, "path": "Garden/Rotation.md"}]

    with opened_page(browser, site) as other:
        other.goto(f"{site.url}/#chat={chat}&side=window")
        other.get_by_role("button", name="Drop Garden/Rotation.md").click()
        other.locator("table.items a", has_text="Garden/Rotation.md").wait_for(state="detached")

    assert site.get(f"/chats/{chat}/pins")["pins"] == []


def test_files_of_a_new_chat_become_its_pins_and_one_that_is_gone_says_so(page, site: Site, model):
    note = site.vault / "Fleeting.md"
    note.write_text("# Fleeting\n\nhere today\n")
    model.says("of the fleeting", "Gone.")
    page.goto(f"{site.url}/#doc=Fleeting.md")
    page.get_by_role("button", name="Send it with the message").click()
    page.locator(".chips .cost").filter(has_text="+").wait_for()
    ask_and_wait(page, "Tell me of the fleeting")
    page.locator(".chips .cost").filter(has_text="in the window").wait_for()
    chat = page.evaluate("() => new URLSearchParams(location.hash.slice(1)).get('chat')")
    assert site.get(f"/chats/{chat}/pins")["pins"] == [{"turn": None, "path": "Fleeting.md"}]

    note.unlink()
    page.reload()
    page.locator(".chips .chip.broken", has_text="Fleeting").get_by_text("deleted").wait_for()


def test_the_meter_counts_the_answer_as_it_comes(page, model):
    gate = model.holds("count aloud", "One two three four five. " * 40, "Six.")
    ask(page, "Please count aloud")
    page.locator(".meter .answered").wait_for()
    page.keyboard.press("Alt+w")
    row = page.locator("td[data-group=answer]")
    row.wait_for()
    so_far = number(row.inner_text())
    window = shown(page, "window-tokens")
    assert so_far > 100
    assert sum(groups(page).values()) == window == shown(page, "group-total")

    gate.set()
    answered(page)
    row.wait_for(state="detached")


def test_a_second_turn_is_compared_with_the_first(page, model):
    model.says("tell me of frost", "Cold.")
    model.says("and again of frost", "Colder.")
    ask_and_wait(page, "Please tell me of frost, [[Frost]]")
    turn = ask_and_wait(page, "and again of frost, [[Frost]]")
    turn.locator(".facts").click()
    row = page.locator("table.items tr", has=page.get_by_role("link", name="Weather/Frost.md"))
    row.wait_for()

    assert row.locator("td").nth(2).inner_text() == "kept"
    assert row.locator("td").nth(3).inner_text() == "sent"


def test_a_server_that_drops_text_is_told_on(page, model):
    model.usage = {"prompt_tokens": 10, "completion_tokens": 2}
    turn = ask_and_wait(page, "How much of this did you read?")
    model.usage = None

    assert "read 10 of the" in turn.locator(".label").inner_text()
