"""``sill serve``: the folder as a local web page and an HTTP API."""

import asyncio
import logging
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from .common import Where, endpoint_options, progress, settled
from .serve_shared import serve_shared, shared_options, taken

PORT = 8437


@click.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Port on 127.0.0.1; 0 for any that is free.",
)
@click.option("--no-open", is_flag=True, help="Do not open the page in a browser.")
@click.option("--token", "new_token", is_flag=True, help="Print a new token for scripts.")
@click.option(
    "--rotate", is_flag=True, help="Log everybody out: forget all sessions and the token."
)
@shared_options
@endpoint_options
def command(port: int, no_open: bool, new_token: bool, rotate: bool, **given: Any) -> int:
    """Serve the folder to a browser on this machine, and to programs.

    Prints an address that logs one browser in, once; Enter prints another one. Only this machine can reach
    the server, unless it is for several people (--multi-user). Ctrl-C gives answers that are being written
    five seconds to end, keeps what came of the others, and stops.
    """
    shared = taken(given)
    where = settled(given)
    if shared["multi_user"]:
        serve_shared(where, port, shared)
        return 0
    from ..web.server import run

    run(_serve(where, Manner(port, no_open, new_token, rotate)))
    return 0


@dataclass(frozen=True, slots=True)
class Manner:
    port: int
    no_open: bool
    new_token: bool
    rotate: bool


async def _serve(where: Where, manner: Manner) -> None:
    from ..app.build import Ground
    from ..app.service import open_service
    from ..web.server import Address, open_site, settle_in

    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # anybody can send nonsense
    async with open_service(Ground(where.settings, where.folder, progress)) as service:
        site = open_site(service, Address(manner.port), rotate=manner.rotate)
        service.desk().lazy().start()

        def ready() -> None:
            click.echo(f"Sill serves {where.folder.name} at {site.url}; Ctrl-C stops.")
            if manner.new_token:
                click.echo(f"Token for scripts, shown this once: {site.sessions.new_token()}")
            login = site.login_url()
            click.echo(f"Log in (works once, for five minutes): {login}")
            if not manner.no_open and sys.stdout.isatty():
                webbrowser.open(login)
            _invite_on_enter(lambda: click.echo(f"Log in: {site.login_url()}"))
            settle_in()

        await site.serve(ready)


def _invite_on_enter(invite: Callable[[], None]) -> None:
    """Where somebody sits at a terminal, Enter asks for another login address."""
    if not sys.stdin.isatty():
        return
    loop = asyncio.get_running_loop()

    def read() -> None:
        if sys.stdin.readline():
            invite()
        else:
            loop.remove_reader(sys.stdin.fileno())

    loop.add_reader(sys.stdin.fileno(), read)
