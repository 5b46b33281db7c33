"""Edits of one folder: what may be edited, who proposes, what is carried out and what is remembered of it."""

import asyncio
import getpass
import hashlib
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..adapters.models.formats import FormatMemory, with_format
from ..adapters.vault import apply as vault_apply
from ..adapters.vault import undo as vault_undo
from ..adapters.vault.apply import Outcome, approve
from ..adapters.vault.job import Applied, Conflict, Stamp
from ..adapters.vault.journal import Transaction
from ..adapters.vault.lines import decode
from ..adapters.vault.paths import RefusedPath, SafePath, check_path, check_paths
from ..adapters.vault.read import read_bytes
from ..adapters.vault.recover import Recovered, recover
from ..adapters.vault.transact import Workspace
from ..core.constrain import SMALL
from ..core.edits import Rejected, Scope
from ..core.ops import Op, Replace, Span, Whole
from ..core.proposal import Preview, Proposal, accept, preview, tell_model
from ..core.reply import Format
from ..engine.edit import Editor, Shape
from ..engine.editing import Editing
from ..engine.proposals import Chosen, Kept, every_hunk, written
from ..errors import FileRefused, UsageError
from ..paths import private, state_dir
from ..ports import Store
from ..records import ProposalStatus, StoredProposal
from ..settings import Settings
from .build import App

T = TypeVar("T")
Turned = Applied | Conflict | vault_apply.Refused | vault_undo.Nothing
_WAIT_S = 30.0  # for the database, while a transaction on files is being recorded


@dataclass(frozen=True, slots=True)
class Offered:
    """A stored proposal and what it would do."""

    id: str
    shown: Preview


@dataclass(slots=True)
class Edits:
    """The one door through which files of ``folder`` are changed."""

    folder: Path
    store: Store
    home: Path
    by: str

    async def recover(self) -> tuple[Recovered, ...]:
        """Bring to an end what a crash has left; to be done before any file is read."""
        return await self._at_work(lambda workspace: recover(workspace, _now_ms()))

    async def apply(self, offered: Offered, chosen: Chosen | None = None) -> Outcome | None:
        """Carry out the chosen hunks (None: all of them) as one transaction; None if none was chosen.

        Hidden files are agreed to with the rest: only files that the user named can be in a proposal.
        """
        everything = every_hunk(offered.shown)
        taken = everything if chosen is None else _tidy(offered.shown, chosen)
        if not taken:
            await self.store.decide_proposal(offered.id, "refused", self.by)
            return None
        if taken == everything:
            return await self._carry_out(offered)
        told = tell_model(offered.shown, taken)
        part = await self.offer(accept(offered.shown, taken), of=offered.id, told=told)
        outcome = await self._carry_out(part)
        await self.store.decide_proposal(offered.id, "refused", self.by)
        return outcome

    async def offer(self, proposal: Proposal, of: str, told: str = "") -> Offered:
        """Store a proposal that was made from another one: a part of it, or a merge."""
        shown = preview(proposal)
        if isinstance(shown, Rejected):
            raise ValueError("what was made from a proposal must fit the same files")
        origin = await self.store.proposal(of)
        id = secrets.token_hex(8)
        if origin is not None:
            body = written(Kept(proposal, of, told))
            await self.store.add_proposal(StoredProposal(id, origin.chat, origin.turn, body))
        return Offered(id, shown)

    async def _carry_out(self, offered: Offered) -> Outcome:
        shown = offered.shown
        hidden = [file.path for file in shown.files if _is_hidden(file.path)]
        await asyncio.to_thread(self._name, shown.patch_id, offered.id)
        outcome = await self._at_work(
            lambda workspace: vault_apply.apply(
                workspace, shown.proposal, approve(shown, hidden), self._stamp()
            )
        )
        if isinstance(outcome, Applied):
            await self.prune()
        else:
            status: ProposalStatus = "conflict" if isinstance(outcome, Conflict) else "refused"
            await self.store.decide_proposal(offered.id, status, self.by)
        return outcome

    async def save(self, path: str, before: str | None, after: str) -> Outcome:
        """Write what a person wrote, exactly, where the file is still ``before``; ``undo`` takes it back."""
        change: Op = Replace(path, Whole() if before is None else Span(0, len(before)), after)
        proposal = Proposal(f"Saved {path}", (change,), {path: before})
        shown = preview(proposal)
        if isinstance(shown, Rejected):
            return shown
        outcome = await self._at_work(
            lambda place: vault_apply.apply(place, proposal, approve(shown), self._stamp())
        )
        if isinstance(outcome, Applied):
            await self.prune()
        return outcome

    async def undo(self, id: str | None = None) -> Turned:
        """Take back what was applied last, or the transaction named."""
        return await self._at_work(lambda place: vault_undo.undo(place, self._stamp(), id))

    async def redo(self, id: str | None = None) -> Turned:
        return await self._at_work(lambda place: vault_undo.redo(place, self._stamp(), id))

    async def turning(self, which: vault_undo.Which) -> vault_undo.Turning | vault_undo.Nothing:
        """What an undo or redo would do, for a person who merges it with what has changed since."""
        return await self._at_work(lambda place: vault_undo.turning(place, self._stamp(), which))

    async def turn_merged(
        self, which: vault_undo.Which, shown: Preview
    ) -> Outcome | vault_undo.Nothing:
        """Undo or redo as it was merged and shown, in every file or in none."""
        approval = approve(shown, [file.path for file in shown.files if _is_hidden(file.path)])
        return await self._at_work(
            lambda place: vault_undo.turn_merged(
                place, self._stamp(), which, shown.proposal, approval
            )
        )

    async def history(self, limit: int | None = None) -> tuple[vault_undo.Record, ...]:
        """What was applied, newest first."""
        return await self._at_work(lambda place: vault_undo.history(place, limit))

    async def prune(self) -> tuple[str, ...]:
        """Forget what is past both limits of the history."""
        return await self._at_work(lambda place: vault_undo.prune(place, _now_ms()))

    # --- What is remembered ----------------------------------------------------------------------

    async def _at_work(self, work: Callable[[Workspace], T]) -> T:
        """Work on files in a thread; every transaction it commits is written down in the store."""
        loop = asyncio.get_running_loop()

        def record(transaction: Transaction) -> None:
            _wait_for(self._decided(transaction), loop)

        return await asyncio.to_thread(work, Workspace(self.folder, self.home / "journal", record))

    async def _decided(self, transaction: Transaction) -> None:
        id = self._named(transaction.patch_id)
        # Its chat may have been deleted; the files can be undone all the same.
        if id is not None and await self.store.proposal(id) is not None:
            status: ProposalStatus = "undone" if transaction.kind == "undo" else "applied"
            await self.store.decide_proposal(id, status, transaction.by)

    def _name(self, patch_id: str, proposal: str) -> None:
        """Note which stored proposal a transaction belongs to, before there is one."""
        (private(self.home / "proposals") / _file_name(patch_id)).write_text(proposal)

    def _named(self, patch_id: str) -> str | None:
        with suppress(OSError):
            return (self.home / "proposals" / _file_name(patch_id)).read_text()
        return None

    def _stamp(self) -> Stamp:
        return Stamp(_now_ms(), self.by)


