"""Chats and their turns: listing, reading, naming, branching, taking them elsewhere."""

from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import Response

from ..adapters.store.export import to_json
from ..adapters.store.markdown import to_markdown
from ..app import branches
from ..app.service import Desk
from ..engine.money import paid
from ..ports import StoredTurn
from ..records import ChatInfo
from ..records import Pin as StoredPin
from . import convert
from .answers import not_found
from .depend import TheDesk, contributor
from .schemas.chats import (
    Branch,
    ChangeChat,
    Chat,
    Chats,
    FoundTurn,
    FoundTurns,
    NewChat,
    Pin,
    Pins,
    TurnDetail,
    Turns,
)
from .schemas.common import Done, PlanView

router = APIRouter(prefix="/api/v1", tags=["chats"])


@router.get("/chats")
async def chats(desk: TheDesk, archived: bool = False) -> Chats:
    """The folder's chats, pinned ones first, then the last used."""
    busy = desk.turns.busy_chats(desk.owner)
    found = await desk.store.chats(desk.workspace)
    return Chats(
        chats=[convert.chat(one, one.id in busy) for one in found if one.archived == archived]
    )


@router.post("/chats", status_code=201, dependencies=[contributor])
async def new_chat(desk: TheDesk, body: NewChat) -> Chat:
    """An empty chat."""
    return await _shown(desk, await desk.store.new_chat(desk.workspace, body.title))


@router.get("/chats/{chat}")
async def read_chat(desk: TheDesk, chat: str) -> Chat:
    return await _shown(desk, chat)


@router.patch("/chats/{chat}", dependencies=[contributor])
async def change_chat(desk: TheDesk, chat: str, body: ChangeChat) -> Chat:
    """Name it, pin it, put it away."""
    await info_of(desk, chat)
    await desk.store.change_chat(chat, title=body.title, pinned=body.pinned, archived=body.archived)
    return await _shown(desk, chat)


@router.delete("/chats/{chat}", dependencies=[contributor])
async def delete_chat(desk: TheDesk, chat: str) -> Done:
    """The chat and every text that no other chat uses."""
    await info_of(desk, chat)
    await desk.store.delete_chat(chat)
    return Done()


@router.get("/chats/{chat}/turns")
async def turns(
    desk: TheDesk, chat: str, limit: Annotated[int, Query(ge=1, le=1000)] = 200
) -> Turns:
    """The last turns, of every branch, oldest first."""
    await info_of(desk, chat)
    found = await desk.store.turns(chat, limit)
    path, head = await _path(desk, chat, found)
    made: dict[str, list[str]] = {}
    for one in await desk.store.proposals(chat):
        made.setdefault(one.turn, []).append(one.id)
    return Turns(
        turns=[convert.turn(one, one.id in path, made.get(one.id, [])) for one in found],
        head=head,
    )


async def _path(
    desk: Desk, chat: str, turns: list[StoredTurn]
) -> tuple[frozenset[str], str | None]:
    """The turns the chat leads through, and the one it goes on from; one in flight belongs to it."""
    last = (await desk.store.history(chat)).turns[-1:]
    head = last[0].id if last else None
    parents = {turn.id: turn.parent for turn in turns}
    path: set[str] = set()
    at = head
    while at is not None and at in parents:
        path.add(at)
        at = parents[at]
    newest = turns[-1] if turns else None
    # A whole turn that is not on the way to the head is a branch that was left.
    is_cut = newest is not None and newest.status != "complete"
    if newest is not None and is_cut and (newest.parent == head or newest.parent in path):
        path.add(newest.id)
    return frozenset(path), head


@router.get("/chats/{chat}/context")
async def context(desk: TheDesk, chat: str) -> PlanView:
    """The ledger of the chat's last request: every item, its tokens, its fate and why."""
    await info_of(desk, chat)
    for turn in reversed(await desk.store.turns(chat, 5)):
        view = convert.stored_plan(turn.plan)
        if view is not None:
            return view
    raise not_found("request of this chat")


@router.get(
    "/chats/{chat}/export",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {}, "application/json": {}}}},
)
async def export(
    desk: TheDesk, chat: str, format: Literal["markdown", "json"] = "markdown"
) -> Response:
    """The whole chat as a file: to read, or to import again."""
    info = await info_of(desk, chat)
    copy = await desk.store.copy_chat(chat)
    if format == "json":
        body, kind, suffix = to_json(copy), "application/json", "json"
    else:
        body, kind, suffix = to_markdown(copy), "text/markdown; charset=utf-8", "md"
    name = quote(f"{(info.title or info.id)[:80]}.{suffix}", safe="")
    disposition = f"attachment; filename*=UTF-8''{name}"
    return Response(body.encode(errors="replace"), 200, {"content-disposition": disposition}, kind)


