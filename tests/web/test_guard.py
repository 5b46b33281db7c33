"""The guard against a table written by hand: who may ask, from where, and with what."""

import asyncio
from collections import Counter
from itertools import product

import pytest
from starlette.requests import Request

from sill.web.guard import (
    CONTENT_POLICY,
    REQUESTED_BY,
    SANDBOX_POLICY,
    Guard,
    Seen,
    Shown,
    dressed,
    local_rules,
    look,
    refuse_stranger,
    shown,
)
from sill.web.identity import LOCAL, who

PORT = 8437
TOKEN, COOKIE = "t0ken", "c00kie"

# What each value means is said here and not worked out: (value, meaning).
HOSTS = [
    ([f"127.0.0.1:{PORT}"], "127.0.0.1"),
    ([f"localhost:{PORT}"], "localhost"),
    ([f"[::1]:{PORT}"], "[::1]"),
    (["127.0.0.1"], None),
    ([f"127.0.0.1:{PORT + 1}"], None),
    ([f"evil.example:{PORT}"], None),
    ([f"127.0.0.1.evil.example:{PORT}"], None),
    ([f"LOCALHOST:{PORT}"], None),
    ([f"127.0.0.1:{PORT}", f"127.0.0.1:{PORT}"], None),
    ([], None),
]
ORIGINS = [
    ([], "absent"),
    ([f"http://127.0.0.1:{PORT}"], "127.0.0.1"),
    ([f"http://localhost:{PORT}"], "localhost"),
    (["null"], "foreign"),
    (["file://"], "foreign"),
    (["http://evil.example"], "foreign"),
    ([f"http://127.0.0.1:{PORT}.evil.example"], "foreign"),
    ([f"https://127.0.0.1:{PORT}"], "foreign"),
    ([f"http://127.0.0.1:{PORT + 1}"], "foreign"),
    ([""], "foreign"),
    ([f"http://127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT}"], "foreign"),
]
SITES = [
    ([], "absent"),
    (["same-origin"], "ours"),
    (["none"], "typed"),
    (["same-site"], "foreign"),
    (["cross-site"], "foreign"),
    (["Same-Origin"], "foreign"),
    (["same-origin", "same-origin"], "foreign"),
]
MODES = [(["navigate"], True), (["cors"], False), ([], False)]
METHODS = [
    ("GET", "safe"),
    ("HEAD", "safe"),
    ("POST", "unsafe"),
    ("DELETE", "unsafe"),
    ("OPTIONS", "unsafe"),
]
CREDENTIALS = [
    ({}, "none"),
    ({"authorization": [f"Bearer {TOKEN}"]}, "bearer"),
    ({"authorization": ["Bearer wrong"]}, "none"),
    ({"authorization": [f"Bearer {TOKEN}"] * 2}, "none"),
    ({"cookie": [f"other=1; sill_{PORT}={COOKIE}"]}, "cookie"),
    ({"cookie": [f"sill_{PORT}=wrong"]}, "none"),
    ({"cookie": [f"sill_{PORT + 1}={COOKIE}"]}, "none"),
    ({"cookie": [f"sill_{PORT}={COOKIE}"], "authorization": ["Bearer wrong"]}, "none"),
]
FORMS = [
    ({"x-requested-by": [REQUESTED_BY], "content-type": ["application/json"]}, True),
    ({"x-requested-by": [REQUESTED_BY], "content-type": ["Application/JSON; charset=utf-8"]}, True),
    ({"content-type": ["application/json"]}, False),
    ({"x-requested-by": [REQUESTED_BY], "content-type": ["text/plain"]}, False),
    ({"x-requested-by": ["XMLHttpRequest"], "content-type": ["application/json"]}, False),
    ({}, False),
]


def expected(host, origin, site, navigates, method, credentials, form):
    """The table of the design, read from the top."""
    name, safety = method
    if host is None:
        return 421
    if origin not in ("absent", host):
        return 403
    if site == "foreign" or (site == "typed" and not (name == "GET" and navigates)):
        return 403
    if credentials == "none":
        return 401
    if credentials == "bearer" or safety == "safe":
        return 200
    is_from_a_page = origin != "absent" or site != "absent"
    return 200 if is_from_a_page and form else 403


