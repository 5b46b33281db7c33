"""The model, settings, costs, the index, and notes to remember."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query

from ..app import notes as notebook
from ..app.models import list_models
from ..app.service import Desk
from ..core.cost import DOLLAR
from ..core.notes import matching
from ..engine.costs import Sums, add, report
from ..errors import UsageError
from . import convert
from .answers import not_found
from .depend import TheDesk, TheService, admin, contributor
from .schemas.common import Done
from .schemas.workspace import (
    ChatCost,
    Cost,
    CostGroup,
    CostSums,
    IndexState,
    ModelRow,
    Models,
    ModelState,
    Note,
    Notes,
    NoteText,
    Setting,
    SettingsView,
)

router = APIRouter(prefix="/api/v1")
AGAIN_SECONDS = 5.0
_SCOPES = ("request", "chat", "day", "user")


@router.get("/model", tags=["model"])
async def model(desk: TheDesk) -> ModelState:
    """The model that answers, or why there is none. Asking starts it, and starts it again after a while."""
    desk.lazy().start(again_after=AGAIN_SECONDS)
    return _model_state(desk)


@router.get("/models", tags=["model"])
async def models(desk: TheDesk) -> Models:
    """The models of the endpoint, and how each would be counted."""
    rows = await list_models(desk.settings, lambda _: None)
    listed = [ModelRow.model_validate(asdict(row)) for row in rows]
    return Models(current=_model_state(desk), models=listed)


def _model_state(desk: Desk) -> ModelState:
    lazy = desk.lazy()
    if lazy.app is None:
        error = lazy.error
        return ModelState(state=lazy.state, message=str(error) if error else "")
    app = lazy.app
    there = app.connection
    return ModelState(
        state="ready",
        model=there.model,
        endpoint=there.base_url,
        window=there.window,
        window_source=there.window_source,
        counts=app.tokenizer.kind,
        tokenizer=app.tokenizer.id,
        counting=app.counting,
        price=app.price,
        is_local=there.is_local,
        fallbacks=[f"{name} ({barred})" if barred else name for name, barred in app.fallbacks],
    )


@router.get("/settings", tags=["model"], dependencies=[admin])
async def settings(desk: TheDesk) -> SettingsView:
    """Every setting and where it came from; of a secret only that it is set."""
    rows = [
        Setting(key=key, value=value, source=source) for key, value, source in desk.settings.shown()
    ]
    return SettingsView(settings=rows)


@router.get("/cost", tags=["cost"])
async def cost(desk: TheDesk, since: Annotated[int, Query(ge=0, le=2**53)] = 0) -> Cost:
    """What was spent since a moment, by day, model and category, and by chat."""
    rows = await desk.store.attempts(since)
    added = report(rows, _day)
    titles = {chat.id: chat.title for chat in await desk.store.chats()}
    ids = dict.fromkeys(row.attempt.chat for row in rows if row.attempt.chat)
    by_chat = [
        ChatCost(
            chat=id,
            title=titles.get(id, ""),
            **_numbers(add(row for row in rows if row.attempt.chat == id)),
        )
        for id in ids
    ]
    return Cost(
        groups=[
            CostGroup(day=day, model=name, category=category, **_numbers(sums))
            for (day, name, category), sums in added.groups
        ],
        chats=by_chat,
        total=CostSums(**_numbers(added.total)),
        limits={
            scope: limit
            for scope in _SCOPES
            if (limit := desk.settings.get(f"limits.{scope}", float)) is not None
        },
    )


def _numbers(sums: Sums) -> dict[str, Any]:
    all_unknown = sums.calls > 0 and sums.priceless == sums.calls
    return {
        **asdict(sums),
        "cost": None if all_unknown else sums.cost / DOLLAR,
        "open": sums.open / DOLLAR,
    }


def _day(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1000):%Y-%m-%d}"


@router.get("/index", tags=["files"])
async def index(service: TheService) -> IndexState:
    """What the search index holds, and how far it is."""
    status, progress = await service.vault.status(), service.index
    return IndexState(
        files=status.files,
        notes=status.notes,
        passages=status.passages,
        links=status.links,
        embedded=status.embedded,
        to_embed=status.to_embed,
        embedder=status.model,
        bytes=status.bytes,
        state=progress.state,
        done=progress.done,
        total=progress.total,
        message=progress.message,
        problems=[f"{one.path}: {one.reason}" for one in status.problems[:200]],
    )


# --- Notes to remember ----------------------------------------------------------------------------


@router.get("/memory", tags=["memory"])
async def notes(desk: TheDesk, q: Annotated[str | None, Query(max_length=1_000)] = None) -> Notes:
    """What the model was asked to remember in this folder, oldest first; with `q` what has words of it, best first."""
    found = await desk.store.notes(desk.workspace)
    if q is not None:
        found = [found[place] for place in matching([one.text for one in found], q)]
    return Notes(notes=[convert.note(one) for one in found])


@router.post("/memory", tags=["memory"], status_code=201, dependencies=[contributor])
async def remember(desk: TheDesk, body: NoteText) -> Note:
    """Remember something."""
    return convert.note(await notebook.remember(desk.store, desk.workspace, body.text))


@router.patch("/memory/{note}", tags=["memory"], dependencies=[contributor])
async def change_note(desk: TheDesk, note: str, body: NoteText) -> Note:
    """Say it in other words."""
    await _note(desk, note)
    try:
        await notebook.reword(desk.store, desk.workspace, note, body.text)
    except UsageError:
        raise not_found("note") from None
    return await _note(desk, note)


@router.delete("/memory/{note}", tags=["memory"], dependencies=[contributor])
async def forget(desk: TheDesk, note: str) -> Done:
    """Forget it."""
    await _note(desk, note)
    await desk.store.forget_note(note)
    return Done()


async def _note(desk: Desk, id: str) -> Note:
    for one in await desk.store.notes(desk.workspace):
        if one.id == id:
            return convert.note(one)
    raise not_found("note")
