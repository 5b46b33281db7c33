"""Tools over what was asked to be remembered in a workspace."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...core.notes import matching
from ...core.tools import Tool
from ...ports import Caller, Store, ToolOutcome
from ...records import Note
from .schemas import tool, words

MOST = 20  # notes of one answer
LONGEST = 2_000  # characters of one note

TOOLS = (
    tool(
        "store_in_memory",
        "Remember a fact for later chats.",
        {"text": words()},
        required=("text",),
    ),
    tool(
        "retrieve_from_memory",
        "Look up remembered facts.",
        {"query": words()},
        required=("query",),
    ),
)


class MemoryTools:
    """The notes of one workspace; each says which turn it came from."""

    def __init__(self, store: Store, workspace: str) -> None:
        self._store = store
        self._workspace = workspace

    async def tools(self) -> Sequence[Tool]:
        return TOOLS

    async def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> ToolOutcome:
        if name == "store_in_memory":
            return await self._remember(arguments["text"].strip(), caller)
        notes = await self._store.notes(self._workspace)
        found = relevant(notes, arguments["query"])[:MOST]
        return ToolOutcome("\n".join(f"- {note.text}" for note in found) or "nothing is remembered")

    async def _remember(self, text: str, caller: Caller) -> ToolOutcome:
        if not text:
            return ToolOutcome("there is nothing to remember in an empty text", is_error=True)
        if len(text) > LONGEST:
            problem = f"a fact may have {LONGEST:,} characters, this has {len(text):,}"
            return ToolOutcome(problem, is_error=True)
        known = await self._store.notes(self._workspace)
        if any(note.text == text for note in known):
            return ToolOutcome("this was remembered already")
        await self._store.note(self._workspace, text, caller.turn)
        return ToolOutcome("remembered")


def relevant(notes: Sequence[Note], query: str) -> list[Note]:
    """Notes that share a word with the query, best first; all of them, newest first, for a query without words."""
    return [notes[place] for place in matching([note.text for note in notes], query)]
