"""Logging in: once, in time, and remembered as hashes only."""

import asyncio
import stat

import httpx
import pytest

from sill.web.guard import Shown
from sill.web.sessions import ONCE_SECONDS, SESSION_SECONDS, Sessions
from tests.web.serving import serving


def enters(sessions, cookie):
    return asyncio.run(sessions.authenticate(Shown(cookie=cookie))) is not None


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    "wait, expected",
    [
        pytest.param(0, True, id="at once"),
        pytest.param(ONCE_SECONDS - 1, True, id="in time"),
        pytest.param(ONCE_SECONDS, False, id="too late"),
    ],
)
def test_a_login_secret_works_for_five_minutes(wait, expected):
    clock = Clock()
    sessions = Sessions(clock=clock)
    secret = sessions.invite()
    clock.now += wait

    assert (sessions.enter(secret) is not None) is expected


def test_a_login_secret_works_once():
    sessions = Sessions()
    secret = sessions.invite()

    assert sessions.enter(secret) is not None
    assert sessions.enter(secret) is None
    assert sessions.enter("guess") is None


def test_a_session_ends_after_a_week_or_when_its_owner_leaves():
    clock = Clock()
    sessions = Sessions(clock=clock)
    first, second = (sessions.enter(sessions.invite()) for _ in range(2))
    identity = asyncio.run(sessions.authenticate(Shown(cookie=first)))
    sessions.leave(identity)

    assert (enters(sessions, first), enters(sessions, second)) == (False, True)
    clock.now += SESSION_SECONDS
    assert not enters(sessions, second)


def test_sessions_outlive_the_process_and_no_secret_is_written(tmp_path):
    file = tmp_path / "sessions.json"
    sessions = Sessions(file)
    cookie, token = sessions.enter(sessions.invite()), sessions.new_token()
    after = Sessions(file)
    after.read()

    assert enters(after, cookie)
    assert asyncio.run(after.authenticate(Shown(bearer=token))) is not None
    assert cookie not in file.read_text() and token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    after.forget_all()
    again = Sessions(file)
    again.read()
    assert not enters(again, cookie)


def test_a_damaged_file_lets_nobody_in(tmp_path):
    file = tmp_path / "sessions.json"
    file.write_text('{"cookies": [1, 2]')
    sessions = Sessions(file)
    sessions.read()

    assert not enters(sessions, "anything")
    assert asyncio.run(sessions.authenticate(Shown(bearer=""))) is None


def test_a_browser_logs_in_by_the_printed_address(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            url = served.site.login_url()
            async with httpx.AsyncClient(base_url=served.site.url, trust_env=False) as browser:
                stranger = await browser.get("/", headers={"accept": "text/html"})
                entered = await browser.get(url)
                page = await browser.get("/")
                session = await browser.get("/api/v1/session")
                plain = await browser.post("/api/v1/chats", json={})
                ours = {"x-requested-by": "sill", "origin": served.site.url}
                written = await browser.post("/api/v1/chats", json={}, headers=ours)
                left = await browser.post("/api/v1/logout", json={}, headers=ours)
                after = await browser.get("/api/v1/session")
            async with httpx.AsyncClient(base_url=served.site.url, trust_env=False) as other:
                used = await other.get(url, headers={"accept": "text/html"})

            port = served.site.address.port
            assert (stranger.status_code, stranger.headers["content-type"][:9]) == (
                401,
                "text/html",
            )
            assert (entered.status_code, entered.headers["location"]) == (303, "/")
            cookie = entered.headers["set-cookie"]
            assert cookie.startswith(f"sill_{port}=")
            assert {"HttpOnly", "Path=/", "SameSite=strict", "Max-Age=604800"} <= set(
                cookie.split("; ")
            )
            assert page.status_code == 200
            assert session.json()["owner"] == "local"
            assert (plain.status_code, written.status_code) == (403, 201)
            assert (left.status_code, after.status_code, used.status_code) == (200, 401, 401)

    asyncio.run(check())
