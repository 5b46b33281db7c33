"""What is remembered of a folder: added, found, changed and forgotten; and documents that are used often.

await remember(store, workspace, text, turn) / recollect(store, workspace, words) / forget(store, workspace, id)
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..core.notes import about_document, matching, used_often
from ..core.references import Reference, read_rows
from ..core.summaries import summarize
from ..engine.events import Finished
from ..engine.notes import Notebook
from ..engine.tools.notebook import LONGEST
from ..errors import FileRefused, UsageError
from ..ports import Store
from ..records import Note
from ..settings import Settings

_REFERRED = ("link", "read", "quote", "file")  # a passage that a search brought may mean nothing
_SUMMARY = 160  # characters


def notebook_of(settings: Settings, store: Store, folder: Path) -> Notebook | None:
    """What goes with the questions of this folder; None where the settings say that nothing does."""
    if settings.get("memory", bool) is False:
        return None
    return Notebook(store, str(folder), lambda path: (folder / path).is_file())


# --- Facts ----------------------------------------------------------------------------------------


async def remember(store: Store, workspace: str, text: str, turn: str = "") -> Note:
    """The note that holds this text: a new one, unless it was remembered already."""
    wanted = _checked(text)
    known = {note.text: note for note in await store.notes(workspace)}
    if wanted not in known:
        id = await store.note(workspace, wanted, turn)
        return await note_of(store, workspace, id)
    return known[wanted]


async def reword(store: Store, workspace: str, id: str, text: str) -> Note:
    note = await note_of(store, workspace, id)
    await store.change_note(note.id, _checked(text))
    return await note_of(store, workspace, note.id)


async def forget(store: Store, workspace: str, id: str) -> Note:
    """The note that is no more. Of a document nothing is remembered by itself again."""
    note = await note_of(store, workspace, id)
    await store.forget_note(note.id)
    return note


async def forget_all(store: Store, workspace: str) -> int:
    notes = await store.notes(workspace)
    for note in notes:
        await store.forget_note(note.id)
    return len(notes)


async def recollect(store: Store, workspace: str, words: str) -> list[Note]:
    """Notes that share a word with ``words``, best first."""
    notes = await store.notes(workspace)
    return [notes[place] for place in matching([note.text for note in notes], words)]


async def note_of(store: Store, workspace: str, beginning: str) -> Note:
    """The one note of the workspace whose id begins so."""
    found = [one for one in await store.notes(workspace) if one.id.startswith(beginning)]
    if len(found) != 1 or not beginning:
        what = "more than one" if found else "no"
        raise UsageError(f"{what} fact begins with {beginning!r}", hint="list them for their ids")
    return found[0]


def _checked(text: str) -> str:
    wanted = text.strip()
    if not wanted:
        raise UsageError("there is nothing to remember in an empty text")
    if len(wanted) > LONGEST:
        hint = "keep the long text in a note of the folder, and remember where it is"
        raise UsageError(
            f"a fact may have {LONGEST:,} characters, this has {len(wanted):,}", hint=hint
        )
    return wanted


# --- Documents that are used often ----------------------------------------------------------------


@dataclass(slots=True)
class Habits:
    """Notes of the documents that chats use often. What was written down of every turn is read once."""

    store: Store
    folder: Path
    max_bytes: int
    _uses: list[tuple[str, frozenset[str]]] | None = None
    _known: set[str] = field(default_factory=set)  # documents that need not be looked at again

    async def learn(self, finished: Finished) -> None:
        """Take a turn into account, and note what is used often by now."""
        if finished.outcome != "complete" or not (now := _paths(finished.references)):
            return
        if self._uses is None:
            stored = await self.store.referred_to(str(self.folder))
            self._uses = [(chat, _paths(_read(rows))) for chat, rows in stored]
        else:
            self._uses.append((finished.chat, now))
        for path in used_often(self._uses):
            if path not in self._known:
                self._known.add(path)
                await self._note(path)

    async def _note(self, path: str) -> None:
        from ..adapters.vault.read import read_document

        try:
            document = await asyncio.to_thread(read_document, self.folder, path, self.max_bytes)
        except FileRefused:
            return
        text = about_document(path, summarize(document.text, _SUMMARY).text)
        await self.store.note_document(str(self.folder), path, text)


def _read(rows: str) -> tuple[Reference, ...]:
    try:
        return read_rows(rows)
    except (ValueError, KeyError, TypeError):
        return ()  # of another version of the program


def habits_of(settings: Settings, store: Store, folder: Path) -> Habits | None:
    if settings.get("memory", bool) is False:
        return None
    return Habits(store, folder, settings.get("max_file_bytes", int) or 0)


def _paths(references: Sequence[Reference]) -> frozenset[str]:
    return frozenset(one.path for one in references if one.path and one.origin in _REFERRED)
