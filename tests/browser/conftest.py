"""A real browser, a real server, and a model that is real or says what the test needs."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sill.adapters.local.supervise import LocalServer

from .model import ScriptedServer
from .site import Site

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-dev-shm-usage"
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def built_page() -> Path:
    """The page as its source is now."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from build_page import BUILT, CannotBuild, build
    finally:
        sys.path.pop(0)
    try:
        build()
    except CannotBuild as error:
        pytest.skip(f"THE PAGE IS NOT TESTED: it cannot be built here: {error}")
    return BUILT


@pytest.fixture(scope="module")
def browser(built_page: Path) -> Iterator[Any]:
    """One for each file: as long as it is open, its event loop runs in this thread and no other test can have one."""
    from playwright.sync_api import Error, sync_playwright

    given = os.environ.get("CHROMIUM")
    found = given or next((path for name in NAMES if (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        try:
            opened = playwright.chromium.launch(executable_path=found, args=FLAGS.split())
        except Error as error:
            pytest.skip(
                "THE PAGE IS NOT TESTED: no Chromium. `apt install chromium`, or `playwright install chromium`,"
                f" or CHROMIUM=/path/to/it ({str(error).splitlines()[0]})"
            )
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="session")
def site(
    built_page: Path, model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """A server whose model says what tests want. Tests share it, each with chats and notes of its own."""
    place = tmp_path_factory.mktemp("site")
    variables = {"SILL_TOKENIZER": "o200k_base", "SILL_PROBE": "false", "OPENAI_API_KEY": "k"}
    opened = Site(place, model.url, "scripted", ("--window", "16384"), variables).start()
    yield opened
    opened.stop()


@pytest.fixture(scope="session")
def real_site(
    built_page: Path, tiny_server: LocalServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """A server with a real llama.cpp behind it, whose words mean nothing and whose numbers are exact."""
    key = {
        "OPENAI_API_KEY": tiny_server.api_key,
        "LLM_CHAT_REPLY": "48",
    }  # nonsense need not be long
    opened = Site(tmp_path_factory.mktemp("real"), tiny_server.base_url, variables=key).start()
    yield opened
    opened.stop()


@contextmanager
def opened_page(browser: Any, site: Site, **options: Any) -> Iterator[Any]:
    """A logged-in page in a profile of its own. A script error or a broken content policy fails the test."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    wrong: list[str] = []
    page = context.new_page()
    page.set_default_timeout(float(os.environ.get("PAGE_TIMEOUT", "60000")))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda message: (
            wrong.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    try:
        context.add_cookies([_session_cookie(site)])
        page.goto(site.url)
        page.wait_for_selector("header h1")
        with pictured(page):
            yield page
    finally:
        context.close()
    assert wrong == []


@contextmanager
def pictured(page: Any) -> Iterator[None]:
    """Where a test fails it leaves a picture of its page behind."""
    try:
        yield
    except BaseException:
        keep_picture(page, os.environ.get("PYTEST_CURRENT_TEST", "page").split("::")[-1])
        raise


def keep_picture(page: Any, name: str) -> None:
    folder = Path(tempfile.gettempdir(), "sill-failed-pages")
    folder.mkdir(exist_ok=True)
    with suppress(Exception):
        page.screenshot(path=folder / f"{name.split(' ')[0].replace('/', '-')}.png")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    """A fixture does not learn that its test failed: this does."""
    report = yield
    given = getattr(item, "funcargs", {})
    page = given.get("page") or given.get("real_page")
    if call.when == "call" and report.failed and page is not None:
        keep_picture(page, item.name)
    return report


def _session_cookie(site: Site) -> dict[str, Any]:
    """Log in once per server start; the cookie works for every profile."""
    import httpx

    if site.cookie is None:
        answer = httpx.get(site.login, follow_redirects=False, timeout=60)
        name, value = next(iter(answer.cookies.items()))
        site.cookie = (name, value)
    name, value = site.cookie
    return {"name": name, "value": value, "url": site.url}


@pytest.fixture
def page(browser: Any, site: Site) -> Iterator[Any]:
    with opened_page(browser, site) as opened:
        yield opened


@pytest.fixture
def real_page(browser: Any, real_site: Site) -> Iterator[Any]:
    with opened_page(browser, real_site) as opened:
        yield opened
