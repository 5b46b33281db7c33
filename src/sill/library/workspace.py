"""A folder, a model and the chats about it, for programs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from ..adapters.vault.index import DiskVault
from ..adapters.vault.undo import Nothing
from ..app import App, open_app
from ..app.edits import Edits, editor_for, open_edits, read_scope
from ..app.settle import settle
from ..app.vault import vault_of
from ..core.cost import DOLLAR
from ..core.edits import Rejected
from ..core.proposal import Preview, preview
from ..core.rank import Hit
from ..core.usage import plan_from_json
from ..engine.costs import add
from ..engine.edit import Wish
from ..engine.events import Event, Finished, Refused
from ..errors import UsageError
from ..ports import SearchMode, TokenCounter
from ..settings import Scalar, Settings
from .loop import Loop
from .proposals import Change, Proposal, change_of, proposal_of
from .values import Answer, Spent, Window, answer_of, window_of


def open(
    folder: str | Path = ".",
    *,
    counter: TokenCounter | None = None,
    settings: Mapping[str, Scalar | None] | None = None,
) -> "Workspace":
    """The workspace over ``folder``; close it, or use it in a ``with`` statement.

    ``settings`` go over those of files and environment, by the names of `sill.toml`: for example
    ``{"base_url": "http://127.0.0.1:8080/v1", "model": "qwen3-8b", "profile.chat.reply": 800}``. Without a
    ``base_url`` anywhere, a model on this machine is used. ``counter`` counts instead of the one that is
    found for the model.
    """
    place, settled = settle(Path(folder), settings or {}, hint="sill.open takes a folder")
    loop = Loop()
    workspace = Workspace(place, settled, loop, counter)
    try:
        loop.run(workspace._open())
    except BaseException:
        workspace.close()
        raise
    return workspace


@dataclass(slots=True)
class Workspace:
    """Everything Sill does with one folder. Methods block; call them from any thread."""

    folder: Path
    settings: Settings
    _loop: Loop
    _counter: TokenCounter | None = None
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _app: App | None = None
    _editing: App | None = None
    _vault: DiskVault | None = None
    _is_closed: bool = False

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what was started for it. Once is enough; twice does no harm."""
        if not self._is_closed:
            self._is_closed = True
            self._loop.run(self._stack.aclose())
            self._loop.close()

    # --- Talk ------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The model, where it is, its window, and how tokens are counted for it."""
        return self._open_app.description

    def chat(self, id: str | None = None, *, files: Sequence[str] = ()) -> "Chat":
        """A new chat about ``files``, or the one with this id."""
        return Chat(self, id, list(files))

    def ask(self, question: str, *, files: Sequence[str] = ()) -> Answer:
        """One question in a chat of its own."""
        return self.chat(files=files).ask(question)

    def explain(self, turn: str) -> Window:
        """What the request of a stored turn held, with its exact bytes."""
        found = self._loop.run(self._open_app.store.turn(turn))
        if found is None:
            raise UsageError(f"there is no turn {turn}", hint="an Answer has the id of its turn")
        return window_of(plan_from_json(found.plan), found.certificate, found.request)

    def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Tokens of each text, as this workspace's model counts."""
        return self._loop.run(self._open_app.chat.counter.count(texts)).tokens

    def spent(self) -> Spent:
        """What calls cost so far, over all chats of the database."""
        sums = add(self._loop.run(self._open_app.store.attempts()))
        return Spent(sums.cost / DOLLAR, sums.calls, sums.unknown + sums.priceless)

    # --- Notes -----------------------------------------------------------------------------------

    def search(self, query: str, *, limit: int = 10, mode: SearchMode = "hybrid") -> list[Hit]:
        """Passages of the folder that bear on ``query``, best first, from files as they are now."""

        async def look() -> list[Hit]:
            vault = await self._open_vault()
            await vault.refresh()
            return await vault.search(query, limit, mode)

        return self._loop.run(look())

    # --- Edits -----------------------------------------------------------------------------------

    def edit(
        self, instruction: str, files: Sequence[str], *, lines: tuple[int, int] | None = None
    ) -> Proposal:
        """Ask the model to change ``files``; ``lines`` are the selected ones of the first. Writes nothing."""
        largest = self.settings.get("max_file_bytes", int) or 0

        async def propose() -> Proposal:
            app = await self._open_editing()
            edits = open_edits(self.folder, app.store)
            await edits.recover()
            scope = read_scope(self.folder, files, lines, largest)
            reply = await editor_for(app, self.settings).ask(None, Wish(instruction, scope))
            shown: Preview | Rejected | None = preview(reply.proposal) if reply.proposal else None
            return proposal_of(
                reply, shown if isinstance(shown, Preview) else None, edits, self._loop
            )

        return self._loop.run(propose())

    def undo(self) -> Change:
        """Take back what was applied last, in the same all-or-nothing way."""
        return self._turned(redo=False)

    def redo(self) -> Change:
        """Do again what was undone last."""
        return self._turned(redo=True)

    def _turned(self, *, redo: bool) -> Change:
        async def turn() -> Change:
            edits: Edits = open_edits(self.folder, self._open_app.store)
            await edits.recover()
            outcome = await (edits.redo() if redo else edits.undo())
            if isinstance(outcome, Nothing):
                return Change(reason=f"there is nothing to {'redo' if redo else 'undo'}")
            return change_of(outcome)

        return self._loop.run(turn())

    # --- What is open ----------------------------------------------------------------------------

    @property
    def _open_app(self) -> App:
        if self._app is None or self._is_closed:
            raise UsageError("the workspace is closed", hint="open it again with sill.open")
        return self._app

    async def _open(self) -> None:
        self._app = await self._opened("chat")

    async def _open_editing(self) -> App:
        if self._editing is None:
            self._editing = await self._opened("chat_ops")
        return self._editing

    async def _opened(self, profile: str) -> App:
        opening = open_app(
            self.settings, self.folder, _quiet, profile=profile, counter=self._counter
        )
        return await self._stack.enter_async_context(opening)

    async def _open_vault(self) -> DiskVault:
        if self._vault is None:
            self._vault = vault_of(self.folder, self.settings)
            self._stack.push_async_callback(self._vault.close)
        return self._vault


