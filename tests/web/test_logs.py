"""What a server writes down about its users: sizes and outcomes, never their words or keys."""

import asyncio
import logging

import httpx

from tests.engine.workspace import says
from tests.models.fault_provider import answer
from tests.web.serving import serving

OURS = ("sill", "uvicorn", "fastapi", "starlette", "asyncio")
TOML = 'api_key = "canary-api-key"\n'


def test_no_text_key_token_or_cookie_is_in_any_log(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)

    async def check():
        notes = {"Note.md": "canary-file-text\n"}
        scripts = (says("canary-answer"), answer(500, {"error": "canary-upstream"}))
        async with serving(tmp_path, *scripts, toml=TOML, notes=notes) as served:
            once = served.site.login_url()
            async with httpx.AsyncClient(base_url=served.site.url, trust_env=False) as browser:
                cookie = (await browser.get(once)).headers["set-cookie"].split("=")[1].split(";")[0]
                await browser.get("/api/v1/search?q=canary-search")
            await served.said("canary-question [[Note]]")
            await served.said("canary-second")
            await served.http.get("/api/v1/search?q=canary-search")
            await served.http.post(
                "/api/v1/turns", json={"text": "canary-wrong", "surprise": "canary-field"}
            )
            await served.http.get("/api/v1/files/canary-path.md")
            token = served.http.headers["authorization"].removeprefix("Bearer ")
            return [once.rsplit("=", 1)[1], cookie, token]

    secrets = asyncio.run(check())
    lines = [r.getMessage() for r in caplog.records if r.name.split(".")[0] in OURS]
    written = "\n".join(lines)

    assert lines  # something is logged at this level
    assert [one for one in ("canary", *secrets) if one in written] == []
