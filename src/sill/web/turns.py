"""Asking, reading along, stopping; and what a question would take before it is asked."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, assert_never

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from ..adapters.vault.scan import read_inside
from ..app.build import App
from ..app.gather import Gathered
from ..app.running import MOST_READERS, Mark, Overloaded, Running
from ..app.service import Desk
from ..app.titles import question_in
from ..core.cost import worst_case
from ..engine.events import Event, Refused
from ..engine.money import at_most
from ..engine.prepare import Prepared, Question
from . import convert, telling
from .answers import Rejected, not_found
from .chats import info_of
from .depend import TheDesk, contributor
from .schemas.chats import (
    Ask,
    Asked,
    EditQuestion,
    FileToken,
    LinkState,
    Planned,
    PlanQuestion,
    Stopped,
)
from .stream import EventStream

router = APIRouter(prefix="/api/v1", tags=["turns"])
STOP_SECONDS = 5.0  # so long somebody waits for a turn to end
LOOK_SECONDS = 0.2


@router.post("/turns", status_code=202, dependencies=[contributor])
async def ask(desk: TheDesk, body: Ask) -> Asked:
    """Ask. The answer is written whether anybody reads its events or not."""
    if body.chat is not None:
        await info_of(desk, body.chat)
    app = await desk.app()
    gathered = await gather(app, body.text, body.files)
    return asked(await begin(desk, app, body.chat, gathered.question))


@router.post("/turns/{turn}/regenerate", status_code=202, dependencies=[contributor])
async def regenerate(desk: TheDesk, turn: str) -> Asked:
    """Ask the turn's question again, beside it; the chat goes on from the new answer."""
    return await _instead(desk, turn, None, None)


@router.post("/turns/{turn}/edit", status_code=202, dependencies=[contributor])
async def edit_question(desk: TheDesk, turn: str, body: EditQuestion) -> Asked:
    """Ask something else where the turn's question stood; what was there stays as a branch."""
    return await _instead(desk, turn, body.text, body.files)


async def _instead(desk: Desk, turn: str, text: str | None, files: Sequence[str] | None) -> Asked:
    found = await desk.store.turn(turn)
    if found is None:
        raise not_found("turn")
    app = await desk.app()
    if files is None:
        rows = convert.stored_references(found.references)
        named = [one.path for one in rows if one.path is not None and one.origin == "file"]
        files = [path for path in named if await _is_inside(app, path)]
    gathered = await gather(app, question_in(found) if text is None else text, files)
    question = replace(gathered.question, instead_of=found.id)
    return asked(await begin(desk, app, found.chat, question))


def asked(running: Running) -> Asked:
    turn = running.ids[-1]
    return Asked(turn=turn, chat=running.chat, events=f"/api/v1/turns/{turn}/events")


async def gather(app: App, text: str, files: Sequence[str]) -> Gathered:
    """The question with its files; over HTTP only files of the folder can be named."""
    for name in files:
        if not await _is_inside(app, name):
            raise Rejected(422, "file_refused", f"{name}: there is no such file in the folder")
    gathered = await app.gather(text, files)
    if gathered.refused:
        raise gathered.refused[0]
    return gathered


async def _is_inside(app: App, name: str) -> bool:
    try:
        return await asyncio.to_thread(read_inside, app.folder, name, 1) is not None
    except ValueError:
        return False


async def begin(
    desk: Desk,
    app: App,
    chat: str | None,
    question: Question,
    refusing: Callable[[Refused], Exception] | None = None,
) -> Running:
    """The turn on its way; a refusal is an answer of its own."""

    def events(stop: asyncio.Event) -> AsyncGenerator[Event, None]:
        return app.ask(chat, question, stop)

    started = await desk.turns.start(desk.owner, events)
    if isinstance(started, Refused):
        raise (refusing or refused)(started)
    return started


def refused(event: Refused) -> Exception:
    if event.money is not None:
        return Rejected(402, "over_limit", event.reason)
    if event.needed == 0 and event.available == 0:
        return Rejected(503, "upstream", event.reason, retry_after=5)
    needed, available = event.needed, event.available
    return Rejected(422, "over_budget", event.reason, needed=needed, available=available)


# --- Reading along --------------------------------------------------------------------------------


