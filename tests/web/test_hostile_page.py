"""A page of another port in the user's own, logged-in browser: it may try everything and reaches nothing."""

import asyncio
import os
import shutil
from contextlib import asynccontextmanager

import pytest
import uvicorn

from sill.web.server import Address, bind
from tests.web.serving import serving

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --disable-dev-shm-usage"
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Everything a page can send without being asked. Each part stands for itself: none stops the others.
ATTACK = """
const at = '%TARGET%', socket = at.replace('http', 'ws');
const json = {'content-type': 'application/json'};
const tries = [
  () => fetch(at + '/api/v1/chats', {credentials: 'include'}),
  () => fetch(at + '/api/v1/chats', {credentials: 'include', mode: 'no-cors'}),
  () => fetch(at + '/api/v1/chats', {method: 'POST', body: '{}', credentials: 'include', mode: 'no-cors'}),
  () => fetch(at + '/api/v1/chats', {method: 'POST', body: '{}', credentials: 'include', headers: json}),
  () => fetch(at + '/api/v1/chats', {method: 'POST', body: '{}', credentials: 'include',
    headers: {...json, 'x-requested-by': 'sill'}}),
  () => fetch(at + '/api/v1/memory/x', {method: 'DELETE', credentials: 'include', headers: json}),
  () => fetch(at + '/v1/models', {headers: {authorization: 'Bearer guess'}}),
  () => navigator.sendBeacon(at + '/api/v1/chats', new Blob(['{}'], {type: 'text/plain'})),
  () => new Promise(done => { const x = new XMLHttpRequest(); x.withCredentials = true;
    x.onloadend = done; x.open('POST', at + '/api/v1/turns'); x.send('{"text":"hi"}'); }),
  () => new Promise(done => { const s = new EventSource(at + '/api/v1/turns/x/events', {withCredentials: true});
    s.onerror = () => { s.close(); done(); }; }),
  () => new Promise(done => { const s = new WebSocket(socket + '/mcp'); s.onerror = s.onclose = done; }),
  ...['img', 'script', 'iframe', 'embed'].map(kind => () => new Promise(done => {
    const element = document.createElement(kind);
    element.onload = element.onerror = done;
    element.src = at + '/api/v1/raw/a.png';
    document.body.append(element); setTimeout(done, 1500); })),
  () => new Promise(done => { const link = document.createElement('link'); link.rel = 'stylesheet';
    link.href = at + '/assets/x.css'; link.onload = link.onerror = done; document.head.append(link); }),
  () => new Promise(done => { const frame = document.createElement('iframe'); frame.name = 'sink';
    document.body.append(frame); const form = document.createElement('form'); form.target = 'sink';
    form.method = 'POST'; form.enctype = 'text/plain'; form.action = at + '/api/v1/chats';
    const field = document.createElement('input'); field.name = '{"title":"'; field.value = '"}';
    form.append(field); document.body.append(form); form.submit(); setTimeout(done, 800); }),
  () => new Promise(done => { window.open(at + '/api/v1/chats'); setTimeout(done, 800); }),
];
Promise.all(tries.map(t => Promise.resolve().then(t).catch(() => null))).then(() => { document.title = 'done'; });
"""


class Counting:
    """Every request that gets this far has reached a handler; ``own`` are those of the site's own pages."""

    def __init__(self, app=None):
        self.app, self.reached, self.own = app, [], []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "lifespan":
            by_itself = (b"sec-fetch-site", b"same-origin") in scope["headers"]
            asked = f"{scope.get('method', 'WS')} {scope['path']}"
            (self.own if by_itself else self.reached).append(asked)
        if self.app is not None:
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def listening(app):
    sock = bind(Address())
    config = uvicorn.Config(app, log_config=None, lifespan="off", access_log=False, ws="none")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


def page_of(target):
    body = f"<!doctype html><body><script>{ATTACK.replace('%TARGET%', target)}</script>".encode()

    async def answer(scope, receive, send):
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/html")],
            }
        )
        await send({"type": "http.response.body", "body": body})

    return answer


@asynccontextmanager
async def browser():
    from playwright.async_api import Error, async_playwright

    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    async with async_playwright() as playwright:
        try:
            opened = await playwright.chromium.launch(executable_path=found, args=FLAGS.split())
        except Error as error:
            pytest.skip(f"THE GUARD IS NOT TESTED IN A BROWSER: {str(error).splitlines()[0]}")
        try:
            yield await opened.new_context()
        finally:
            await opened.close()


async def attacked(context, target):
    async with listening(page_of(target)) as hostile:
        page = await context.new_page()
        await page.goto(hostile)
        await page.wait_for_function("document.title === 'done'", timeout=120_000)


def number_of(method, counting):
    return len([one for one in counting.reached if one.startswith(method)])


@pytest.mark.slow
def test_a_hostile_page_on_another_port_reaches_no_handler(tmp_path):
    async def check():
        async with serving(tmp_path) as served, browser() as context:
            guard = served.site.server.config.app
            counting = guard.app = Counting(guard.app)
            page = await context.new_page()
            await page.goto(served.site.login_url())
            await page.evaluate("fetch('/api/v1/session').then(answer => answer.json())")
            await page.goto("about:blank")
            counting.reached.clear()  # the user's own way in
            await attacked(context, served.site.url)

            bare = Counting()
            async with listening(bare) as unguarded:
                await attacked(context, unguarded)
                for _ in range(600):  # a beacon and a form are on their way when the page is done
                    if number_of("POST", bare) >= 3 and number_of("GET", bare) >= 5:
                        break
                    await asyncio.sleep(0.1)

            # The browser is logged in, and our own page gets through.
            assert "GET /api/v1/session" in counting.own
            assert number_of("POST", bare) >= 3
            assert number_of("GET", bare) >= 5
            assert counting.reached == []
            assert await served.service.store.chats() == []

    asyncio.run(check())
