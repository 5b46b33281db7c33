"""Whether the documents that an answer rests on are still what was quoted."""

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from ..adapters.vault.lines import decode
from ..adapters.vault.scan import read_inside
from ..core.messages import Fingerprint
from ..core.references import Freshness, Reference, freshness
from ..core.summaries import summarize
from .depend import TheDesk
from .schemas.common import Name, Text, Wire

router = APIRouter(prefix="/api/v1", tags=["references"])
MOST_BYTES = 64_000_000

Line = Annotated[int, Field(ge=1, le=2**31)]


class Quoted(Wire):
    """A reference as a turn has it: the state of the document that was quoted, and where."""

    path: Name
    fingerprint: str | None = Field(None, max_length=100)
    lines: tuple[Line, Line] | None = None
    excerpt: Text = ""


class QuotedList(Wire):
    references: list[Quoted] = Field(max_length=500)


class QuotedState(Wire):
    """``lines``: where the quoted text stands now, if it can be found."""

    stale: bool
    gone: bool
    lines: tuple[int, int] | None = None
    summary: str = ""


class QuotedStates(Wire):
    states: list[QuotedState] = Field(description="in the order in which they were asked for")


@router.post("/references/freshness")
async def look(desk: TheDesk, body: QuotedList) -> QuotedStates:
    """How each reference stands to its document as it is now. Reads files; writes nothing."""
    paths = {one.path for one in body.references}
    texts = {path: await asyncio.to_thread(_text, desk.folder, path) for path in paths}
    return QuotedStates(states=[_state(one, texts[one.path]) for one in body.references])


def _text(folder: Path, path: str) -> str | None:
    """The file's text; None if it is gone, hidden, or not text."""
    if "\0" in path or any(not part or part.startswith(".") for part in path.split("/")):
        return None
    try:
        data = read_inside(folder, path, MOST_BYTES)
    except (OSError, ValueError):
        return None
    decoded = None if data is None else decode(data)
    return None if decoded is None else decoded.text


def _state(quoted: Quoted, text: str | None) -> QuotedState:
    told: Freshness = freshness(
        Reference(
            "file",
            quoted.path,
            quoted.lines,
            None if quoted.fingerprint is None else Fingerprint(quoted.fingerprint),
            quoted.excerpt,
        ),
        text,
    )
    summary = "" if text is None else summarize(text).text
    return QuotedState(stale=told.stale, gone=told.gone, lines=told.lines, summary=summary)
