"""An editor's backend in sixty lines: the page sends a file and a wish, and gets a previewed change.

uvicorn examples.editor_backend:app        # SILL_FOLDER says which folder
"""

import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

import sill

state: dict[str, sill.Workspace] = {}
proposals: dict[str, sill.Proposal] = {}


@asynccontextmanager
async def life(_: FastAPI) -> AsyncIterator[None]:
    state["workspace"] = sill.open(os.environ.get("SILL_FOLDER", "."))
    yield
    state.pop("workspace").close()


app = FastAPI(lifespan=life)


class Ask(BaseModel):
    question: str
    files: list[str] = []
    chat: str | None = None


class Wish(BaseModel):
    instruction: str
    file: str


@app.post("/ask")
def ask(body: Ask) -> StreamingResponse:
    """The answer as server-sent events; the last one says how it ended and what it cost."""
    chat = state["workspace"].chat(body.chat, files=body.files)

    def events() -> Iterator[str]:
        for event in chat.stream(body.question):
            match event:
                case sill.Delta(text=text):
                    yield f"data: {json.dumps({'text': text})}\n\n"
                case sill.Finished() | sill.Refused():
                    done = {"chat": chat.id, "reason": event.reason, "cost": event.cost}
                    yield f"event: done\ndata: {json.dumps(done)}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


@app.post("/propose")
def propose(body: Wish) -> dict[str, object]:
    proposal = state["workspace"].edit(body.instruction, [body.file])
    if proposal.shown is not None:
        proposals[proposal.shown.patch_id] = proposal
    patch = proposal.shown.patch_id if proposal.shown else None
    return {"patch_id": patch, "message": proposal.message, "diff": proposal.diff}


@app.post("/apply/{patch_id}")
def apply(patch_id: str) -> dict[str, object]:
    """Only what was shown can be applied, and only to the file states it was made from."""
    if (proposal := proposals.pop(patch_id, None)) is None:
        raise HTTPException(404, "there is no such proposal")
    change = proposal.apply()
    return {"applied": change.applied, "conflicts": change.conflicts, "reason": change.reason}
