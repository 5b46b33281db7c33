"""From a question with a link to a cited answer; stopping, reloading, coming back, branching."""

import pytest

from .acts import answer_of, answered, ask, ask_and_wait
from .conftest import opened_page
from .model import ScriptedServer
from .site import Site

pytestmark = pytest.mark.slow


def test_a_question_with_a_link_gets_an_answer_that_cites_it(page, model: ScriptedServer):
    model.says(
        "about lime",
        "Lime goes on in **autumn**, says [[Soil]], not [[Nowhere at all]].\n\n```python\nprint(1)\n```\n",
    )

    page.get_by_label("Message", exact=True).press_sequentially("What about lime? See [[soi")
    page.get_by_role("option", name="Soil").first.click()
    page.get_by_role("group", name="Files of this message").get_by_text("Soil").wait_for()
    cost = page.locator(".chips .cost").first
    cost.filter(has_text="+").wait_for()
    page.keyboard.press("Enter")
    turn = answered(page)

    assert page.get_by_label("Message", exact=True).input_value() == ""
    assert turn.locator(".answer .prose strong").text_content() == "autumn"
    assert turn.locator("a.cited").text_content() == "Soil1"
    assert turn.locator("a.broken").text_content() == "Nowhere at all"
    assert turn.locator("pre .tok-number").text_content() == "1"

    turn.get_by_role("group", name="References").get_by_role("button").first.click()
    page.get_by_role("heading", name="Soil").wait_for()
    page.locator(".cm-content").filter(has_text="jam jar").wait_for()


def test_a_stopped_answer_keeps_what_came(page, site: Site, model: ScriptedServer):
    gate = model.holds("a long story", "Once upon a time ", "there was more.")

    ask(page, "Tell a long story")
    page.get_by_text("Once upon a time").wait_for()
    page.keyboard.press("Escape")
    turn = answered(page)
    gate.set()

    assert turn.locator(".label").inner_text().startswith("You stopped this answer.")
    chat = page.evaluate("new URLSearchParams(location.hash.slice(1)).get('chat')")
    stored = site.get(f"/chats/{chat}/turns")["turns"]
    assert [(one["question"], one["answer"], one["status"]) for one in stored] == [
        ("Tell a long story", "Once upon a time ", "cancelled")
    ]


def test_a_reload_in_the_middle_loses_nothing(page, model: ScriptedServer):
    gate = model.holds("be slow", "First half, ", "second half.")

    ask(page, "Please be slow")
    page.get_by_text("First half,").wait_for()
    page.reload()
    page.get_by_text("First half,").wait_for()
    gate.set()
    turn = answered(page)

    assert answer_of(turn) == "First half, second half."


def test_an_unsent_message_outlives_a_reload(page):
    page.get_by_label("Message", exact=True).fill("half a thought")
    page.reload()

    page.wait_for_function("() => document.getElementById('composer')?.value === 'half a thought'")
    page.get_by_label("Message", exact=True).fill("")


def test_a_server_that_dies_in_the_middle_is_waited_for(
    browser, built_page, model: ScriptedServer, tmp_path
):
    variables = {"SILL_TOKENIZER": "o200k_base", "SILL_PROBE": "false", "OPENAI_API_KEY": "k"}
    site = Site(tmp_path, model.url, "scripted", ("--window", "16384"), variables).start()
    try:
        gate = model.holds("before the crash", "What came ", "what never did.")
        with opened_page(browser, site) as page:
            ask(page, "Say it before the crash")
            page.get_by_text("What came").wait_for()
            page.wait_for_timeout(1500)  # what came is stored now and then, not with every word
            site.kill()
            page.get_by_text("The server does not answer").wait_for()
            gate.set()
            site.start()
            page.get_by_text("The server does not answer").wait_for(state="detached")
            turn = answered(page)

            assert (
                turn.locator(".question .prose").text_content().strip() == "Say it before the crash"
            )
            assert turn.locator(".label").count() == 1

            model.says("after the crash", "Here again.")
            assert answer_of(ask_and_wait(page, "And after the crash?")) == "Here again."
    finally:
        site.stop()


def test_answers_and_questions_branch_and_nothing_is_overwritten(
    page, site: Site, model: ScriptedServer
):
    model.says("pick a number", "Seven.")
    first = ask_and_wait(page, "Please pick a number")
    assert answer_of(first) == "Seven."

    model.says("pick a number", "Eight.")
    first.get_by_role("button", name="Answer again").click()
    page.get_by_text("Eight.").wait_for()
    again = answered(page)
    assert again.locator(".branches").inner_text().split() == ["2", "/", "2"]

    again.get_by_role("button", name="Earlier version").click()
    page.get_by_text("Seven.").wait_for()
    assert page.get_by_text("Eight.").count() == 0

    model.says("pick a colour", "Blue.")
    page.locator("article").last.get_by_role("button", name="Edit the question").click()
    page.get_by_text("You are changing an earlier question").wait_for()
    assert page.get_by_label("Message", exact=True).input_value() == "Please pick a number"
    ask(page, "Please pick a colour")
    page.get_by_text("Blue.").wait_for()
    edited = answered(page)
    assert edited.locator(".branches").inner_text().split() == ["3", "/", "3"]

    chat = page.evaluate("new URLSearchParams(location.hash.slice(1)).get('chat')")
    turns = site.get(f"/chats/{chat}/turns")["turns"]
    assert [(one["question"], one["answer"], one["on_path"]) for one in turns] == [
        ("Please pick a number", "Seven.", False),
        ("Please pick a number", "Eight.", False),
        ("Please pick a colour", "Blue.", True),
    ]


def test_the_next_message_can_go_on_from_an_earlier_turn(page, site: Site, model: ScriptedServer):
    model.says("first point", "One.")
    model.says("second point", "Two.")
    model.says("other point", "Three.")
    ask_and_wait(page, "The first point")
    ask_and_wait(page, "The second point")

    page.locator("article").first.get_by_role("button", name="Go on from here").click()
    page.wait_for_function("() => document.querySelectorAll('article').length === 1")
    ask_and_wait(page, "Some other point")

    assert [
        text.strip() for text in page.locator("article .question .prose").all_text_contents()
    ] == [
        "The first point",
        "Some other point",
    ]


def test_a_refused_message_stays_in_the_composer(page):
    long = "word " * 30_000
    page.get_by_label("Message", exact=True).fill(long)
    page.locator(".fit.over").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("alert").first.wait_for()

    assert page.get_by_label("Message", exact=True).input_value() == long
    assert page.locator("article").count() == 0
