"""A whole server on a real socket, in a thread of its own, for clients that know nothing of us."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sill.app.build import Ground
from sill.app.service import Service, open_service
from sill.settings import Scalar, load
from sill.web.server import Address, Site, open_site


@dataclass(slots=True)
class Live:
    url: str
    token: str
    service: Service
    site: Site
    loop: asyncio.AbstractEventLoop

    def run(self, coroutine):
        """Its answer, from the server's own loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}


@contextmanager
def served(folder: Path, given: Mapping[str, Scalar | None], toml: str = "") -> Iterator[Live]:
    """Serves ``folder/vault``; everything that is kept goes under ``folder``."""
    vault = folder / "vault"
    vault.mkdir(parents=True, exist_ok=True)
    flags = {"database": str(folder / "sill.db"), **given}
    user_file = folder / "user.toml"
    user_file.write_text(toml)
    settings = load(user_file=user_file, project_file=None, environment={}, flags=flags)
    made: list[Live] = []
    up = threading.Event()
    problems: list[BaseException] = []

    async def work() -> None:
        async with open_service(Ground(settings, vault, lambda _: None)) as service:
            site = open_site(service, Address(0), grace=0.0)
            token = site.sessions.new_token()
            made.append(Live(site.url, token, service, site, asyncio.get_running_loop()))
            await site.serve(up.set)

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:
            problems.append(error)
        finally:
            up.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert up.wait(60)
    if problems:
        raise problems[0]
    try:
        yield made[0]
    finally:
        made[0].loop.call_soon_threadsafe(made[0].site.stop)
        thread.join(60)
