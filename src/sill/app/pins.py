"""What a user pinned in a chat stays in its window: turns by the engine, files by being part of every question.

await app.store.pin(chat, Pin(turn=…)) / pin(chat, Pin(path=…)), unpin(chat, …), pins(chat)
"""

import asyncio
from dataclasses import replace
from pathlib import Path

from ..engine.prepare import Question
from ..ports import Store
from .gather import gather


async def with_pinned(
    store: Store, chat: str | None, question: Question, folder: Path, max_bytes: int
) -> Question:
    """The question with the chat's pinned files before all others, each as it is on disk now."""
    paths = [pin.path for pin in await store.pins(chat) if pin.path] if chat is not None else []
    if not paths:
        return question
    found = (await asyncio.to_thread(gather, folder, "", paths, max_bytes)).question
    known = {document.path: document for document in question.documents}
    pinned = {document.path: known.get(document.path, document) for document in found.documents}
    return replace(
        question,
        documents=(*pinned.values(), *(one for path, one in known.items() if path not in pinned)),
        missing=tuple(dict.fromkeys((*question.missing, *found.missing))),
        linked=tuple(path for path in question.linked if path not in pinned),
        pinned=tuple(pinned),
    )
