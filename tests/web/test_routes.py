"""No route is forgotten: each one asks who is there, and each is in the reference."""

import asyncio
import re
from pathlib import Path

import httpx
from starlette.routing import Route

from tests.web.serving import serving

PUBLIC = {"/login", "/healthz", "/readyz"}
REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "http.md"


def walk(routes, prefix=""):
    """Every path and method the application answers, mounted ones included."""
    for route in routes:
        if (included := getattr(route, "original_router", None)) is not None:
            yield from walk(included.routes, prefix)
            continue
        path = prefix + getattr(route, "path", "")
        if isinstance(route, Route) or getattr(route, "methods", None):
            for method in route.methods or {"GET"}:
                yield method, path
        elif getattr(route, "routes", None):
            yield from walk(route.routes, path)
        else:
            yield "GET", path


def filled(path):
    return re.sub(r"\{[^}]*\}", "1", path)


def test_every_route_turns_strangers_away(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            app = served.site.server.config.app.app.app
            routes = sorted(set(walk(app.routes)))
            wrong = []
            async with httpx.AsyncClient(base_url=served.site.url, trust_env=False) as stranger:
                for method, path in routes:
                    answer = await stranger.request(method, filled(path))
                    if path not in PUBLIC and answer.status_code != 401:
                        wrong.append((method, path, answer.status_code))
                for path in sorted(PUBLIC):
                    answer = await stranger.get(path)
                    assert answer.status_code in (200, 401), path

            assert len(routes) > 60
            assert wrong == []

    asyncio.run(check())


def test_every_answer_carries_the_security_headers(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            app = served.site.server.config.app.app.app
            every = sorted(set(walk(app.routes)))
            simple = [(m, path) for m, path in every if m in ("GET", "HEAD") and "{" not in path]
            assert len(simple) > 15
            for method, path in simple:
                async with served.http.stream(method, path) as answer:
                    names = answer.headers.keys()

                assert {"content-security-policy", "x-frame-options"} <= set(names), path
                assert answer.headers["cache-control"] == "no-store"
                assert not [name for name in names if name.startswith("access-control-")]
                assert "server" not in names

    asyncio.run(check())


def test_every_route_of_the_api_is_in_the_reference(tmp_path):
    async def check():
        async with serving(tmp_path) as served:
            return (await served.http.get("/openapi.json")).json()["paths"]

    text = REFERENCE.read_text()
    paths = [path for path in asyncio.run(check()) if path.startswith("/api/v1")]
    known = set(re.findall(r"/api/v1[^\s`?,;|]*", text)) | set(re.findall(r"`(/[^\s`?]+)`", text))

    def is_named(path):
        return path in known or any(path.endswith(part) and part.count("/") == 1 for part in known)

    assert [path for path in paths if not is_named(path)] == []
