"""A whole server on a real port, over an endpoint that says what a test wants."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from sill.app.build import Ground
from sill.app.service import Service, open_service
from sill.settings import load
from sill.web.server import Address, Site, open_site
from tests.engine.workspace import GENERAL, says
from tests.models.fault_provider import FaultProvider, Script

NOTES = {
    "Shopping.md": "# Shopping\n\nmilk and bread, see [[Recipes]]\n",
    "Recipes.md": "---\naliases: [Cooking]\n---\n# Recipes\n\n## Soup\n\nleeks, [[Shopping#Shopping]]\n",
    "code/run.py": "print('hello')\n",
}


@dataclass(frozen=True, slots=True)
class Event:
    id: str
    name: str
    data: dict[str, object]


@dataclass(slots=True)
class Served:
    """``http`` has a token; ``folder`` is what is served; ``provider`` is the model's endpoint."""

    site: Site
    service: Service
    http: httpx.AsyncClient
    provider: FaultProvider
    folder: Path

    async def ask(self, text: str, **more: object) -> dict[str, str]:
        answer = await self.http.post("/api/v1/turns", json={"text": text, **more})
        assert answer.status_code == 202, answer.text
        return answer.json()

    async def events(self, turn: str, after: str = "") -> list[Event]:
        answer = await self.http.get(f"/api/v1/turns/{turn}/events", params={"after": after})
        assert answer.status_code == 200, answer.text
        return parse(answer.text)

    async def said(self, text: str, **more: object) -> tuple[dict[str, str], list[Event]]:
        asked = await self.ask(text, **more)
        return asked, await self.events(asked["turn"])


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that no answer tells."""
    for _ in range(6000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came to that")


def parse(body: str) -> list[Event]:
    events = []
    for block in body.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and line[0] != ":")
        if fields:
            events.append(Event(fields.get("id", ""), fields["event"], json.loads(fields["data"])))
    return events


@asynccontextmanager
async def serving(
    place: Path,
    *scripts: Script,
    toml: str = "",
    port: int = 0,
    notes: dict[str, str] | None = None,
    routes: dict[str, Sequence[bytes]] | None = None,
) -> AsyncIterator[Served]:
    """``scripts`` are the model's answers, the last one again and again."""
    folder = place / "vault"
    for name, text in (NOTES if notes is None else notes).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if not (folder / name).exists():
            (folder / name).write_text(text)
    folder.mkdir(exist_ok=True)
    with FaultProvider(*(scripts or (says("Hello", " there"),)), routes=routes) as provider:
        file = place / "user.toml"
        file.write_text(f'{GENERAL}base_url = "{provider.url}/v1"\n{toml}')
        settings = load(
            user_file=file,
            project_file=None,
            environment={"SILL_DATABASE_URL": str(place / "sill.db")},
        )
        async with open_service(Ground(settings, folder, lambda _: None)) as service:
            site = open_site(service, Address(port), grace=0.2)
            task = asyncio.create_task(site.serve())
            await site.server.up.wait()
            headers = {"authorization": f"Bearer {site.sessions.new_token()}"}
            try:
                async with httpx.AsyncClient(
                    base_url=site.url, headers=headers, timeout=120, trust_env=False
                ) as http:
                    yield Served(site, service, http, provider, folder)
            finally:
                site.stop()
                await task
