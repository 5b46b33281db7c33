"""One MCP server: started when its tools are first asked for, in a task of its own, and closed there."""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from ...core.foreign import Foreign
from ...ports import ToolOutcome
from .results import text_of

if TYPE_CHECKING:
    from mcp.client.client import Client

State = Literal["idle", "ready", "failed", "closed"]
_MOST_PAGES = 50  # of a list of tools: one that never ends is cut
_MOST_RESTARTS = 3  # of a server that ended by itself
log = logging.getLogger("sill.mcp")


@dataclass(frozen=True, slots=True)
class Access:
    """How a server is reached: a command that is started in ``folder``, or an address.

    ``env`` is all that it gets of the environment beside PATH, HOME and the like. ``only`` are the names of tools
    that may be offered (empty: all). ``problem`` says why it cannot be reached at all.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    only: frozenset[str] = frozenset()
    timeout: float = 30.0
    folder: Path = Path()
    problem: str = ""

    @property
    def shown(self) -> str:
        return self.url or " ".join((self.command, *self.args))


@dataclass(slots=True)
class McpServer:
    """``tools`` never raises: a server that fails has none, and ``problem`` says why."""

    access: Access
    problem: str = ""
    _client: "Client | None" = None
    _tools: tuple[Foreign, ...] = ()
    _task: asyncio.Task[None] | None = None
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    _leave: asyncio.Event = field(default_factory=asyncio.Event)
    _starts: int = 0

    @property
    def name(self) -> str:
        return self.access.name

    @property
    def state(self) -> State:
        if self._task is None:
            return "closed" if self._starts else "idle"
        if self._client is not None:
            return "ready"
        return "failed" if self.problem else "idle"

    async def tools(self) -> Sequence[Foreign]:
        """What it offers. The first call starts it; one that failed is not tried again by itself."""
        if self._task is None and self._starts <= _MOST_RESTARTS:
            self._start()
        await self._settled.wait()
        return self._tools

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """What goes wrong is an outcome; a server that has ended is started again with the next question."""
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED

        client = self._client
        if client is None:
            return self._failed(f"the server {self.name} is not running")
        seconds = self.access.timeout
        try:
            async with asyncio.timeout(seconds):
                result = await client.call_tool(tool, dict(arguments))
        except TimeoutError:
            return self._failed(f"{tool} of {self.name} did not answer within {seconds:g} s")
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self.close()
                return self._failed(f"the server {self.name} has ended")
            return self._failed(f"{tool} of {self.name}: {error}")
        except (OSError, RuntimeError) as error:
            await self.close()
            return self._failed(f"the server {self.name} cannot be reached: {_words(error)}")
        return ToolOutcome(text_of(result), is_error=bool(result.is_error))

    @staticmethod
    def _failed(text: str) -> ToolOutcome:
        return ToolOutcome(text, is_error=True)

    async def restart(self) -> Sequence[Foreign]:
        await self.close()
        self._starts = 0
        return await self.tools()

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is None:
            return
        self._leave.set()
        if not self._settled.is_set():
            task.cancel()
        with suppress(asyncio.CancelledError, asyncio.TimeoutError):
            await task

    # --- The task --------------------------------------------------------------------------------

    def _start(self) -> None:
        self._starts += 1
        self.problem, self._tools = "", ()
        self._settled, self._leave = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._hold(self._settled, self._leave))

    async def _hold(self, settled: asyncio.Event, leave: asyncio.Event) -> None:
        with tempfile.TemporaryFile("w+", errors="replace") as said:
            try:
                if self.access.problem:
                    raise OSError(self.access.problem)
                async with AsyncExitStack() as stack:
                    async with asyncio.timeout(self.access.timeout):
                        client = await stack.enter_async_context(_connected(self.access, said))
                        self._tools = await _listed(client, self.access)
                    self._client = client
                    settled.set()
                    await leave.wait()
            except TimeoutError:
                self._explain(f"it did not answer within {self.access.timeout:g} s", said)
            except (
                Exception
            ) as error:  # somebody else's program: whatever it does, the chat goes on
                self._explain(_words(error), said)
            finally:
                self._client = None
                settled.set()

    def _explain(self, reason: str, said: IO[str]) -> None:
        if self._client is not None:
            return  # it was closed, and closing it was not worth a word
        last = _last_line(said)
        self.problem = f"{reason} (it said: {last})" if last else reason
        log.info("server %s: not started", self.name)


@asynccontextmanager
async def _connected(access: Access, said: IO[str]) -> "AsyncIterator[Client]":
    import httpx2
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        if access.url:
            clocks = httpx2.Timeout(access.timeout, read=max(300.0, access.timeout))
            http = httpx2.AsyncClient(headers=dict(access.headers), timeout=clocks)
            await stack.enter_async_context(http)
            transport = streamable_http_client(access.url, http_client=http)
        else:
            transport = stdio_client(
                StdioServerParameters(
                    command=access.command,
                    args=list(access.args),
                    env=dict(access.env),
                    cwd=access.folder,
                    encoding_error_handler="replace",
                ),
                errlog=said,  # type: ignore[arg-type]
            )
        yield await stack.enter_async_context(Client(transport, cache=None))


async def _listed(client: "Client", access: Access) -> tuple[Foreign, ...]:
    found: list[Foreign] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += [
            Foreign(access.name, one.name, one.description or "", one.input_schema)
            for one in page.tools
            if not access.only or one.name in access.only
        ]
        cursor = page.next_cursor
        if cursor is None:
            break
    return tuple(found)


def _words(error: BaseException) -> str:
    """The first real reason: errors of tasks come wrapped in groups."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return str(error) or type(error).__name__


def _last_line(said: IO[str]) -> str:
    said.flush()
    said.seek(0)
    lines = [line.strip() for line in said.read()[-4_000:].splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""
