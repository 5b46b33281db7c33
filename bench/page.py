"""How quick the page is: until it can be used, per key in a long note, from the server's answer to the screen.

    python bench/page.py [--json] [--runs 5]

Chromium, a real server and a scripted model on this machine. A key's time is what the main thread needs for it:
the edit, CodeMirror's update, styles and layout; not the wait for the next frame. The chat holds 1,000 turns.
"""

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from _shape import finish, show

from sill.adapters.store import open_store
from sill.core.certificate import Certificate
from sill.core.messages import Epoch, Message
from sill.ports import Closing, Opening
from tests.browser.conftest import FLAGS, NAMES
from tests.browser.model import ScriptedServer
from tests.browser.site import Site

TURNS = 1000
LINES = 5000
KEYS = 120
READY = """
    const look = () => {
      const area = document.getElementById('composer');
      if (area && document.querySelector('.welcome, article')) window.usable = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""
TYPE = """async (keys) => {
    const root = document.querySelector('.editor').shadowRoot;
    const content = root.querySelector('.cm-content');
    content.focus();
    const times = [];
    for (let key = 0; key < keys; key++) {
      const began = performance.now();
      document.execCommand('insertText', false, 'x');
      await Promise.resolve();
      content.getBoundingClientRect();
      times.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return times;
}"""
SCROLL = """async () => {
    const list = document.querySelector('[role=log]');
    const frames = [];
    let last = performance.now();
    for (let step = 0; step < 400; step++) {
      list.scrollTop -= 120;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      frames.push(now - last);
      last = now;
    }
    return frames;
}"""
PLAN = """async () => {
    const seen = [];
    const area = document.getElementById('composer');
    const fetched = window.fetch;
    let answered = 0;
    window.fetch = async (...given) => {
      const response = await fetched(...given);
      if (String(given[0]).endsWith('/plan')) answered = performance.now();
      return response;
    };
    for (let number = 0; number < 20; number++) {
      const fit = document.querySelector('.fit');
      const before = fit.textContent;
      const changed = new Promise((resolve) => {
        const watcher = new MutationObserver(() => {
          if (fit.textContent === before) return;
          watcher.disconnect();
          resolve(performance.now());
        });
        watcher.observe(fit, { childList: true, subtree: true, characterData: true });
      });
      area.value += ' one two three four five';
      area.dispatchEvent(new Event('input', { bubbles: true }));
      seen.push((await changed) - answered);
    }
    window.fetch = fetched;
    return seen;
}"""


async def fill(site: Site) -> str:
    """A chat of many turns, written as the engine writes them."""
    site.place.mkdir(exist_ok=True)
    store = await open_store(str(site.place / "sill.db"))
    chat = await store.new_chat(str(site.vault), "A long chat")
    certificate = Certificate("bound", "o200k_base", 100)
    for number in range(TURNS):
        question = (Message("user", f"Question {number} about [[Soil]]"),)
        opening = Opening(question, "scripted", "", certificate, Epoch(), "", b"")
        turn = await store.begin(chat, opening)
        answer = f"Answer {number}.\n\n- one\n- *two*\n\n| a | b |\n|---|---|\n| {number} | 2 |\n\n`code`\n"
        await store.finish(turn, Closing("complete", (Message("assistant", answer),)))
    await store.close()
    return chat


def measure(runs: int) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    with tempfile.TemporaryDirectory() as folder, ScriptedServer() as model:
        variables = {"SILL_TOKENIZER": "o200k_base", "SILL_PROBE": "false", "OPENAI_API_KEY": "k"}
        site = Site(Path(folder), model.url, "scripted", ("--window", "16384"), variables)
        chat = asyncio.run(fill(site))
        site.start()
        play = sync_playwright().start()
        (site.vault / "Long.md").write_text(
            "A line with a [[Soil]] link and some words in it.\n" * LINES
        )
        browser = play.chromium.launch(executable_path=found, args=FLAGS.split())
        try:
            page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            page.goto(site.login)
            return timed(page, site, chat, runs)
        finally:
            browser.close()
            play.stop()
            site.stop()


def timed(page: Any, site: Site, chat: str, runs: int) -> dict[str, Any]:
    page.add_init_script(READY)
    usable, reopened = [], []
    for _ in range(runs):
        page.goto(f"{site.url}/?{len(usable)}")
        usable.append(page.wait_for_function("() => window.usable").json_value())
    for number in range(runs):
        page.goto(f"{site.url}/?{number}#chat={chat}")
        page.locator("article").last.wait_for()
        reopened.append(page.evaluate("() => window.usable"))
    frames = page.evaluate(SCROLL)
    page.goto(f"{site.url}/?long#doc=Long.md")
    page.locator(".cm-content").wait_for()
    page.wait_for_timeout(1500)
    keys = page.evaluate(TYPE, KEYS)
    page.goto(f"{site.url}/?plan")
    page.locator(".fit .number").first.wait_for()
    plans = page.evaluate(PLAN)
    return {
        "usable_ms": summary(usable),
        "long_chat_usable_ms": summary(reopened),
        "long_chat_frame_ms": summary(frames),
        "key_ms": summary(keys),
        "plan_shown_after_answer_ms": summary(plans),
    }


def summary(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 1),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 1),
        "most": round(ordered[-1], 1),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--runs", type=int, default=5)
    report = measure(options.parse_args().runs)
    rows = [[name, *numbers.values()] for name, numbers in report.items()]
    show("The page, in milliseconds", ["what", "median", "p95", "most"], rows)
    finish(report)


if __name__ == "__main__":
    main()
