"""``sill serve --multi-user``: the folder for several people, behind TLS."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..errors import UsageError
from .common import Where, progress, run_async

F = TypeVar("F", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path)
_OPTIONS = [
    click.option(
        "--multi-user",
        is_flag=True,
        help="For several people, each with a name and a password (`sill users add`).",
    ),
    click.option(
        "--host",
        default="127.0.0.1",
        show_default=True,
        help="With --multi-user: the address to listen on.",
    ),
    click.option(
        "--name",
        "names",
        multiple=True,
        metavar="HOST",
        help="With --multi-user: the name people type, such as notes.example.org.",
    ),
    click.option(
        "--tls-cert", type=_FILE, metavar="FILE", help="With --multi-user: the certificate."
    ),
    click.option("--tls-key", type=_FILE, metavar="FILE", help="With --multi-user: its key."),
    click.option(
        "--behind-proxy", is_flag=True, help="With --multi-user: a proxy on this machine has TLS."
    ),
    click.option(
        "--workers",
        type=click.IntRange(1, 64),
        default=1,
        show_default=True,
        help="With --multi-user: processes that share the work.",
    ),
]
_NAMES = ("multi_user", "host", "names", "tls_cert", "tls_key", "behind_proxy", "workers")


def shared_options(function: F) -> F:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def taken(given: dict[str, Any]) -> dict[str, Any]:
    """What ``shared_options`` added, out of the rest. ``UsageError`` where it makes no sense alone."""
    own = {name: given.pop(name) for name in _NAMES}
    is_set = own["names"] or own["tls_cert"] or own["tls_key"] or own["behind_proxy"]
    if not own["multi_user"] and (is_set or own["workers"] > 1 or own["host"] != "127.0.0.1"):
        raise UsageError(
            "only a server for several people can be reached from elsewhere or have workers",
            hint="add --multi-user",
        )
    return own


def serve_shared(where: Where, port: int, own: dict[str, Any]) -> None:
    """Until it is stopped."""
    from ..web.server import Address, bind, run, settle_in
    from ..web.shared import Public
    from ..web.workers import Work, run_workers

    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    public = Public(own["names"], own["tls_cert"], own["tls_key"], own["behind_proxy"])
    public.check()
    run_async(_check(where))
    listening = bind(Address(port, own["host"]))
    bound = listening.getsockname()[1]

    def ready() -> None:
        behind = "behind a proxy" if public.behind_proxy else "with TLS"
        click.echo(
            f"Sill serves {where.folder.name} to several people, {behind}, on {own['host']}:{bound}"
            f" as {', '.join(public.names)}; Ctrl-C stops."
        )
        settle_in()

    if own["workers"] > 1:
        work = Work(where.settings, where.folder, public)
        run_workers(work, listening, own["workers"], ready)
        return
    run(_serve(where, public, listening, ready))


async def _check(where: Where) -> None:
    from ..app.accounts import accounts_of
    from ..app.build import open_storage
    from ..web.shared import check_accounts

    async with open_storage(where.settings) as store:
        await check_accounts(accounts_of(store))


async def _serve(where: Where, public: Any, listening: Any, ready: Callable[[], None]) -> None:
    from ..app.build import Ground
    from ..app.service import open_service
    from ..web.shared import open_shared_site

    async with open_service(Ground(where.settings, where.folder, progress)) as service:
        await open_shared_site(service, public, listening).serve(ready)