async def authenticate(credentials: Shown):
    known = {Shown(bearer=TOKEN), Shown(cookie=COOKIE)}
    return LOCAL if credentials in known else None


async def behind(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def answered(headers, method="GET", path="/api/v1/chats", app=behind):
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    raw = [(name.encode(), value.encode("latin-1")) for name, values in headers for value in values]
    scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": b""}
    await Guard(app, local_rules(PORT), authenticate)(scope, receive, send)
    return sent


def test_every_combination_of_headers_is_decided_as_the_table_says():
    async def check():
        wrong, decisions = [], Counter()
        cases = product(HOSTS, ORIGINS, SITES, MODES, METHODS, CREDENTIALS, FORMS)
        for number, case in enumerate(cases):
            # Every seventeenth of 554,400: seventeen shares no factor with the lists, so each value meets each.
            if number % 17:
                continue
            (host, h), (origin, o), (site, s), (mode, m), method, (extra, c), (form, f) = case
            headers = {
                "host": host,
                "origin": origin,
                "sec-fetch-site": site,
                "sec-fetch-mode": mode,
            }
            sent = await answered([*headers.items(), *extra.items(), *form.items()], method[0])
            status = sent[0]["status"]
            decisions[status] += 1
            if status != expected(h, o, s, m, method, c, f):
                wrong.append((case, status))

        assert wrong == []
        assert decisions.total() > 30_000
        assert decisions.keys() == {200, 401, 403, 421}

    asyncio.run(check())


OURS = {"host": [f"127.0.0.1:{PORT}"]}


@pytest.mark.parametrize(
    "headers, path, expected",
    [
        pytest.param(OURS, "/login", 200, id="the way in"),
        pytest.param(OURS, "/healthz", 200, id="whether it lives"),
        pytest.param(
            {"host": ["evil.example"]}, "/healthz", 421, id="also that only under our name"
        ),
        pytest.param(
            {**OURS, "sec-fetch-site": ["cross-site"]},
            "/login",
            403,
            id="a page elsewhere cannot log in",
        ),
        pytest.param(OURS, "/login/", 401, id="nothing near a public path is public"),
        pytest.param(OURS, "//login", 401, id="nor a path that looks like one"),
        pytest.param(OURS, "/", 401, id="not even the page"),
    ],
)
def test_public_paths_are_a_short_list(headers, path, expected):
    sent = asyncio.run(answered(headers.items(), path=path))

    assert sent[0]["status"] == expected


@pytest.mark.parametrize(
    "origin, expected",
    [
        pytest.param([f"http://127.0.0.1:{PORT}"], None, id="our page"),
        pytest.param([], 403, id="a socket always says where it comes from"),
        pytest.param(["http://localhost:1"], 403, id="another port"),
    ],
)
def test_a_websocket_must_come_from_our_page(origin, expected):
    seen = Seen("websocket", "GET", "/x", host=[f"127.0.0.1:{PORT}"], origin=origin)
    refusal = refuse_stranger(seen, local_rules(PORT))

    assert (refusal.status if refusal else None) == expected


def test_a_websocket_without_credentials_is_closed():
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "websocket.connect"}

    async def check():
        headers = [
            (b"host", f"127.0.0.1:{PORT}".encode()),
            (b"origin", f"http://127.0.0.1:{PORT}".encode()),
        ]
        scope = {"type": "websocket", "path": "/x", "headers": headers}
        await Guard(behind, local_rules(PORT), authenticate)(scope, receive, send)

    asyncio.run(check())

    assert sent == [{"type": "websocket.close", "code": 1008, "reason": "no_credentials"}]