@router.post("/chats/{chat}/branch", dependencies=[contributor])
async def branch(desk: TheDesk, chat: str, body: Branch) -> Turns:
    """Go to the end of the branch through a turn; null begins anew. Nothing is lost."""
    await info_of(desk, chat)
    if body.turn is None:
        await branches.fork(desk.store, chat, None)
    else:
        await branches.switch(desk.store, chat, await _turn_of(desk, chat, body.turn))
    return await turns(desk, chat)


@router.post("/chats/{chat}/fork", dependencies=[contributor])
async def fork(desk: TheDesk, chat: str, body: Branch) -> Turns:
    """Let the next question continue exactly this turn."""
    await info_of(desk, chat)
    at = None if body.turn is None else await _turn_of(desk, chat, body.turn)
    await branches.fork(desk.store, chat, at)
    return await turns(desk, chat)


# --- What stays in the window ---------------------------------------------------------------------


@router.get("/chats/{chat}/pins")
async def pins(desk: TheDesk, chat: str) -> Pins:
    """What stays in the chat's window when others leave."""
    await info_of(desk, chat)
    found = await desk.store.pins(chat)
    return Pins(pins=[Pin(turn=one.turn or None, path=one.path or None) for one in found])


@router.post("/chats/{chat}/pins", dependencies=[contributor])
async def pin(desk: TheDesk, chat: str, body: Pin) -> Pins:
    """Keep a turn or a file in the window."""
    await info_of(desk, chat)
    if body.turn is not None:
        await _turn_of(desk, chat, body.turn)
    await desk.store.pin(chat, StoredPin(body.turn or "", body.path or ""))
    return await pins(desk, chat)


@router.post("/chats/{chat}/unpin", dependencies=[contributor])
async def unpin(desk: TheDesk, chat: str, body: Pin) -> Pins:
    """Let it go with the others again."""
    await info_of(desk, chat)
    await desk.store.unpin(chat, StoredPin(body.turn or "", body.path or ""))
    return await pins(desk, chat)


async def _turn_of(desk: Desk, chat: str, turn: str) -> str:
    found = await desk.store.turn(turn)
    if found is None or found.chat != chat:
        raise not_found("turn of this chat")
    return turn


@router.get("/search/chats")
async def search_chats(
    desk: TheDesk,
    q: Annotated[str, Query(min_length=1, max_length=400)],
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> FoundTurns:
    """Turns in which all the words were said; words in double quotes stand together."""
    found = await desk.store.search(q, desk.workspace, limit)
    return FoundTurns(
        results=[
            FoundTurn(
                chat=one.chat,
                title=one.title,
                turn=one.turn,
                started_ms=one.started_ms,
                excerpt=one.excerpt,
            )
            for one in found
        ]
    )


@router.get("/turns/{turn}", tags=["turns"])
async def read_turn(desk: TheDesk, turn: str) -> TurnDetail:
    """One turn with everything that was sent for it; hidden messages are marked."""
    found = await stored_turn(desk, turn)
    made = [one.id for one in await desk.store.proposals(found.chat) if one.turn == turn]
    way, _ = await _path(desk, found.chat, await desk.store.turns(found.chat))
    return TurnDetail(
        **convert.turn_fields(found, found.id in way, made),
        messages=[convert.message(one) for one in found.messages],
        plan=convert.stored_plan(found.plan),
        requests=len(await desk.store.requests(turn)),
        cost=convert.dollars(paid(await desk.store.attempts(turn=turn))),
    )


@router.get(
    "/turns/{turn}/request",
    tags=["turns"],
    response_class=Response,
    responses={200: {"content": {"application/json": {}}}},
)
async def read_request(
    desk: TheDesk, turn: str, number: Annotated[int, Query(ge=1, le=1000)] = 1
) -> Response:
    """The exact bytes of a request that was sent for the turn, from 1."""
    await stored_turn(desk, turn)
    requests = await desk.store.requests(turn)
    if number > len(requests):
        raise not_found("request of this turn")
    return Response(requests[number - 1].request, media_type="application/json")


# --- Finding what is meant ------------------------------------------------------------------------


async def info_of(desk: Desk, chat: str) -> ChatInfo:
    """The chat, if it is one of the folder's; a chat of an editor's tool has its own routes."""
    info = await desk.store.chat(chat)
    if info is None or info.workspace != desk.workspace:
        raise not_found("chat")
    return info


async def stored_turn(desk: Desk, turn: str) -> StoredTurn:
    found = await desk.store.turn(turn)
    if found is None:
        raise not_found("turn")
    return found


async def _shown(desk: Desk, chat: str) -> Chat:
    return convert.chat(await info_of(desk, chat), chat in desk.turns.busy_chats(desk.owner))
