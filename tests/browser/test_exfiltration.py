"""Nothing that a model says or a note holds makes the browser call anybody."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from .acts import ask_and_wait, until
from .conftest import opened_page
from .model import ScriptedServer
from .site import Site
from .vectors import VECTORS

pytestmark = pytest.mark.slow


# Each in a document of its own, so that none can take another one along.
CARELESS = """vectors => vectors.forEach((html) => {
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.contentDocument.open();
    frame.contentDocument.write(html);
    frame.contentDocument.close();
})"""


@dataclass
class Sink:
    """Another server on this machine; whatever arrives here has leaked."""

    hits: list[str] = field(default_factory=list)
    port: int = 0

    def filled(self, vector: str) -> str:
        host = f"127.0.0.1:{self.port}"
        return vector.replace("{sink}", f"http://{host}").replace("{host}", host)


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    found = Sink()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.hits.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield found
    server.shutdown()
    server.server_close()


def watch(page, site: Site) -> list[str]:
    """Requests to anybody but our server, as they are tried."""
    elsewhere: list[str] = []
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((site.url, "data:", "blob:"))
            else elsewhere.append(request.url)
        ),
    )
    return elsewhere


def test_there_are_27_vectors_and_a_careless_page_leaks_by_most(browser, sink: Sink):
    assert len(VECTORS) == 27
    before = len(sink.hits)
    frames = [text for text in VECTORS.values() if text.startswith("<")]
    page = browser.new_page()
    page.evaluate(CARELESS, [sink.filled(vector) for vector in frames])
    until(lambda: len(set(sink.hits[before:])) >= 15)
    page.close()


def test_chat(browser, site: Site, model: ScriptedServer, sink: Sink):
    sink.hits.clear()
    chat = None
    for name, vector in VECTORS.items():
        model.says(f"vector {name}.", sink.filled(vector))
        asked = site.post(
            "/turns", {"text": f"{sink.filled(vector)}\n\nvector {name}.", "chat": chat}
        )
        chat = asked["chat"]
        site.wait(asked["turn"])
    with opened_page(browser, site) as page:
        elsewhere = watch(page, site)
        page.goto(f"{site.url}/#chat={chat}")
        page.wait_for_function(
            "n => document.querySelectorAll('article').length === n", arg=len(VECTORS)
        )
        for turn in page.locator("article").all():
            turn.scroll_into_view_if_needed()
        page.wait_for_timeout(500)

        assert (elsewhere, sink.hits) == ([], [])
        assert (
            page.evaluate(
                "() => document.querySelectorAll('article :is(iframe, object, embed, form, link, meta, base, style, script, video, audio)').length"
            )
            == 0
        )
        assert (
            page.evaluate(
                "() => document.querySelectorAll('article :is([ping], [style], [srcset], [onerror])').length"
            )
            == 0
        )


def test_note_preview(browser, site: Site, sink: Sink):
    sink.hits.clear()
    folder = site.vault / "Vectors"
    folder.mkdir(exist_ok=True)
    for number, vector in enumerate(VECTORS.values()):
        (folder / f"{number}.md").write_text(f"before\n\n{sink.filled(vector)}\n\nafter\n")
    with opened_page(browser, site) as page:
        elsewhere = watch(page, site)
        page.goto(f"{site.url}/#doc=Vectors/0.md")
        page.get_by_role("button", name="Preview").click()
        for number in range(len(VECTORS)):
            page.goto(f"{site.url}/#doc=Vectors/{number}.md")
            page.get_by_role("heading", name=str(number), exact=True).wait_for()
            page.locator(".preview .prose", has_text="after").wait_for()
            page.wait_for_timeout(50)
        page.wait_for_timeout(300)

        assert (elsewhere, sink.hits) == ([], [])


def test_diff(browser, site: Site, model: ScriptedServer, sink: Sink):
    sink.hits.clear()
    (site.vault / "Diffed.md").write_text("plain\n")
    everything = "\n\n".join(sink.filled(vector) for vector in VECTORS.values())
    replace = {
        "op": "replace",
        "target_file": "Diffed.md",
        "target": "anchor",
        "anchor": "plain",
        "content": everything,
    }
    model.proposes("Fill it up", everything, replace)
    with opened_page(browser, site) as page:
        elsewhere = watch(page, site)
        page.get_by_label("Message", exact=True).fill("/edit Fill it up [[Diffed]]")
        page.keyboard.press("Enter")
        page.locator(".hunk").wait_for()
        page.get_by_role("button", name="Side by side").click()
        page.locator("table.beside").wait_for()
        page.wait_for_timeout(300)

        assert (elsewhere, sink.hits) == ([], [])
        assert "meta http-equiv" in page.locator(".hunk").inner_text()


def test_tool_result(browser, site: Site, model: ScriptedServer, sink: Sink):
    sink.hits.clear()
    everything = "\n\n".join(sink.filled(vector) for vector in VECTORS.values())
    (site.vault / "Trap.md").write_text(everything)
    model.uses("Read the trap", "read_document", {"path": "Trap.md"}, everything)
    with opened_page(browser, site) as page:
        elsewhere = watch(page, site)
        turn = ask_and_wait(page, "Read the trap")
        turn.get_by_text("1 tool call: read_document").click()
        turn.locator(".tool pre", has_text="meta http-equiv").wait_for()
        page.wait_for_timeout(300)

        assert (elsewhere, sink.hits) == ([], [])


def test_a_link_opens_only_after_a_click_and_without_a_referrer(
    browser, site: Site, model: ScriptedServer, sink: Sink
):
    sink.hits.clear()
    model.says("one link", sink.filled("[here]({sink}/clicked)"))
    with opened_page(browser, site) as page:
        turn = ask_and_wait(page, "Give me one link")
        link = turn.get_by_role("link", name="here")
        assert link.get_attribute("rel") == "noopener noreferrer"
        assert sink.hits == []

        with page.context.expect_page() as opened:
            link.click()
        opened.value.wait_for_url("**/clicked")
        assert opened.value.evaluate("() => [document.referrer, window.opener]") == ["", None]


def test_a_link_that_carries_much_asks_first(
    browser, site: Site, model: ScriptedServer, sink: Sink
):
    sink.hits.clear()
    model.says("a heavy link", sink.filled("[here]({sink}/heavy?d=" + "x" * 200 + ")"))
    with opened_page(browser, site) as page:
        asked: list[str] = []
        page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
        ask_and_wait(page, "Give me a heavy link").get_by_role("link", name="here").click()
        for _ in range(600):
            if asked:
                break
            page.wait_for_timeout(100)
        page.wait_for_timeout(300)

        assert sink.hits == []
        assert len(asked) == 1