@pytest.mark.parametrize(
    "header, expected",
    [
        pytest.param(f"sill_{PORT}=a", "a", id="alone"),
        pytest.param(f"x=1; sill_{PORT}=a; y=2", "a", id="among others"),
        pytest.param(f"sill_{PORT}=a; sill_{PORT}=b", None, id="twice is as good as none"),
        pytest.param(f"xsill_{PORT}=a", None, id="another name"),
        pytest.param(f"sill_{PORT}=", None, id="empty"),
    ],
)
def test_the_cookie_is_found_by_its_whole_name(header, expected):
    seen = Seen("http", "GET", "/", cookie=[header])

    assert shown(seen, f"sill_{PORT}") == Shown(cookie=expected)


def test_every_answer_has_our_headers_and_none_that_opens_it():
    given = [
        (b"Access-Control-Allow-Origin", b"*"),
        (b"access-control-allow-credentials", b"true"),
        (b"Content-Security-Policy", b"default-src *"),
        (b"x-mine", b"1"),
    ]

    assert dict(dressed(given)) == {
        b"x-mine": b"1",
        b"content-security-policy": CONTENT_POLICY.encode(),
        b"x-content-type-options": b"nosniff",
        b"referrer-policy": b"no-referrer",
        b"cross-origin-opener-policy": b"same-origin",
        b"cross-origin-resource-policy": b"same-origin",
        b"x-frame-options": b"DENY",
        b"cache-control": b"no-store",
    }


@pytest.mark.parametrize(
    "path, expected",
    [
        pytest.param(
            "/api/v1/raw/picture.png", SANDBOX_POLICY, id="files of the folder are in a sandbox"
        ),
        pytest.param(
            "/api/v1/files/note.md", CONTENT_POLICY, id="everything else has the page's policy"
        ),
    ],
)
def test_the_policy_goes_by_the_path(path, expected):
    headers = {**OURS, "authorization": [f"Bearer {TOKEN}"]}
    sent = asyncio.run(answered(headers.items(), path=path))

    assert dict(sent[0]["headers"])[b"content-security-policy"] == expected.encode()


def test_a_body_that_is_announced_or_comes_too_large_is_turned_away():
    async def reads(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await behind(scope, receive, send)

    async def check():
        announced = {**OURS, "authorization": [f"Bearer {TOKEN}"], "content-length": ["99999999"]}
        first = await answered(announced.items(), "POST", app=reads)
        sent = []

        async def send(message):
            sent.append(message)

        async def flood():
            return {"type": "http.request", "body": b"x" * 1_000_000, "more_body": True}

        raw = [
            (b"host", f"127.0.0.1:{PORT}".encode()),
            (b"authorization", f"Bearer {TOKEN}".encode()),
        ]
        scope = {"type": "http", "method": "POST", "path": "/x", "headers": raw}
        await Guard(reads, local_rules(PORT), authenticate)(scope, flood, send)
        return first[0]["status"], sent[0]["status"]

    assert asyncio.run(check()) == (413, 413)


@pytest.mark.parametrize(
    "path, query, status",
    [
        pytest.param("/api/v1/chats/a\0b", b"", 404, id="in the path"),
        pytest.param("/api/v1/search", b"q=a%00b", 400, id="in the query"),
        pytest.param("/api/v1/search", b"q=a%20b", 200, id="nowhere"),
    ],
)
def test_no_database_ever_sees_a_nul_of_an_address(path, query, status):
    async def check():
        sent = []

        async def send(message):
            sent.append(message)

        raw = [
            (b"host", f"127.0.0.1:{PORT}".encode()),
            (b"authorization", f"Bearer {TOKEN}".encode()),
        ]
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": query,
            "headers": raw,
        }
        await Guard(behind, local_rules(PORT), authenticate)(scope, None, send)
        return sent[0]["status"]

    assert asyncio.run(check()) == status


def test_a_route_cannot_be_reached_around_the_guard():
    with pytest.raises(RuntimeError):
        who(Request({"type": "http"}))


def test_headers_are_read_as_lists():
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "headers": [(b"Host", b"a"), (b"host", b"b"), (b"cookie", b"x=1")],
    }

    assert look(scope) == Seen("http", "GET", "/", host=["a", "b"], cookie=["x=1"])