def open_edits(folder: Path, store: Store) -> Edits:
    """The edits of ``folder``; their journal lies outside of it, under the user's state directory."""
    key = hashlib.sha256(str(folder).encode(errors="surrogateescape")).hexdigest()[:16]
    return Edits(folder, store, private(private(state_dir() / "edits") / key), _user())


def editor_for(app: App, settings: Settings) -> Editing:
    """Who proposes edits: the application's models, each asked the way it can be and the profile says."""
    memory = FormatMemory()
    preferred = _format(settings.of_profile("chat_ops", "format", str))
    is_enabled = settings.of_profile("chat_ops", "enabled", bool) is not False

    def editor_at(number: int) -> Editor:
        there, chat = app.seats[number].connection, app.failover.places[number].chat
        assert there is not None and chat is not None
        has_grammar = there.server == "llama.cpp"
        return Editor(
            chat,
            Shape(
                lambda: memory.best_way(there.base_url, there.model, has_grammar=has_grammar),
                with_format,
                lambda way: memory.refuse(there.base_url, there.model, way),
            ),
            preferred=preferred,
            # The bundled model is small: without limits it would fill the whole reply.
            limits=SMALL if there.kind == "local" else None,
            is_enabled=is_enabled,
        )

    return Editing(app.failover, editor_at)


def _format(name: str | None) -> Format:
    match name:
        case "json" | "blocks":
            return name
        case _:
            return "schema"


# --- What may be edited ---------------------------------------------------------------------------


def read_scope(
    folder: Path, names: Sequence[str], lines: tuple[int, int] | None, max_bytes: int
) -> Scope:
    """The named files as they are now; one that does not exist yet may be made.

    ``lines`` are the selected ones of the first file, both included, from 1.
    """
    paths = list(dict.fromkeys(_relative(folder, name) for name in names))
    for checked in check_paths(paths):
        if isinstance(checked, RefusedPath):
            raise FileRefused(checked.path, checked.reason, hint="Sill does not edit it")
    documents = {path: _text(folder, path, max_bytes) for path in paths}
    active = paths[0] if paths else None
    text = documents[active] if active else None
    if lines is None:
        return Scope(documents, active)
    if text is None:
        raise UsageError("there is nothing to select: the first file does not exist")
    return Scope(documents, active, selected(text, *lines))


def selected(text: str, first: int, last: int) -> Span:
    """Lines ``first`` to ``last`` without the end of the last one."""
    lines = text.split("\n")
    if not 1 <= first <= last <= len(lines):
        raise UsageError(f"lines {first}:{last} are not in the file", hint=f"it has {len(lines)}")
    start = sum(len(line) + 1 for line in lines[: first - 1])
    return Span(start, start + len("\n".join(lines[first - 1 : last])))


def _relative(folder: Path, name: str) -> str:
    path = Path(name).expanduser()
    try:
        return (path.relative_to(folder) if path.is_absolute() else path).as_posix()
    except ValueError:
        raise FileRefused(name, "is not in the folder", hint=f"which is {folder}") from None


def _text(folder: Path, path: str, max_bytes: int) -> str | None:
    location = folder / path
    if location.is_symlink():
        raise FileRefused(path, "is a link", hint="name the file it leads to")
    if not location.exists():
        return None
    decoded = decode(read_bytes(location, path, max_bytes))
    if decoded is None:
        raise FileRefused(path, "is neither UTF-8 nor UTF-16 text", hint="it cannot be edited")
    return decoded.text


def _is_hidden(path: str) -> bool:
    checked = check_path(path)
    return isinstance(checked, SafePath) and checked.is_sensitive


def _tidy(shown: Preview, chosen: Chosen) -> dict[str, tuple[int, ...]]:
    """The chosen hunks that exist, in order; files without any are left out."""
    taken = {
        path: tuple(number for number in numbers if number in chosen.get(path, ()))
        for path, numbers in every_hunk(shown).items()
    }
    return {path: numbers for path, numbers in taken.items() if numbers}


def _wait_for(work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> None:
    asyncio.run_coroutine_threadsafe(work, loop).result(_WAIT_S)


def _file_name(patch_id: str) -> str:
    return patch_id.removeprefix("sha256:")[:40] or "none"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
