"""What a conversation in the terminal knows of itself."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .desk import Desk
from .meter import Meter

if TYPE_CHECKING:
    from ...app import App
    from ...core.references import Reference
    from ...engine.events import Finished, Started


@dataclass(slots=True)
class Session:
    """One conversation: its chat, its files, and what was said last."""

    desk: Desk
    files: list[str] = field(default_factory=list)
    chat: str | None = None
    go_on: bool = False  # with the folder's latest chat, once the store is open
    is_interactive: bool = False
    started: "Started | None" = None
    finished: "Finished | None" = None
    sources: "Sequence[Reference]" = ()  # of the last answer, as they were numbered
    makes_room: bool = False  # the next message lets old turns leave
    models: list[str] = field(default_factory=list)  # that the endpoint lists, for completion
    meter: Meter = field(default_factory=Meter)
    cost_since_ms: int = 0  # where `:cost reset` was said
    code: int = 0  # how the last answer ended
    leaving: bool = False
    _entering: asyncio.Lock = field(default_factory=asyncio.Lock)
    unsent: str = ""  # what was typed and did not reach a model; the next prompt offers it again

    @property
    def folder(self) -> Path:
        return self.desk.where.folder

    async def app(self) -> "App":
        """The open application; the chat to go on with is known from here on."""
        app = await self.desk.app()
        async with self._entering:
            if self.go_on:
                latest = await app.latest_chat()
                if latest is not None:
                    await self.enter(latest)
                self.go_on = False
        return app

    async def enter(self, chat: str | None) -> None:
        """Go on with this chat (None: a new one) and the files its last question was about."""
        self.chat, self.started, self.finished, self.sources = chat, None, None, ()
        self.meter = self.meter.emptied()
        if chat is None:
            return
        from ...core.references import read_rows

        store = (await self.desk.app()).store
        last = await store.turns(chat, limit=1)
        for reference in read_rows(last[-1].references) if last else ():
            if reference.path and reference.origin in ("file", "link"):
                self.add_files([reference.path])
        await self.refresh_meter()

    def add_files(self, names: Sequence[str]) -> list[str]:
        """Put files into the chat; those that were not in it."""
        new = [name for name in dict.fromkeys(names) if name not in self.files]
        self.files += new
        return new

    async def refresh_meter(self) -> None:
        """What the bottom line shows, as it is now."""
        from .meter import measured

        self.meter = await measured(self, await self.desk.app())


@dataclass(frozen=True, slots=True)
class Given:
    """What follows a command's name."""

    text: str

    @property
    def words(self) -> list[str]:
        """Separated by blanks; quotes keep a name together."""
        import shlex

        try:
            return shlex.split(self.text)
        except ValueError:  # an apostrophe
            return self.text.split()
