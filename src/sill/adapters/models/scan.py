"""Model servers on this machine's standard ports. Plain sockets: a look must not cost an HTTP library's start-up."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .catalogue import Server, read_models, server_of

# The order is the order of preference.
STANDARD_PORTS = (8080, 11434, 1234, 8000)
_ANSWER_LIMIT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LocalEndpoint:
    base_url: str
    server: Server
    models: tuple[str, ...] = ()
    state: Literal["ready", "loading", "wants a key"] = "ready"


async def find_local_endpoints(
    ports: Sequence[int] = STANDARD_PORTS, seconds: float = 0.15
) -> list[LocalEndpoint]:
    """Servers on loopback that really are model servers, within ``seconds`` altogether.

    Only ``GET /v1/models`` is sent, only to 127.0.0.1, never with a key. Servers that want a key, or are still
    loading, come last.
    """
    found = await asyncio.gather(*(_look(port, seconds) for port in ports))
    return sorted((one for one in found if one is not None), key=lambda one: one.state != "ready")


async def _look(port: int, seconds: float) -> LocalEndpoint | None:
    try:
        async with asyncio.timeout(seconds):
            return recognise(port, await _get("/v1/models", port))
    except (OSError, TimeoutError, ValueError):
        return None


async def _get(path: str, port: int) -> bytes:
    # 1.0 asks for an answer without chunks that ends where the connection does.
    request = f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request.encode())
        answer = b""
        while piece := await reader.read(65536):
            answer += piece
            if len(answer) > _ANSWER_LIMIT or _is_whole(answer):
                break
        return answer
    finally:
        writer.close()


def _is_whole(answer: bytes) -> bool:
    """Some servers keep the connection open all the same."""
    top, found, body = answer.partition(b"\r\n\r\n")
    for line in top.split(b"\r\n")[1:] if found else []:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            return len(body) >= int(value)
    return False


def recognise(port: int, answer: bytes) -> LocalEndpoint | None:
    """The model server that gave this whole answer to ``GET /v1/models``, if it is one."""
    top, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = top.decode("latin-1").split("\r\n")
    status = first.split(" ")[1] if first.startswith("HTTP/1.") and " " in first else ""
    is_llama = any(line.lower().strip() == "server: llama.cpp" for line in lines)
    base_url = f"http://127.0.0.1:{port}/v1"
    if is_llama and status in ("401", "503"):
        return LocalEndpoint(
            base_url, "llama.cpp", (), "wants a key" if status == "401" else "loading"
        )
    value = json.loads(body) if status == "200" else None
    if not isinstance(value, Mapping) or value.get("object") != "list":
        return None
    models = read_models(value)
    if models is None:
        return None
    usual: dict[int, Server] = {11434: "ollama"}  # an Ollama without models has an empty list
    server = server_of(models, "127.0.0.1")
    if server == "unknown" and not models:
        server = usual.get(port, "unknown")
    return LocalEndpoint(base_url, server, tuple(model.id for model in models))
