"""What people do on the page, so that tests read like it."""

import time
from collections.abc import Callable
from typing import Any


def ask(page: Any, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")


def answered(page: Any) -> Any:
    """The last turn, once it is stored. Whoever asked before has seen something of the new one."""
    page.wait_for_selector("article[aria-busy]", state="detached")
    turn = page.locator("article[aria-label^='Turn ']").last
    turn.wait_for()
    return turn


def ask_and_wait(page: Any, text: str) -> Any:
    before = page.locator("article").count()
    ask(page, text)
    page.wait_for_function("n => document.querySelectorAll('article').length > n", arg=before)
    return answered(page)


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that no page shows."""
    for _ in range(1200):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it never came to that")


def number(text: str) -> int:
    return int(text.replace(",", "").replace("+", ""))


def answer_of(turn: Any) -> str:
    """Its words. What is out of sight is not laid out, so what is shown cannot be asked for."""
    return turn.locator(".answer .prose").text_content().strip()
