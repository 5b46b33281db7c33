"""Ask an endpoint what it is: its server, its models, the true window, what it can do."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

import httpx

from ...core.faults import Fault
from ...core.request import encode
from .catalogue import (
    Ability,
    Described,
    Listed,
    Server,
    Window,
    read_lm_studio,
    read_models,
    read_ollama_running,
    read_ollama_show,
    read_props,
    server_of,
)
from .endpoints import parse_endpoint
from .scan import LocalEndpoint, find_local_endpoints
from .transport import Transport

__all__ = ["Discovery", "LocalEndpoint", "Window", "discover", "find_local_endpoints"]


@dataclass(frozen=True, slots=True)
class Discovery:
    """What is known of one model at one endpoint; None and empty mean that nobody told."""

    endpoint: str
    server: Server
    models: tuple[str, ...] = ()
    model: str | None = None  # the one the rest is about
    window: Window | None = None
    trained: int | None = None
    abilities: frozenset[Ability] | None = None
    template: str | None = None
    slots: int | None = None


async def discover(
    base_url: str,
    api_key: str | None = None,
    *,
    model: str | None = None,
    seconds: float = 2.0,
    client: httpx.AsyncClient | None = None,
) -> Discovery:
    """What the endpoint tells about ``model``, or about the first one it lists.

    Raises a ``ProviderError`` where no chat could work either: nobody there, no answer in time, key refused,
    a web page instead of an API. An endpoint that merely has no model list gives an empty answer.
    """
    endpoint = parse_endpoint(base_url)
    transport = Transport(endpoint, api_key, client=client)
    try:
        body = await transport.fetch(f"{endpoint.api}/models", seconds=seconds)
        if isinstance(body, Fault) and body.kind not in ("address", "request", "unsupported"):
            raise transport.error(body, model or "")
        listed = None if isinstance(body, Fault) else read_models(body)
        server = server_of(listed or (), endpoint.host)
        if server == "unknown" and endpoint.is_local:
            server = await _ask_who(transport, seconds)
        return await _describe(transport, server, listed or (), model, seconds)
    finally:
        await transport.close()


async def _describe(
    transport: Transport,
    server: Server,
    listed: tuple[Listed, ...],
    model: str | None,
    seconds: float,
) -> Discovery:
    chosen = next((entry for entry in listed if model in (None, entry.id)), None)
    if chosen is None and server == "llama.cpp" and listed:
        chosen = listed[0]  # it serves its one model under any name
    name = model or (chosen.id if chosen else None)
    known = Discovery(
        endpoint=transport.endpoint.api,
        server=server,
        models=tuple(entry.id for entry in listed),
        model=name,
        window=chosen.window if chosen else None,
        trained=chosen.trained if chosen else None,
        abilities=chosen.abilities if chosen else None,
    )
    told = await _tell_more(transport, server, name, seconds)
    if told is None:
        return known
    return replace(
        known,
        window=told.window or known.window,
        trained=told.trained or known.trained,
        abilities=told.abilities if told.abilities is not None else known.abilities,
        template=told.template,
        slots=told.slots,
    )


async def _tell_more(
    transport: Transport, server: Server, model: str | None, seconds: float
) -> Described | None:
    root = transport.endpoint.root
    match server:
        case "llama.cpp":
            return read_props(await transport.fetch(f"{root}/props", seconds=seconds))
        case "ollama" if model is not None:
            shown, running = await asyncio.gather(
                transport.fetch(f"{root}/api/show", encode({"model": model}), seconds=seconds),
                transport.fetch(f"{root}/api/ps", seconds=seconds),
            )
            described = read_ollama_show(shown) or Described()
            loaded = read_ollama_running(running, model)
            return replace(described, window=loaded or described.window)
        case "lm studio" if model is not None:
            body = await transport.fetch(f"{root}/api/v0/models", seconds=seconds)
            return Described(window=read_lm_studio(body, model))
        case _:
            return None


async def _ask_who(transport: Transport, seconds: float) -> Server:
    """A local server whose model list gives nothing away, perhaps because it is empty."""
    root = transport.endpoint.root
    version, props = await asyncio.gather(
        transport.fetch(f"{root}/api/version", seconds=seconds),
        transport.fetch(f"{root}/props", seconds=seconds),
    )
    if read_props(props) is not None:
        return "llama.cpp"
    if isinstance(version, Mapping) and isinstance(version.get("version"), str):
        return "ollama"
    return "unknown"
