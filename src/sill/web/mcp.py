"""The folder's tools by MCP over HTTP, for whoever shows a token."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..app.mcp import Guest, guest_of, mcp_server
from ..app.service import Service
from ..ports import Vault
from .answers import Rejected
from .identity import Identity, who

router = APIRouter()


@dataclass(slots=True)
class Endpoint:
    """The protocol's machinery, started with the first call and ended with the loop it runs in."""

    guest_for: Callable[[Any], Guest]
    _manager: Any = None
    _running: asyncio.Task[None] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self._started()).handle_request(scope, receive, send)

    async def _started(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        async with self._lock:
            if self._manager is None:
                # Without sessions any worker can take any call.
                manager = StreamableHTTPSessionManager(
                    mcp_server(self.guest_for), stateless=True, json_response=True
                )
                up = asyncio.Event()
                self._running = asyncio.create_task(_hold(manager, up))
                await up.wait()
                self._manager = manager
        return self._manager


async def _hold(manager: Any, up: asyncio.Event) -> None:
    async with manager.run():
        up.set()
        await asyncio.Event().wait()


class Answered(Response):
    """An answer that the protocol's machinery writes itself."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__()
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint.handle(scope, receive, send)


@router.api_route("/mcp", methods=["GET", "POST", "DELETE"], include_in_schema=False)
async def mcp(request: Request) -> Response:
    """Streamable HTTP. A page of another site cannot send a token, so a cookie is not enough."""
    if who(request).via != "bearer":
        raise Rejected(401, "no_credentials", "this needs a token, not a cookie")
    state = request.app.state
    if not hasattr(state, "mcp"):
        state.mcp = Endpoint(_guests(state.service))
    return Answered(state.mcp)


def _guests(service: Service) -> Callable[[Any], Guest]:
    known: dict[tuple[str, bool], Guest] = {}

    async def open_vault() -> Vault:
        return service.vault

    def guest_for(request: Any) -> Guest:
        identity: Identity = who(request)
        key = (identity.owner, identity.may("contributor"))
        if key not in known:
            desk = service.desk(identity.owner)
            most = desk.settings.get("max_file_bytes", int) or 0
            known[key] = guest_of(desk.store, desk.folder, open_vault, most, may_write=key[1])
        return known[key]

    return guest_for
