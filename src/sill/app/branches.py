"""Branches of a chat, and its title. A chat is a tree of turns; what two branches share is stored once.

    await tree(store, chat)                     -> tuple[Node, ...]   every turn, and which stand beside each other
    await fork(store, chat, turn)               -> None               the next question continues this turn
    await switch(store, chat, turn)             -> str                go to the end of the branch through this turn
    regenerate(app, turn, names=())             -> events             ask a turn's question again, beside it
    edit_question(app, turn, text, names=())    -> events             ask something else in its place
    await name_chat(app, chat, by="extract")    -> str                give a chat without a title one

Nothing is ever overwritten: the turn that another one was asked instead of stays in the tree, and ``switch``
goes back to it. A question that is refused or fails leaves the chat where it was. ``names`` are the files of
the chat, as for ``App.gather``; ``turn`` and ``chat`` are whole ids.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from ..core.branches import Node, latest_after
from ..core.branches import tree as arranged
from ..engine.events import Event
from ..errors import UsageError
from ..ports import Store, StoredTurn
from .build import App
from .titles import name_chat, question_in

__all__ = ["edit_question", "fork", "name_chat", "regenerate", "switch", "tree"]


async def tree(store: Store, chat: str) -> tuple[Node, ...]:
    """Every turn of the chat in the order in which they were begun, with its place among the others."""
    turns = await store.turns(chat)
    head = (await store.history(chat)).turns[-1:]
    return arranged({turn.id: turn.parent for turn in turns}, head[0].id if head else None)


async def fork(store: Store, chat: str, turn: str | None) -> None:
    """Let the next question continue this turn (None: begin anew); what came after it stays as a branch."""
    await store.branch(chat, turn)


async def switch(store: Store, chat: str, turn: str) -> str:
    """Go to the end of the branch through ``turn``; the id of the turn that the next question continues."""
    turns = await store.turns(chat)
    if turn not in {one.id for one in turns}:
        raise UsageError(f"the chat has no turn {turn}")
    usable = [one.id for one in turns if one.status == "complete" or _is_continued(one, turns)]
    end = latest_after({one.id: one.parent for one in turns}, turn, usable)
    await store.branch(chat, end)
    return end


async def regenerate(app: App, turn: str, names: Sequence[str] = ()) -> AsyncGenerator[Event, None]:
    """Ask the turn's question again, with the files as they are now; the chat goes on from the new answer."""
    found = await _turn(app.store, turn)
    async with aclosing(_instead(app, found, question_in(found), names)) as events:
        async for event in events:
            yield event


async def edit_question(
    app: App, turn: str, text: str, names: Sequence[str] = ()
) -> AsyncGenerator[Event, None]:
    """Ask ``text`` where the turn's question stood; the chat goes on from its answer."""
    async with aclosing(_instead(app, await _turn(app.store, turn), text, names)) as events:
        async for event in events:
            yield event


async def _instead(
    app: App, turn: StoredTurn, text: str, names: Sequence[str]
) -> AsyncGenerator[Event, None]:
    gathered = await app.gather(text, names)
    question = replace(gathered.question, instead_of=turn.id)
    async with aclosing(app.ask(turn.chat, question)) as events:
        async for event in events:
            yield event


async def _turn(store: Store, turn: str) -> StoredTurn:
    found = await store.turn(turn)
    if found is None:
        raise UsageError(f"there is no turn {turn}", hint="`sill chats show` lists a chat's turns")
    return found


def _is_continued(turn: StoredTurn, turns: Sequence[StoredTurn]) -> bool:
    """A cut answer that was kept: something was asked after it."""
    return any(one.parent == turn.id for one in turns)
