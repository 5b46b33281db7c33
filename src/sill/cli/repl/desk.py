"""The application behind the prompt: opened while the user types, and anew for another model."""

import asyncio
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import SillError
from ..common import Where, settled

if TYPE_CHECKING:
    from ...app import App
    from ...settings import Scalar

Tell = Callable[[str], None]


class Desk:
    """Opens what is needed when it is needed, closes all of it in the end."""

    def __init__(self, given: Mapping[str, Any], where: Where, tell: Tell) -> None:
        self.given = dict(given)
        self.where = where
        self.problem = ""  # why there is no model, if there is none
        self.tell = tell
        self._open: dict[str, _Opened] = {}  # by profile

    def _say(self, text: str) -> None:
        self.tell(text)

    @property
    def ready(self) -> "App | None":
        """The chat's application, if it is open by now."""
        opened = self._open.get("chat")
        return opened.app if opened else None

    def start(self) -> None:
        """Begin to open the chat's application; ``app`` waits for it."""
        if "chat" not in self._open:
            self._open["chat"] = _Opened(self.where, "chat", self._say)

    async def app(self, profile: str = "chat") -> "App":
        """``SillError`` if it cannot be opened; the next call tries again."""
        if profile not in self._open:
            self._open[profile] = _Opened(self.where, profile, self._say)
        opened = self._open[profile]
        try:
            app = await opened.wait()
        except SillError as error:
            self.problem = str(error)
            if self._open.get(profile) is opened:
                del self._open[profile]
            raise
        self.problem = ""
        return app

    async def switch(self, **flags: "Scalar | None") -> "App":
        """The chat goes on with these settings. If they do not work, everything stays as it was."""
        given = {**self.given, "flags": {**(self.given.get("flags") or {}), **flags}}
        where = settled(given)
        opened = _Opened(where, "chat", self._say)
        try:
            app = await opened.wait()
        except SillError:
            await opened.close()
            raise
        before = list(self._open.values())
        self.given, self.where, self.problem = given, where, ""
        self._open = {"chat": opened}
        for one in before:
            await one.close()
        return app

    async def close(self) -> None:
        for opened in self._open.values():
            await opened.close()
        self._open = {}


class _Opened:
    """One open application, kept by a task of its own: what was entered there is left there."""

    def __init__(self, where: Where, profile: str, tell: Tell) -> None:
        self._leave = asyncio.Event()
        self._ready: asyncio.Future[App] = asyncio.get_running_loop().create_future()
        self._ready.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._task = asyncio.create_task(self._keep(where, profile, tell))

    @property
    def app(self) -> "App | None":
        is_there = self._ready.done() and not self._ready.cancelled()
        return self._ready.result() if is_there and self._ready.exception() is None else None

    async def wait(self) -> "App":
        return await asyncio.shield(self._ready)

    async def close(self) -> None:
        self._leave.set()
        if not self._ready.done():
            self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled() and (error := self._task.exception()) is not None:
            raise error

    async def _keep(self, where: Where, profile: str, tell: Tell) -> None:
        try:
            # Half a second of imports must not hold up the keyboard.
            module = await asyncio.to_thread(importlib.import_module, "sill.app")
            async with module.open_app(where.settings, where.folder, tell, profile=profile) as app:
                self._ready.set_result(app)
                await self._leave.wait()
        except asyncio.CancelledError:
            self._ready.cancel()
            raise
        except Exception as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)