@dataclass(slots=True)
class Chat:
    """A conversation. ``id`` is None until its first question was answered.

    Files in ``files`` are part of every question: sent once, and again only when they changed or fell out
    of the window.
    """

    _workspace: Workspace
    id: str | None = None
    files: list[str] = field(default_factory=list)

    def ask(self, question: str) -> Answer:
        """The whole answer. What does not fit is refused before it is sent."""
        last: Finished | Refused | None = None
        for event in self.stream(question):
            if isinstance(event, Finished | Refused):
                last = event
        assert last is not None  # every turn ends with one of them
        return answer_of(last)

    def stream(self, question: str) -> Iterator[Event]:
        """The turn as it happens; the last event is ``Finished`` or ``Refused``.

        Leaving the loop early stops the model and keeps what came.
        """
        workspace = self._workspace
        app = workspace._open_app
        gathered = workspace._loop.run(app.gather(question, self.files))
        if gathered.refused:
            raise gathered.refused[0]
        for event in workspace._loop.iterate(app.ask(self.id, gathered.question)):
            if isinstance(event, Finished):
                self.id = event.chat
            yield event

    def plan(self, question: str) -> Window | Answer:
        """What asking this would send, without sending it; a refused ``Answer`` where it cannot fit."""
        workspace = self._workspace
        app = workspace._open_app
        gathered = workspace._loop.run(app.gather(question, self.files))
        if gathered.refused:
            raise gathered.refused[0]
        ready = workspace._loop.run(app.plan(self.id, gathered.question))
        if isinstance(ready, Refused):
            return answer_of(ready)
        return window_of(ready.plan, ready.certificate, app.chat.wire(ready.request))


def _quiet(_: str) -> None:
    """A library prints nothing."""
