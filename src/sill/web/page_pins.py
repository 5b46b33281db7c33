"""What is to stay in a chat's window: pinned turns and files."""

from typing import Annotated, Self

from fastapi import APIRouter
from pydantic import Field, model_validator

from ..app.service import Desk
from ..records import Pin
from .answers import not_found
from .depend import TheDesk, contributor
from .schemas.common import Wire

router = APIRouter(prefix="/api/v1", tags=["pins"])
Name = Annotated[str, Field(max_length=1024)]


class Pinned(Wire):
    """A turn by its id, or a file by its path."""

    turn: Name = ""
    path: Name = ""


class Pins(Wire):
    pins: list[Pinned]


class ChangePin(Pinned):
    pinned: bool

    @model_validator(mode="after")
    def _names_one_thing(self) -> Self:
        if bool(self.turn) == bool(self.path):
            raise ValueError("name a turn or a path, and not both")
        return self


@router.get("/chats/{chat}/pins")
async def pins(desk: TheDesk, chat: str) -> Pins:
    """What is pinned in the chat, the first first."""
    await _known(desk, chat)
    found = await desk.store.pins(chat)
    return Pins(pins=[Pinned(turn=one.turn, path=one.path) for one in found])


@router.post("/chats/{chat}/pins", dependencies=[contributor])
async def change(desk: TheDesk, chat: str, body: ChangePin) -> Pins:
    """Pin or unpin one thing; what is pinned then."""
    await _known(desk, chat)
    pin = Pin(turn=body.turn, path=body.path)
    if body.turn:
        turn = await desk.store.turn(body.turn)
        if turn is None or turn.chat != chat:
            raise not_found("turn of this chat")
    if body.pinned:
        await desk.store.pin(chat, pin)
    else:
        await desk.store.unpin(chat, pin)
    return await pins(desk, chat)


async def _known(desk: Desk, chat: str) -> None:
    if await desk.store.chat(chat) is None:
        raise not_found("chat")