@router.get("/turns/{turn}/events", status_code=200, response_class=EventStream)
async def events(
    desk: TheDesk,
    turn: str,
    after: Annotated[str, Query(max_length=40)] = "",
    last_event_id: Annotated[str, Header(max_length=40)] = "",
) -> Response:
    """The turn's events from the beginning, or after the one with this id; also of a turn long ended."""
    mark = Mark.read(after or last_event_id or "0")
    if mark is None:
        raise Rejected(422, "invalid", "after: not an id of an event")
    if (running := desk.turns.find(desk.owner, turn)) is not None:
        if running.readers >= MOST_READERS:
            raise Overloaded("too many read along with this answer already")
        return EventStream(telling.followed(desk, running, mark))
    found = await desk.store.turn(turn)
    if found is None:
        raise not_found("turn")
    return EventStream(telling.stored(desk, found, mark))


@router.post("/turns/{turn}/stop", dependencies=[contributor], responses={202: {"model": Stopped}})
async def stop(desk: TheDesk, turn: str, response: Response) -> Stopped:
    """End the answer; what came is kept. Answers when it has ended, or 202 when that takes longer."""
    running = desk.turns.find(desk.owner, turn)
    found = await desk.store.turn(turn) if running is None else None
    if running is None and found is None:
        raise not_found("turn")
    if (running is not None and running.is_over) or (found is not None and found.status != "open"):
        return Stopped(stopped=False, state="ended")
    if running is not None:
        running.stop.set()
        await _over(running)
        turn = running.ids[-1]
    status = await _status_after(desk, turn)
    if status == "open":
        response.status_code = 202
        return Stopped(stopped=False, state="stopping")
    was_stopped = status == "cancelled"
    return Stopped(stopped=was_stopped, state="stopped" if was_stopped else "ended")


async def _over(running: Running) -> None:
    over = asyncio.Event()
    running.when_over(over.set)
    with suppress(TimeoutError):
        await asyncio.wait_for(over.wait(), STOP_SECONDS)


async def _status_after(desk: Desk, turn: str) -> str:
    """The turn's status once it has ended, in whoever's hands it is, or after a while."""
    until = asyncio.get_running_loop().time() + STOP_SECONDS
    while True:
        found = await desk.store.turn(turn)
        if found is None:
            return ""  # taken back
        if found.status != "open" or asyncio.get_running_loop().time() > until:
            return found.status
        await asyncio.sleep(LOOK_SECONDS)


# --- Before sending -------------------------------------------------------------------------------


@router.post("/plan")
async def plan(desk: TheDesk, body: PlanQuestion) -> Planned:
    """What a question would take, whether it fits and what it would cost; nothing is sent or stored."""
    if body.chat is not None:
        await info_of(desk, body.chat)
    app = await desk.app()
    files = [name for name in body.files if await _is_inside(app, name)]
    gathered = await app.gather(body.text, files)
    ready = await app.plan(body.chat, gathered.question)
    problems = [str(one) for one in gathered.refused]
    problems += [f"{name}: there is no such file" for name in body.files if name not in files]
    links = [
        LinkState(link=one.link, path=one.path, note=one.note)
        for one in gathered.question.references
    ]
    match ready:
        case Refused():
            return Planned(
                fits=False,
                reason=ready.reason,
                needed=ready.needed,
                available=ready.available,
                links=links,
                refused=problems,
                model=app.model_name,
            )
        case Prepared():
            return _planned(app, ready, links, problems)
        case never:
            assert_never(never)


def _planned(app: App, ready: Prepared, links: list[LinkState], problems: list[str]) -> Planned:
    certificate, price = ready.certificate, app.chat.till.price if app.chat.till else None
    prompt = at_most(certificate, app.chat.call.shortfall)
    amounts: list[int | None] = [None, None]
    if price is not None:
        reply = ready.request.max_tokens or 0
        amounts = [worst_case(prompt, 0, price), worst_case(prompt, reply, price)]
    return Planned(
        fits=True,
        needed=certificate.predicted,
        available=ready.plan.budget.room,
        certificate=convert.counted(certificate),
        plan=convert.plan_view(ready.plan),
        files=[
            FileToken(path=item.name, fate=item.fate, tokens=item.new, reason=item.reason)
            for item in ready.plan.items
            if item.kind == "file"
        ],
        links=links,
        refused=problems,
        cost_prompt=convert.dollars(amounts[0]),
        cost_most=convert.dollars(amounts[1]),
        model=app.model_name,
    )
